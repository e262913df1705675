// SPDX-License-Identifier: Apache-2.0
// The walkers of async-profiler, releases 4.2 to 4.6. asprof-vm is its walker over vmStructs,
// StackWalker::walkVM: how that profiler walks by default. asprof-fp and asprof-dwarf are how it
// walks where an option forbids it to walk by vmStructs. Its cstack=fp and cstack=dwarf name the
// frames of C by getNativeTrace (walkFP is a part of that) or by walkDwarf;
// Profiler::getJavaTraceAsync has AsyncGetCallTrace walk the Java frames. Up to 4.3 the walk
// through C leads to the newest Java frame, and a walk that fails is tried again from other
// registers; from 4.4 on AsyncGetCallTrace's answer stands. The answers keep the Java frames.
#include <atomic>

#include "harness/guard/arch.h"
#include "harness/walkers/agct.h"
#include "harness/walkers/canary_buffer.h"
#include "harness/walkers/java_trace.h"
#include "harness/walkers/makers.h"
#include "harness/walkers/profiler_frames.h"
#include "harness/walkers/profiler_library.h"

namespace walkhammer {
namespace {

constexpr int kExecutionSample = 1;  // EventType: frames of stubs and of C, too

// StackWalkFeatures is a struct of 16 bits, passed like a number. 0: all are off, the default.
// Release 4.2 takes the registers, too; from 4.3 on the walker takes the number of a jump buffer.
using WalkWithRegisters = int(void*, AgctFrame*, int, uint16_t, int, const void*, uint64_t,
                              uint64_t);
using WalkWithLock = int(void*, AgctFrame*, int, int, uint16_t, int);
constexpr char kWithRegisters[] =
    "_ZN11StackWalker6walkVMEPvP15ASGCT_CallFramei17StackWalkFeatures9EventTypePKvmm";
constexpr char kWithLock[] =
    "_ZN11StackWalker6walkVMEPvP15ASGCT_CallFrameii17StackWalkFeatures9EventType";

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

class AsprofWalker : public Walker {
 public:
  Status Bind(const WalkerHost& host) override {
    ASSIGN_OR_RETURN(auto library, ProfilerLibrary::Open(host, "async-profiler"));
    is_native_ = host.is_native;
    ASSIGN_OR_RETURN(const auto form,
                     library.Find("StackWalker::walkVM", kWalkVm, {kWithLock, kWithRegisters}));
    if (form.index == 0) with_lock_ = reinterpret_cast<WalkWithLock*>(form.address);
    if (form.index == 1) with_registers_ = reinterpret_cast<WalkWithRegisters*>(form.address);
    return Ok();
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
    kVmFrames.Keep(frames, Call(input, frames), input.depth, is_native_, trace);
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

  WalkWithLock* with_lock_ = nullptr;
  WalkWithRegisters* with_registers_ = nullptr;
  bool (*is_native_)(void* method_id) = nullptr;
  int lock_ = -1;
  CanaryBuffer<AgctFrame> buffer_;
};

// Releases from 4.4 on, and those before. The newer getNativeTrace takes a pointer to a number of
// perf events, which is not written here, in place of the StackContext*.
constexpr std::string_view kJavaForms[] = {
    "_ZN8Profiler17getJavaTraceAsyncEPvP15ASGCT_CallFramei",
    "_ZN8Profiler17getJavaTraceAsyncEPvP15ASGCT_CallFrameiP12StackContext"};
constexpr std::string_view kFpForms[] = {
    "_ZN8Profiler14getNativeTraceEPvP15ASGCT_CallFrame9EventTypeiPy",
    "_ZN8Profiler14getNativeTraceEPvP15ASGCT_CallFrame9EventTypeiP12StackContext"};
constexpr std::string_view kDwarfForms[] = {"_ZN11StackWalker9walkDwarfEPvPPKvi",
                                            "_ZN11StackWalker9walkDwarfEPvPPKviP12StackContext"};

constexpr JavaTraceForms kAsprofFp = {
    "async-profiler", "Profiler::getNativeTrace", kGetNativeTrace, kFpForms, true, kJavaForms};
constexpr JavaTraceForms kAsprofDwarf = {
    "async-profiler", "StackWalker::walkDwarf", kWalkDwarf, kDwarfForms, false, kJavaForms};

}  // namespace

std::unique_ptr<Walker> MakeAsprofVm() { return std::make_unique<AsprofWalker>(); }

std::unique_ptr<Walker> MakeAsprofFp() { return MakeJavaTraceWalker(kAsprofFp); }

std::unique_ptr<Walker> MakeAsprofDwarf() { return MakeJavaTraceWalker(kAsprofDwarf); }

}  // namespace walkhammer
