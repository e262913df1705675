// SPDX-License-Identifier: Apache-2.0
// async-profiler's walker over vmStructs, StackWalker::walkVM of releases 4.2 to 4.6: how that
// profiler walks by default. It writes frames of all kinds into one list, each with its kind in the
// byte code index (FrameType and ASGCT_CallFrameType in its vmEntry.h). The answer keeps the Java
// frames.
#include <atomic>
#include <cstring>

#include "harness/elf/demangle.h"
#include "harness/guard/arch.h"
#include "harness/walkers/agct.h"
#include "harness/walkers/canary_buffer.h"
#include "harness/walkers/profiler_library.h"
#include "harness/walkers/rows.h"

namespace walkhammer {
namespace {

constexpr char kWalkVm[] = "_ZN11StackWalker6walkVME";
constexpr int kExecutionSample = 1;   // EventType: frames of stubs and of C, too
constexpr int32_t kErrorFrame = -18;  // BCI_ERROR: the method is a text

// StackWalkFeatures is a struct of 16 bits, passed like a number. 0: all are off, the default.
// Release 4.2 takes the registers, too; from 4.3 on the walker takes the number of a jump buffer.
using WalkWithRegisters = int(void*, AgctFrame*, int, uint16_t, int, const void*, uint64_t,
                              uint64_t);
using WalkWithLock = int(void*, AgctFrame*, int, int, uint16_t, int);
constexpr char kWithRegisters[] =
    "_ZN11StackWalker6walkVMEPvP15ASGCT_CallFramei17StackWalkFeatures9EventTypePKvmm";
constexpr char kWithLock[] =
    "_ZN11StackWalker6walkVMEPvP15ASGCT_CallFrameii17StackWalkFeatures9EventType";

// The texts of error frames, the answer where there is no Java frame above one, and the end of the
// walk where there is. "break_not_walkable" is written by the walker's crash protection.
struct BrokenOff {
  const char* text;
  int32_t code;
  WalkEnd end;
};
constexpr BrokenOff kBrokenOff[] = {
    {"break_not_walkable", -1, WalkEnd::kUnreadable},
    {"break_stack_range", -2, WalkEnd::kUnreadable},
    {"unknown_nmethod", -3, WalkEnd::kNoCaller},
    {"break_deopt", -4, WalkEnd::kDeopt},
    {"break_interpreted", -5, WalkEnd::kNoMethod},
    {"break_compiled", -6, WalkEnd::kNoCaller},
    {"break_entry_frame", -7, WalkEnd::kAnchor},
    {"break_stub", -8, WalkEnd::kUnknownStub},
};
constexpr BrokenOff kBrokenOtherwise = {"another error frame", -9, WalkEnd::kUnreadable};
constexpr int32_t kNoLock = -11;

constexpr DeclaredCode kCodes[] = {
    {0, "no_Java_frame"},      {-1, "break_not_walkable"}, {-2, "break_stack_range"},
    {-3, "unknown_nmethod"},   {-4, "break_deopt"},        {-5, "break_interpreted"},
    {-6, "break_compiled"},    {-7, "break_entry_frame"},  {-8, "break_stub"},
    {-9, "other_error_frame"}, {kNoLock, "skipped"},
};

// The walker's crash protection keeps one jump buffer for each of 16 numbers. The profiler skips a
// sample if it finds none free.
class LockNumbers {
 public:
  // -1: all are taken.
  int Take() {
    for (int i = 0; i < kCount; i++)
      if (int free = 0; taken_[i].compare_exchange_strong(free, 1)) return i;
    return -1;
  }
  void GiveBack(int number) { taken_[number].store(0); }

