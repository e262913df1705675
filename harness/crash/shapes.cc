// SPDX-License-Identifier: Apache-2.0
#include "harness/crash/shapes.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/text.h"
#include "harness/crash/walk_text.h"
#include "harness/request/scene_table.h"

namespace walkhammer {
namespace {

constexpr int32_t kFp = kForgedSp + 0x80;
constexpr int32_t kCallerFp = kForgedSp + 0x180;
constexpr int32_t kOldestFp = kForgedSp + 0x280;
constexpr int32_t kFakeMethod = kForgedSp + 0x400;  // slot of a Method that lies on the stack

struct ShapeInput {
  const BadValue* bad;  // null for a shape that has no bad value
  int feature;
  WalkText* walk;
};

InterpretedFrame SoundFrame(int32_t fp, int32_t caller) {
  return {fp, caller, KnownMethod(), KnownBytecodes(), "", "", CallCodelet()};
}

// Three interpreted frames, the youngest on top.
void WriteSoundFrames(const ShapeInput& in) {
  in.walk->Set("state", "in_Java");
  in.walk->Set("pc", CallCodelet());
  in.walk->Set("sp", StackValue(LowestSlot(kFp)));
  in.walk->Set("fp", StackValue(kFp));
  WriteInterpreted(SoundFrame(kFp, kCallerFp), in.feature, *in.walk);
  WriteInterpreted(SoundFrame(kCallerFp, kOldestFp), in.feature, *in.walk);
  WriteInterpreted(SoundFrame(kOldestFp, kOldestFp + 0x100), in.feature, *in.walk);
}

void SetAnchor(WalkText& walk, const std::string& sp, const std::string& pc,
               const std::string& fp) {
  walk.Set("anchor", "custom");
  walk.Set("anchor-sp", sp);
  walk.Set("anchor-pc", pc);
  walk.Set("anchor-fp", fp);
}

void AnchorFp(const ShapeInput& in) {
  WriteSoundFrames(in);
  in.walk->Set("state", "in_native");
  SetAnchor(*in.walk, StackValue(kForgedSp), CallCodelet(), in.bad->value);
}

void AnchorSp(const ShapeInput& in) {
  WriteSoundFrames(in);
  SetAnchor(*in.walk, in.bad->value, KnownCode(0x20), StackValue(kFp));
}

void AnchorOfCompiled(const ShapeInput& in) {
  WriteSoundFrames(in);
  in.walk->Set("state", "in_native");
  SetAnchor(*in.walk, StackValue(kForgedSp), KnownCode(0x40), in.bad->value);
}

void RegisterFp(const ShapeInput& in) {
  WriteSoundFrames(in);
  in.walk->Set("fp", in.bad->value);
}

void RegisterSp(const ShapeInput& in) {
  WriteSoundFrames(in);
  in.walk->Set("pc", KnownCode(0x20));
  in.walk->Set("sp", in.bad->value);
}

void Link(const ShapeInput& in) {
  WriteSoundFrames(in);
  in.walk->Word(kFp, in.bad->value);
}

void OlderLink(const ShapeInput& in) {
  WriteSoundFrames(in);
  in.walk->Word(kCallerFp, in.bad->value);
}

void SenderSp(const ShapeInput& in) {
  WriteSoundFrames(in);
  in.walk->Word(kFp - 8, in.bad->value);
}

void MethodWord(const ShapeInput& in) {
  WriteSoundFrames(in);
  in.walk->Word(MethodSlot(kFp), in.bad->value);
}

void OlderMethodWord(const ShapeInput& in) {
  WriteSoundFrames(in);
  in.walk->Word(MethodSlot(kCallerFp), in.bad->value);
}

void MethodOfAnchor(const ShapeInput& in) {
  WriteSoundFrames(in);
  in.walk->Set("state", "in_native");
  SetAnchor(*in.walk, StackValue(LowestSlot(kFp)), CallCodelet(), StackValue(kFp));
  in.walk->Word(MethodSlot(kFp), in.bad->value);
}

// The words of a Method: vtable, ConstMethod*, MethodData*, ..; each leads to the bad value.
void MethodOnStack(const ShapeInput& in) {
  WriteSoundFrames(in);
  in.walk->Word(MethodSlot(kFp), StackValue(kFakeMethod));
  for (int32_t i = 0; i < 8; i++) in.walk->Word(kFakeMethod + 8 * i, in.bad->value);
}

void Bcp(const ShapeInput& in) {
  WriteSoundFrames(in);
  const int32_t mirror_bytes = in.feature < 9 ? 0 : 8;
  in.walk->Word(kFp - 0x38 - mirror_bytes, in.bad->value);
}

void CompiledReturn(const ShapeInput& in) {
  WriteSoundFrames(in);
  in.walk->Set("pc", KnownCode(0x20));
  in.walk->Set("sp", StackValue(kForgedSp));
  for (int32_t i = 0; i < 12; i += 2) {
    in.walk->Word(kForgedSp + 8 * i, in.bad->value);
    in.walk->Word(kForgedSp + 8 * i + 8, CallCodelet());
  }
}

void ReturnIntoStub(const ShapeInput& in) {
  WriteSoundFrames(in);
  in.walk->Word(kFp + 8, NamedValue("stub", "call_stub", 0x60));
  in.walk->Word(kFp, in.bad->value);
}

void Zombie(const ShapeInput& in) {
  in.walk->Set("scene", "zombie-code");
  in.walk->Set("state", "in_Java");
  in.walk->Set("pc", NamedValue("nmethod", "zombie", 0x10));
}

void ReturnBarrier(const ShapeInput& in) {
  WriteSoundFrames(in);
  in.walk->Word(kFp + 8, NamedValue("stub", "cont_returnBarrier"));
  in.walk->Word(kFp, in.bad->value);
}

void Sound(const ShapeInput& in) { WriteSoundFrames(in); }

constexpr char kAnyValue[] = "any";
constexpr char kNoValue[] = "none";
constexpr char kMethods[] = "methods";  // values near a Method, too

struct Shape {
  const char* what;
  // Comparable functions that run when such a frame is met, separated by '|': the crash's function
  // begins with one of them.
  const char* functions;
  const char* values;
  int first_feature, last_feature;
  void (*write)(const ShapeInput&);
};

constexpr Shape kShapes[] = {
    {"the anchor of a thread in native code leads to an interpreted frame with a bad fp",
     "frame::interpreter_frame_|frame::sender|forte_fill|vframeStream|JavaThread::pd_get_top",
     kAnyValue, 8, 99, AnchorFp},
    {"the anchor's sp is bad and its pc is unknown",
     "JavaThread::pd_get_top|frame::sender|frame::safe_for_sender|forte_fill", kAnyValue, 8, 99,
     AnchorSp},
    {"the anchor of a thread in native code leads to compiled code with a bad fp",
     "frame::sender|forte_fill|vframeStream|PcDesc|CodeBlob", kAnyValue, 8, 99, AnchorOfCompiled},
    {"an interpreted frame on top, whose fp is bad",
     "frame::is_interpreted|frame::safe_for_sender|frame::interpreter_frame_|JavaThread::pd_get_"
     "top",
     kAnyValue, 8, 99, RegisterFp},
    {"compiled code on top, whose sp is bad",
     "frame::safe_for_sender|frame::sender|JavaThread::pd_get_top|PcDesc|CodeCache", kAnyValue, 8,
     99, RegisterSp},
    {"an interpreted frame whose link to its caller is bad",
     "frame::is_interpreted|frame::interpreter_frame_|frame::sender|frame::safe_for_sender",
     kAnyValue, 8, 99, Link},
    {"the caller's link is bad",
     "frame::is_interpreted|frame::interpreter_frame_|frame::sender|vframeStream", kAnyValue, 8, 99,
     OlderLink},
    {"an interpreted frame whose sender_sp is bad", "frame::sender|frame::safe_for_sender",
     kAnyValue, 8, 99, SenderSp},
    {"an interpreted frame whose Method is bad",
     "Method::|ConstMethod|InstanceKlass::|forte_fill|frame::is_interpreted|is_decipherable|"
     "vframeStream|Metaspace|os::is_readable",
     kMethods, 8, 99, MethodWord},
    {"the caller's Method is bad", "Method::|ConstMethod|InstanceKlass::|forte_fill|vframeStream",
     kMethods, 8, 99, OlderMethodWord},
    {"the anchor of a thread in native code leads to an interpreted frame whose Method is bad",
     "Method::|ConstMethod|InstanceKlass::|forte_fill|frame::is_interpreted|vframeStream", kMethods,
     8, 99, MethodOfAnchor},
    {"an interpreted frame whose Method lies on the stack",
     "Method::|ConstMethod|InstanceKlass::|frame::is_interpreted", kAnyValue, 8, 99, MethodOnStack},
    {"an interpreted frame whose bytecode pointer is bad",
     "Method::bcp_from|Method::validate_bci|Method::bci_from|frame::interpreter_frame_bc",
     kAnyValue, 8, 99, Bcp},
    {"compiled code whose caller is interpreted and has a bad fp",
     "frame::sender|frame::is_interpreted|frame::interpreter_frame_|PcDesc|CodeBlob", kAnyValue, 8,
     99, CompiledReturn},
    {"a return into the stub that calls Java, with a bad fp",
     "frame::entry_frame|frame::sender_for_entry|frame::safe_for_sender|JavaCallWrapper", kAnyValue,
     8, 99, ReturnIntoStub},
    {"a return through the barrier of a virtual thread, with a bad fp",
     "Continuation|frame::sender|vframeStream", kAnyValue, 21, 99, ReturnBarrier},
    {"a pc in code that is about to be freed", "CodeCache::find_blob|CodeHeap|nmethod::", kNoValue,
     9, 19, Zombie},
    {"three sound interpreted frames", "", kNoValue, 8, 99, Sound},
};

bool FitsOne(const char* prefixes, const std::string& function) {
  for (const std::string& prefix : Split(prefixes, '|'))
    if (!function.empty() && function.starts_with(prefix)) return true;
  return false;
}

int FitOf(const Shape& shape, const CrashTarget& target) {
  if (FitsOne(shape.functions, target.function)) return 60;
  for (const std::string& caller : target.callers)
    if (FitsOne(shape.functions, caller)) return 40;
  return 15;
}

// Values that look like a Method to a careless walker: other words of class metadata.
std::vector<BadValue> MethodValues(std::vector<BadValue> values) {
  constexpr int64_t kMoves[] = {0x8,     0x10,   0x58,    -0x338,  0x400,    -0x400,  0x1000,
                                -0x1000, 0x8000, -0x8000, 0x10000, -0x10000, 0x80000, -0x80000};
  for (const int64_t move : kMoves)
    values.push_back({KnownMethod(move), "class metadata that is not a Method"});
  values.push_back({"metaspace+0x1c", "class metadata, not aligned"});
  for (const int64_t at : {0x100, 0x800, 0x2000, 0x6000})
    values.push_back({fmt::format("metaspace+{:#x}", at), "class metadata that is not a Method"});
  return values;
}

}  // namespace

std::vector<BadValue> BadValuesOf(const CrashReport& report) {
  constexpr uint64_t kSmall = 1 << 16;
  constexpr uint64_t kEndOfUser = 1ULL << 47;
  std::vector<BadValue> values;
  const CrashSignal& signal = report.signal;
  const bool is_general = signal.code_number.value == 128 || signal.code.value == "SI_KERNEL";
  if (signal.address.known() || signal.address_computed) {
    const uint64_t address = signal.address.value;
    const std::string at =
        fmt::format("line {}: the fault's address is {:#x}", signal.address.line, address);
    if (address < kSmall && !is_general) {
      values.push_back({"0x0", at + ", a field behind a null pointer", Confidence::kLikely});
      values.push_back({"0x8", at});
    } else if (address >= kEndOfUser) {
      values.push_back({fmt::format("{:#x}", address), at, Confidence::kLikely});
    } else if (signal.code.value == "SEGV_ACCERR") {
      values.push_back({"no-access", at + ", mapped without access", Confidence::kLikely});
      values.push_back({"stack-limit", at + ", perhaps a guard page"});
    } else if (!is_general) {
      values.push_back({"unmapped", at + ", where nothing is mapped", Confidence::kLikely});
    }
  }
  const auto add = [&](const char* value, const char* why) {
    for (const BadValue& known : values)
      if (known.value == value) return;
    values.push_back({value, why});
  };
  if (is_general) add("0xabababababababab", "the kernel tells no address: it was not canonical");
  add("unmapped", "nothing is mapped there");
  add("no-access", "a page without access");
  add("0x0", "a null pointer");
  add("stack-limit", "the guard pages of the stack");
  return values;
}

std::vector<ShapedWalk> ShapesFor(const CrashReport& report, const CrashTarget& target,
                                  const std::string& walker) {
  constexpr int kDefaultFeature = 17;
  const int feature =
      report.version.feature.known() ? report.version.feature.value : kDefaultFeature;
  const std::vector<BadValue> any = BadValuesOf(report);
  const std::vector<BadValue> methods = MethodValues(any);
  static const std::vector<BadValue> none(1);
  std::vector<ShapedWalk> all;
  for (const Shape& shape : kShapes) {
    if (feature < shape.first_feature || feature > shape.last_feature) continue;
    const bool has_none = shape.values == kNoValue;
    const std::vector<BadValue>& values = has_none                   ? none
                                          : shape.values == kMethods ? methods
                                                                     : any;
    const int fit = FitOf(shape, target);
    for (size_t i = 0; i < values.size(); i++) {
      ShapedWalk shaped{shape.what, fit, WalkText(walker, kSampledScene)};
      shape.write({has_none ? nullptr : &values[i], feature, &shaped.walk});
      shaped.walk.Note("shape", Confidence::kGuess, shape.what);
      if (!has_none) {
        shaped.walk.Note("bad value " + values[i].value, values[i].confidence, values[i].why);
        shaped.what += ": " + values[i].value;
        shaped.fit -= std::min(10, static_cast<int>(i));
      }
      all.push_back(std::move(shaped));
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const ShapedWalk& a, const ShapedWalk& b) { return a.fit > b.fit; });
  return all;
}

}  // namespace walkhammer
