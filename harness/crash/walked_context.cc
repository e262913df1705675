// SPDX-License-Identifier: Apache-2.0
#include "harness/crash/walked_context.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/crash/forged_frames.h"
#include "harness/request/scene_table.h"

namespace walkhammer {
namespace {

constexpr size_t kMostFrames = 24;  // walkers that crash do so early
constexpr int32_t kInterpretedBytes = 0xc0;
constexpr int32_t kFpInInterpreted = 0x80;  // from the frame's lowest slot
constexpr int kDefaultFeature = 17;

// Bytes of a compiled frame with return address, which no report tells; usual ones.
constexpr int32_t kFrameBytes[] = {0x30, 0x20, 0x50};

std::string Line(const CrashFrame& frame) {
  return fmt::format("line {}: {}", frame.line, frame.text);
}

// The pc of a frame, as a value; an empty text if the report does not name its code.
std::string PcOf(const CrashFrame& frame, Confidence& confidence) {
  constexpr uint64_t kSomewhere = 0x20;
  confidence = frame.symbol_offset ? Confidence::kExact : Confidence::kGuess;
  const uint64_t offset = frame.symbol_offset.value_or(kSomewhere);
  switch (frame.kind) {
    case CrashFrameKind::kCompiled:
      return NamedValue("nmethod", frame.symbol, offset);
    case CrashFrameKind::kInterpreted:
      confidence = Confidence::kGuess;
      return CallCodelet();
    case CrashFrameKind::kStub: {
      std::string name = frame.symbol;
      if (name.starts_with("StubRoutines::")) name.erase(0, 14);
      return NamedValue("stub", name, offset);
    }
    case CrashFrameKind::kNative:
    case CrashFrameKind::kVm:
      if (frame.module.empty()) return "";
      confidence = frame.module_offset ? Confidence::kExact : Confidence::kGuess;
      return NamedValue("library", frame.module, frame.module_offset.value_or(kSomewhere));
    default:
      return "";
  }
}

bool IsInterpreted(const CrashFrame& frame) { return frame.kind == CrashFrameKind::kInterpreted; }

int32_t BytesOf(const CrashFrame& frame, int32_t compiled) {
  return IsInterpreted(frame) ? kInterpretedBytes : compiled;
}

// Slot to which the frame's fp points, if the frame begins at `low`: compiled frames end in link
// and return address.
int32_t FpOf(const CrashFrame& frame, int32_t low, int32_t compiled) {
  return low + (IsInterpreted(frame) ? kFpInInterpreted : compiled - 0x10);
}

void WriteFrame(const CrashFrame& frame, int32_t fp, int32_t caller_fp,
                const std::string& caller_pc, int feature, WalkText& walk) {
  if (IsInterpreted(frame)) {
    InterpretedFrame forged{fp, caller_fp, NamedValue("method", frame.symbol), "", "",
                            "", caller_pc};
    forged.bcp = NamedValue("bytecodes", frame.symbol,
                            static_cast<uint64_t>(std::max(frame.bci.value_or(0), 0)));
    WriteInterpreted(forged, feature, walk);
    return;
  }
  walk.Word(fp, StackValue(caller_fp));
  walk.Word(fp + 8, caller_pc);
}

// Writes the frames, the youngest at kForgedSp, and sets pc, sp and fp.
void WriteFrames(const std::vector<CrashFrame>& frames, int32_t compiled, int feature,
                 WalkText& walk) {
  int32_t low = kForgedSp;
  Confidence confidence{};
  const std::string top = PcOf(frames.front(), confidence);
  walk.Set("pc", top);
  walk.Note("pc", confidence, Line(frames.front()));
  walk.Set("sp", StackValue(low + (IsInterpreted(frames.front()) ? kFpInInterpreted - 0x60 : 0)));
  walk.Set("fp", StackValue(FpOf(frames.front(), low, compiled)));
  for (size_t i = 0; i < frames.size(); i++) {
    const int32_t next = low + BytesOf(frames[i], compiled);
    const bool is_last = i + 1 == frames.size();
    const int32_t caller_fp = is_last ? next + 0x100 : FpOf(frames[i + 1], next, compiled);
    Confidence ignored{};
    const std::string caller_pc = is_last ? CallCodelet() : PcOf(frames[i + 1], ignored);
    WriteFrame(frames[i], FpOf(frames[i], low, compiled), caller_fp, caller_pc, feature, walk);
    low = next;
  }
}

// The frames from the first that has a place on a Java stack on: those that the report names.
std::vector<CrashFrame> NamedFrames(const CrashedChain& chain) {
  std::vector<CrashFrame> frames;
  for (const CrashFrame& frame : chain.interrupted) {
    Confidence ignored{};
    const bool usable =
        !PcOf(frame, ignored).empty() && (!frame.symbol.empty() || !frame.is_java());
    const bool native = !frame.is_java() && frame.kind != CrashFrameKind::kStub;
    if (!usable || (native && !frames.empty())) continue;
    if (native) continue;  // where Java code begins is what walkers look for
    frames.push_back(frame);
    if (frames.size() == kMostFrames) break;
  }
  return frames;
}

}  // namespace

std::string StateWordOf(const std::string& state) {
  constexpr std::string_view kPrefix = "_thread_";
  if (!state.starts_with(kPrefix)) return "";
  const std::string word = state.substr(kPrefix.size());
  for (const char* known :
       {"uninitialized", "new", "new_trans", "in_native", "in_native_trans", "in_vm", "in_vm_trans",
        "in_Java", "in_Java_trans", "blocked", "blocked_trans"})
    if (word == known) return word;
  return "";
}

std::vector<WalkedContext> WalkedContextsOf(const CrashReport& report, const CrashedChain& chain,
                                            const std::string& walker) {
  std::vector<WalkedContext> contexts;
  const std::vector<CrashFrame> frames = NamedFrames(chain);
  if (frames.empty()) return contexts;
  const int feature =
      report.version.feature.known() ? report.version.feature.value : kDefaultFeature;
  const std::string state = StateWordOf(report.thread.state);
  const bool has_compiled = std::any_of(frames.begin(), frames.end(),
                                        [](const auto& frame) { return !IsInterpreted(frame); });
  for (const int32_t bytes : kFrameBytes) {
    WalkText walk(walker, kSampledScene);
    walk.Set("state", state.empty() ? "in_Java" : state);
    walk.Note("state", state.empty() ? Confidence::kGuess : Confidence::kExact,
              state.empty() ? "the report tells none"
                            : fmt::format("line {}: {}", report.thread.line, report.thread.state));
    WriteFrames(frames, bytes, feature, walk);
    walk.Note("stack", Confidence::kLikely,
              fmt::format("{} frames of the report, laid out as HotSpot does", frames.size()));
    if (has_compiled)
      walk.Note("frame sizes", Confidence::kGuess,
                fmt::format("each compiled frame has {} bytes", bytes));
    if (!state.empty() && state != "in_Java") {
      walk.Set("anchor", "custom");
      walk.Set("anchor-sp", StackValue(kForgedSp));
      Confidence confidence{};
      walk.Set("anchor-pc", PcOf(frames.front(), confidence));
      walk.Set("anchor-fp", StackValue(FpOf(frames.front(), kForgedSp, bytes)));
      walk.Note("anchor", Confidence::kLikely, "the thread was not in Java: the last Java frame");
    }
    contexts.push_back({fmt::format("the {} frames that the report shows", frames.size()), walk});
    if (!has_compiled) break;
  }
  return contexts;
}

}  // namespace walkhammer
