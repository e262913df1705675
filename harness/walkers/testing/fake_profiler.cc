// SPDX-License-Identifier: Apache-2.0
// A fake of async-profiler's library: walkers that it does not export, which walk by
// AsyncGetCallTrace. walkVM gives its frames the profiler's kinds, under a crash protection of its
// own. What cstack=fp and cstack=dwarf call is there, too, and checks that it is called as agreed.
// FAKE_REGISTERS: the form of release 4.2. FAKE_FAULTS: faults where it cannot walk, and the
// protection ends the walk. FAKE_ESCAPES: the same, but the protection passes the fault on.
// FAKE_WRONG: the second frame is never at an even bytecode. FAKE_FORM: a form that nobody knows.
// FAKE_REFUSES: refuses this JVM. FAKE_PROFILES: as an agent from the JVM's start, with the
// option event=wall, it soon crashes in walkVM.
#include <pthread.h>
#include <unistd.h>

#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstring>

#include "harness/guard/arch.h"
#include "harness/walkers/testing/hotspot_walk.h"

struct StackWalkFeatures {
  unsigned short stats : 1, others : 15;
};
enum EventType { PERF_SAMPLE, EXECUTION_SAMPLE };

// What the walk through C is given, and getJavaTraceAsync, too.
#if defined(FAKE_REGISTERS)
#define FAKE_JAVA_CONTEXT , StackContext* java
#else
#define FAKE_JAVA_CONTEXT
#endif

// The linker's: where this library begins, and where its code ends.
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
  int count = ProfilersWalk(frames, depth, context);
#if defined(FAKE_FAULTS) || defined(FAKE_ESCAPES)
  if (count <= 0) count = *reinterpret_cast<volatile int*>(unmapped);
#endif
  for (int i = 0; i < count; i++) Encode(frames[i]);
  if (count == 0) frames[count++] = {kNativeFrame, kNative};
  if (count < 0) {
    frames[0] = {kErrorFrame, kNotWalkable};
    count = 1;
  }
  protection[lock] = nullptr;
  return count;
}

// What of C was walked last, by the thread that walks: getJavaTraceAsync needs it set.
thread_local int walked_c __attribute__((tls_model("initial-exec"))) = 0;

// `java`: null if the release does not ask where Java begins.
int WalkedC(StackContext* java) {
  if (java != nullptr) {
    if (java->sp != 0) return 0;  // not as agreed
    java->sp = 42;
  }
  walked_c = 1;
  return 1;
}

}  // namespace

class StackWalker {
 public:
  WALKHAMMER_OF_PROFILER static int walkDwarf(void* context, const void** called,
                                              int depth FAKE_JAVA_CONTEXT) {
    if (context == nullptr || depth != 128) return 0;  // not as agreed
    called[depth - 1] = nullptr;
#if defined(FAKE_REGISTERS)
    return WalkedC(java);
#else
    return WalkedC(nullptr);
#endif
  }
#if defined(FAKE_REGISTERS)
  WALKHAMMER_OF_PROFILER static int walkVM(void* context, ASGCT_CallFrame* frames, int depth,
                                           StackWalkFeatures features, EventType event,
                                           const void* pc, unsigned long sp, unsigned long fp) {
    const bool as_agreed = features.stats == 0 && event == EXECUTION_SAMPLE && pc != nullptr;
    return as_agreed || sp + fp == 0 ? Walk(context, frames, depth, 0) : 0;
  }
#elif defined(FAKE_FORM)
  WALKHAMMER_OF_PROFILER static int walkVM(void* context, ASGCT_CallFrame* frames, long depth) {
    return Walk(context, frames, static_cast<int>(depth), 0);
  }
#else
  WALKHAMMER_OF_PROFILER static int walkVM(void* context, ASGCT_CallFrame* frames, int depth,
                                           int lock, StackWalkFeatures features, EventType event) {
#ifdef FAKE_PROFILES
    if (frames == nullptr) return *reinterpret_cast<volatile int*>(unmapped);
#endif
    const bool as_agreed = features.stats == 0 && event == EXECUTION_SAMPLE && lock < kLocks;
    return as_agreed ? Walk(context, frames, depth, lock) : 0;
  }
#endif
};

class Profiler {
 public:
  WALKHAMMER_OF_PROFILER int getNativeTrace(void* context, ASGCT_CallFrame* frames, EventType event,
                                            int,
#if defined(FAKE_REGISTERS)
                                            StackContext* java) {
#else
                                            unsigned long long*) {
    StackContext* java = nullptr;
#endif
    if (mark_ != 42 || context == nullptr || event != EXECUTION_SAMPLE) return 0;  // not as agreed
    frames[127] = {kNativeFrame, nullptr};
    return WalkedC(java);
  }
  WALKHAMMER_OF_PROFILER int getJavaTraceAsync(void* context, ASGCT_CallFrame* frames,
                                               int depth FAKE_JAVA_CONTEXT) {
    static constexpr char kUnknown[] = "unknown_Java";
    if (mark_ != 42 || walked_c != 1) return 0;  // not as agreed
#if defined(FAKE_REGISTERS)
    if (java->sp != 42) return 0;  // not as agreed
#endif
    walked_c = 0;
    const int count = ProfilersWalk(frames, depth, context);
    if (count >= 0) return count;
    frames[0] = {kErrorFrame, kUnknown};
    return 1;
  }
  static Profiler* const _instance;

 private:
  int mark_ = 42;
};

static Profiler profiler;
Profiler* const Profiler::_instance = &profiler;

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

#ifdef FAKE_PROFILES
// By this export, a library is known to be async-profiler's.
extern "C" __attribute__((visibility("default"))) void Java_one_profiler_AsyncProfiler_start0() {}

static void* Profile(void*) {
  usleep(500'000);  // until the program runs
  StackWalker::walkVM(nullptr, nullptr, 0, 0, {}, EXECUTION_SAMPLE);
  return nullptr;
}

extern "C" __attribute__((visibility("default"))) jint Agent_OnLoad(JavaVM*, char* options, void*) {
  pthread_t thread;
  if (options != nullptr && std::strstr(options, "event=wall") != nullptr)
    pthread_create(&thread, nullptr, Profile, nullptr);
  return 0;
}
#endif