 private:
  static constexpr int kCount = 16;
  std::atomic<int> taken_[kCount]{};
};
LockNumbers lock_numbers;

BrokenOff BrokenOffBy(const void* text) {
  for (const BrokenOff& known : kBrokenOff)
    if (std::strcmp(static_cast<const char*>(text), known.text) == 0) return known;
  return kBrokenOtherwise;
}

// It takes the stack that it runs on for the one to walk.
const char* RefusedMode(std::string_view mode) {
  const bool own_stack = mode == "handler" || mode == "nested";
  return own_stack ? nullptr : "it walks no other thread";
}

// FrameType::encode: 1 << 24 | type << 25 | byte code index of 24 bits, -1 included.
bool IsJava(const AgctFrame& frame) { return frame.lineno >> 24 > 0; }
int32_t ByteCodeIndexOf(const AgctFrame& frame) {
  return static_cast<int32_t>(static_cast<uint32_t>(frame.lineno) << 8) >> 8;
}

class AsprofWalker : public Walker {
 public:
  Status Bind(const WalkerHost& host) override {
    ASSIGN_OR_RETURN(auto library, ProfilerLibrary::Open(host, "async-profiler"));
    is_native_ = host.is_native;
    std::string others;
    for (const ElfFunction& function : library.Functions(kWalkVm)) {
      void* address = library.AddressOf(function);
      if (function.name == kWithLock) with_lock_ = reinterpret_cast<WalkWithLock*>(address);
      if (function.name == kWithRegisters)
        with_registers_ = reinterpret_cast<WalkWithRegisters*>(address);
      others += " " + Demangle(function.name);
    }
    if (with_lock_ != nullptr || with_registers_ != nullptr) return Ok();
    if (others.empty()) return Unable(host.provider + " has no function StackWalker::walkVM");
    return Unable(host.provider + " has StackWalker::walkVM in no form that is known:" + others);
  }

  void Walk(const WalkInput& input, Trace& trace) override {
    AgctFrame* frames = buffer_.Paint(input.depth);
    trace.frames = reinterpret_cast<Frame*>(frames);
    // A crash that the guard ended leaves the number taken.
    if (lock_ < 0) lock_ = lock_numbers.Take();
    if (lock_ < 0) {
      trace.num_frames = kNoLock;
      return;
    }
    Keep(frames, Call(input, frames), input.depth, trace);
    lock_numbers.GiveBack(lock_);
    lock_ = -1;
  }

  bool BufferIntact(const WalkInput& input) const override { return buffer_.Intact(input.depth); }

 private:
  int Call(const WalkInput& input, AgctFrame* frames) const {
    if (with_lock_ != nullptr)
      return with_lock_(input.context, frames, input.depth, lock_, 0, kExecutionSample);
    const Registers at = ReadContext(*input.context);
    return with_registers_(input.context, frames, input.depth, 0, kExecutionSample,
                           reinterpret_cast<const void*>(at.pc), at.sp, at.fp);
  }

  // Keeps the Java frames of `count`, at the front of the list.
  void Keep(AgctFrame* frames, int count, int depth, Trace& trace) const {
    trace.num_frames = count;
    if (count < 0 || count > depth) return;
    trace.ended_on_request = count == depth;
    trace.end = count == depth ? WalkEnd::kDepth : WalkEnd::kWhole;
    auto* kept = reinterpret_cast<Frame*>(frames);
    int java = 0;
    int32_t code = 0;
    for (int i = 0; i < count; i++) {
      const AgctFrame frame = frames[i];
      if (frame.lineno == kErrorFrame) {
        const BrokenOff by = BrokenOffBy(frame.method_id);
        code = by.code;
        trace.end = by.end;
        trace.ended_on_request = true;  // the walker says that there may be more
      }
      if (!IsJava(frame)) continue;
      const bool native = is_native_ != nullptr && is_native_(frame.method_id);
      kept[java++] = {native ? kAgctNativeBci : ByteCodeIndexOf(frame), 0, frame.method_id};
    }
    trace.num_frames = java > 0 ? java : code;
  }

  WalkWithLock* with_lock_ = nullptr;
  WalkWithRegisters* with_registers_ = nullptr;
  bool (*is_native_)(void* method_id) = nullptr;
  int lock_ = -1;
  CanaryBuffer<AgctFrame> buffer_;
};

}  // namespace

const WalkerInfo kAsprofVmWalker = {
    .name = "asprof-vm",
    .what = "async-profiler's own walker (4.2 to 4.6), with --provider libasyncProfiler.so",
    .symbol = nullptr,
    .puzzle = false,
    .codes = kCodes,
    .make = [] { return std::unique_ptr<Walker>(std::make_unique<AsprofWalker>()); },
    .refused_mode = RefusedMode,
    .replaceable = true,
    .local_function = kWalkVm,
};

}  // namespace walkhammer
