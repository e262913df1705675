// SPDX-License-Identifier: Apache-2.0
#include "harness/crash/core/core_walk.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "harness/asgst/walk/metadata.h"
#include "harness/base/text.h"
#include "harness/crash/core/core_unwind.h"
#include "harness/crash/core/signal_contexts.h"
#include "harness/elf/symbolizer.h"

namespace walkhammer {
namespace {

using asgst::FrameType;
using asgst::JavaFrame;
using asgst::JavaWalk;
using asgst::WalkStart;

constexpr size_t kMostModules = 512;

// The text as one word of an expectation, in which # begins a comment.
std::string AsWord(const std::string& text) {
  constexpr std::string_view kNotInWords = " \t\r\n\v\f#";
  std::string word = Printable(text);
  std::replace_if(
      word.begin(), word.end(), [&](char c) { return kNotInWords.find(c) != kNotInWords.npos; },
      '_');
  return word;
}

// Where a thread is walked from.
struct WalkedFrom {
  Registers registers{};
  JavaRegisters java{};
  int nth_signal = 0, signal = 0;
};

WalkedFrom WalkStartOf(const SignalContext& context, uint16_t machine, int nth) {
  std::vector<uint64_t> general;
  const auto value = [&](const std::string& name) -> uint64_t {
    for (const CrashRegister& told : context.registers)
      if (told.name == name) return told.value;
    return 0;
  };
  if (machine == EM_AARCH64) {
    for (int i = 0; i <= 30; i++) general.push_back(value("x" + std::to_string(i)));
  } else {
    for (const char* name : {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9",
                             "r10", "r11", "r12", "r13", "r14", "r15"})
      general.push_back(value(name));
  }
  const uint64_t lr = machine == EM_AARCH64 ? general[30] : 0;
  return {{context.pc, context.sp, context.fp, lr},
          JavaRegistersOf(machine, general),
          nth,
          context.signal};
}

class StackWalker {
 public:
  StackWalker(const CoreFile& core, const CoreJvm& jvm, const asgst::WalkLayout& layout,
              const CoreWalkOptions& options)
      : core_(core),
        jvm_(jvm),
        layout_(layout),
        options_(options),
        unwind_(core),
        symbolizer_(core.Modules(kMostModules)) {}

  CoreStack Walk(const CoreJavaThread& thread, int32_t tid, const WalkedFrom& place) {
    WalkStart start;
    start.registers = place.registers;
    start.java = place.java;
    start.thread = thread.address;
    start.stack_high = thread.stack_base;
    start.stack_floor = thread.stack_limit;
    start.unwind = &unwind_.tables();
    start.non_java = options_.native;
    start.unpacked = true;
    CoreStack stack{tid, place.nth_signal, place.signal, thread.state, {}, WalkEnd::kUntold};
    JavaWalk walk(layout_, core_, start);
    const bool found = walk.Begin() == asgst::WalkStatus::kFound;
    size_t most = std::min(options_.most_frames, left_);
    bool interrupted = true;  // C frames: each pc but the first one's is a return address
    for (JavaFrame frame; found && walk.Next(frame); most--) {
      if (most == 0) {
        stack.end = WalkEnd::kDepth;
        break;
      }
      stack.frames.push_back(FrameOf(frame, interrupted));
      interrupted = false;
    }
    left_ -= stack.frames.size();
    if (stack.end != WalkEnd::kDepth) stack.end = walk.end();
    return stack;
  }

 private:
  CoreFrame FrameOf(const JavaFrame& frame, bool interrupted) {
    CoreFrame out{frame.type, frame.level, frame.bci, -1, frame.guessed, frame.pc, {}, {}};
    if (frame.type == FrameType::kCpp) {
      NameNative(interrupted, out);
    } else if (frame.type == FrameType::kStub) {
      const FoundCode code = FindCode(layout_.code, core_, frame.pc);
      out.name = code.name == 0 ? "interpreter" : AsWord(ReadText(core_, code.name));
    } else {
      const Named& named = NameOf(frame.method);
      out.name = named.name;
      const asgst::Metadata metadata(jvm_.metadata(), core_);
      if (named.is_open && frame.type != FrameType::kNative)
        out.line = asgst::LineOf(metadata, named.view, frame.bci);
    }
    if (out.name.empty()) out.name = "?";
    return out;
  }

