// SPDX-License-Identifier: Apache-2.0
// A fake of async-profiler's library: a walker that it does not export, which walks by
// AsyncGetCallTrace and gives its frames the profiler's kinds, under a crash protection of its own.
// FAKE_REGISTERS: the form of release 4.2. FAKE_FAULTS: faults where it cannot walk, and the
// protection ends the walk. FAKE_ESCAPES: likewise, but the protection passes the fault on.
// FAKE_WRONG: the second frame is never at an even byte code. FAKE_FORM: a form that nobody knows.
// FAKE_REFUSES: does not want this JVM.
#include <csetjmp>
#include <csignal>
#include <cstdint>

#include "harness/guard/arch.h"
#include "harness/walkers/testing/hotspot_walk.h"

struct ASGCT_CallFrame {
  jint bci;
  const void* method_id;
};
static_assert(sizeof(ASGCT_CallFrame) == sizeof(walkhammer::AgctFrame));

struct StackWalkFeatures {
  unsigned short stats : 1, others : 15;
};
enum EventType { PERF_SAMPLE, EXECUTION_SAMPLE };

class StackWalker {
 public:
#if defined(FAKE_REGISTERS)
  static int walkVM(void* context, ASGCT_CallFrame* frames, int depth, StackWalkFeatures, EventType,
                    const void* pc, unsigned long sp, unsigned long fp);
#elif defined(FAKE_FORM)
  static int walkVM(void* context, ASGCT_CallFrame* frames, long depth);
#else
  static int walkVM(void* context, ASGCT_CallFrame* frames, int depth, int lock, StackWalkFeatures,
                    EventType);
#endif
};

// Of the linker: where this library begins, and where its code ends.
extern "C" __attribute__((visibility("hidden"))) const char __ehdr_start[];
extern "C" __attribute__((visibility("hidden"))) const char etext[];

namespace {

constexpr int kNativeFrame = -10, kErrorFrame = -18;
constexpr int kLocks = 16;
volatile uintptr_t unmapped = 8;  // volatile: the compiler knows better than to read there
jmp_buf* protection[kLocks];
void (*other_handler)(int, siginfo_t*, void*) = nullptr;

// As the real one does, handles faults in the library's own code alone, and finds the walk by where
// its jump buffer lies: on this stack.
[[maybe_unused]] void OnFault(int signal, siginfo_t* info, void* context) {
#ifndef FAKE_ESCAPES
  const uint64_t pc = walkhammer::ReadContext(*static_cast<ucontext_t*>(context)).pc;
  const bool own =
      pc >= reinterpret_cast<uint64_t>(__ehdr_start) && pc < reinterpret_cast<uint64_t>(etext);
  const auto here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  if (own)
    for (jmp_buf* at : protection)
      if (reinterpret_cast<uint64_t>(at) - here < 32768) longjmp(*at, 1);
#endif
  other_handler(signal, info, context);
}

int Walk(void* context, ASGCT_CallFrame* frames, int depth, int lock) {
  static constexpr char kNotWalkable[] = "break_not_walkable", kNative[] = "native";
  jmp_buf here;
  protection[lock] = &here;
  if (setjmp(here) != 0) {
    protection[lock] = nullptr;
    frames[0] = {kErrorFrame, kNotWalkable};
    return 1;
  }
  auto* walked = reinterpret_cast<walkhammer::AgctFrame*>(frames);
  int count = walkhammer::HotspotWalk(walked, depth, context);
#if defined(FAKE_FAULTS) || defined(FAKE_ESCAPES)
  if (count <= 0) count = *reinterpret_cast<volatile int*>(unmapped);
#endif
  for (int i = 0; i < count; i++)
    if (frames[i].bci == walkhammer::kAgctNativeBci)
      frames[i].bci = 1 << 24 | 1 << 25;
    else
      frames[i].bci = 1 << 24 | (frames[i].bci & 0xffffff);
#ifdef FAKE_WRONG
  if (count > 1 && frames[1].bci % 2 == 0) frames[1].bci++;
#endif
  if (count == 0) frames[count++] = {kNativeFrame, kNative};
  if (count < 0) {
    frames[0] = {kErrorFrame, kNotWalkable};
    count = 1;
  }
  protection[lock] = nullptr;
  return count;
}

}  // namespace

#if defined(FAKE_REGISTERS)
__attribute__((used, noinline)) int StackWalker::walkVM(void* context, ASGCT_CallFrame* frames,
                                                        int depth, StackWalkFeatures features,
                                                        EventType event, const void* pc,
                                                        unsigned long sp, unsigned long fp) {
  const bool as_agreed = features.stats == 0 && event == EXECUTION_SAMPLE && pc != nullptr;
  return as_agreed || sp + fp == 0 ? Walk(context, frames, depth, 0) : 0;
}
#elif defined(FAKE_FORM)
__attribute__((used, noinline)) int StackWalker::walkVM(void* context, ASGCT_CallFrame* frames,
                                                        long depth) {
  return Walk(context, frames, static_cast<int>(depth), 0);
}
#else
__attribute__((used, noinline)) int StackWalker::walkVM(void* context, ASGCT_CallFrame* frames,
                                                        int depth, int lock,
                                                        StackWalkFeatures features,
                                                        EventType event) {
  const bool as_agreed = features.stats == 0 && event == EXECUTION_SAMPLE && lock < kLocks;
  return as_agreed ? Walk(context, frames, depth, lock) : 0;
}
#endif

extern "C" __attribute__((visibility("default"))) jint Agent_OnAttach(JavaVM* vm, char*, void*) {
#ifdef FAKE_REFUSES
  return vm == nullptr ? 0 : 200;
#else
  struct sigaction action {};
  sigaction(SIGSEGV, nullptr, &action);
  other_handler = action.sa_sigaction;
  action.sa_sigaction = OnFault;
  sigaction(SIGSEGV, &action, nullptr);
  return asgst_attach(vm);
#endif
}