  void NameNative(bool interrupted, CoreFrame& out) const {
    const Site site = interrupted ? symbolizer_.Resolve(out.pc) : symbolizer_.ResolveCaller(out.pc);
    const CoreArea* area = core_.AreaOf(out.pc);
    uint64_t word = 0;
    // The kernel's own library has no file.
    if (!site.in_module() && area != nullptr && core_.MappingOf(out.pc) == nullptr &&
        core_.ReadWord(area->begin, word) && std::memcmp(&word, ELFMAG, SELFMAG) == 0)
      out.name = fmt::format("[vdso]+{:#x}", out.pc - area->begin);
    if (!site.in_module()) return;
    out.name = AsWord(fmt::format("{}+{:#x}", site.module, site.module_offset));
    if (!site.function.empty()) out.function = SiteFunctionText(site);
  }

  struct Named {
    std::string name;
    bool is_open = false;
    asgst::MethodView view;
  };
  const Named& NameOf(uint64_t method) {
    const auto [at, is_new] = names_.try_emplace(method);
    Named& named = at->second;
    if (is_new) {
      named.name = AsWord(jvm_.MethodName(method));
      named.is_open = asgst::Metadata(jvm_.metadata(), core_).Open(method, named.view);
    }
    return named;
  }

  const CoreFile& core_;
  const CoreJvm& jvm_;
  const asgst::WalkLayout& layout_;
  const CoreWalkOptions options_;
  const CoreUnwind unwind_;
  const Symbolizer symbolizer_;
  std::unordered_map<uint64_t, Named> names_;
  size_t left_ = options_.most_frames_in_all;
};

// The Java threads of a core, by id or by whose stack the thread is on.
class ThreadTable {
 public:
  explicit ThreadTable(const CoreJvm& jvm) : threads_(jvm.JavaThreads()) {
    std::sort(threads_.begin(), threads_.end(),
              [](const auto& a, const auto& b) { return a.stack_base < b.stack_base; });
    for (const CoreJavaThread& thread : threads_)
      if (thread.tid != 0) by_tid_.try_emplace(thread.tid, &thread);
  }
  const CoreJavaThread* Find(const CoreThread& thread) const {
    if (const auto found = by_tid_.find(thread.tid); found != by_tid_.end()) return found->second;
    // In a core of a container, ids may be those of another namespace.
    const auto above = std::upper_bound(
        threads_.begin(), threads_.end(), thread.sp,
        [](uint64_t sp, const CoreJavaThread& other) { return sp < other.stack_base; });
    return above != threads_.end() && thread.sp >= above->stack_limit ? &*above : nullptr;
  }

 private:
  std::vector<CoreJavaThread> threads_;
  std::unordered_map<int32_t, const CoreJavaThread*> by_tid_;
};

}  // namespace

Result<CoreWalk> WalkCore(const CoreFile& core, const CoreJvm& jvm,
                          const CoreWalkOptions& options) {
  if (core.machine() != EM_X86_64 && core.machine() != EM_AARCH64)
    return Unable(
        fmt::format("a core of ELF machine {}: walks are of x86_64 and aarch64", core.machine()));
  ASSIGN_OR_RETURN(const asgst::WalkLayout layout, jvm.WalkLayoutOf());
  CoreWalk all;
  all.version = Printable(jvm.Version());
  all.arch = core.machine() == EM_AARCH64 ? "aarch64" : "x86_64";
  all.threads = core.threads().size();
  all.is_cut_off = core.is_cut_off();
  const ThreadTable table(jvm);
  StackWalker walker(core, jvm, layout, options);
  for (const CoreThread& thread : core.threads()) {
    const CoreJavaThread* java = table.Find(thread);
    if (java == nullptr) continue;
    const size_t number = all.java_threads++;
    if (options.tid != 0 && options.tid != thread.tid) continue;
    if (number >= options.most_threads) {
      all.left_out++;
      continue;
    }
    all.stacks.push_back(walker.Walk(
        *java, thread.tid, {{thread.pc, thread.sp, thread.fp, thread.lr}, thread.java, 0, 0}));
    if (&thread != &core.threads().front()) continue;
    int nth = 0;
    for (const SignalContext& context : SignalContextsOf(core, thread))
      all.stacks.push_back(
          walker.Walk(*java, thread.tid, WalkStartOf(context, core.machine(), ++nth)));
  }
  return all;
}

}  // namespace walkhammer
