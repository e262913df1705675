// SPDX-License-Identifier: Apache-2.0
// A plugin that asks AsyncGetCallTrace and protects itself, and beside it the plugins with a bug
// that shows once a load fails. The name of the file says which one it is.
#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "walkhammer_walker.h"

namespace {

constexpr int32_t kFaulted = -3;

struct CallTrace {
  JNIEnv* env;
  jint count;
  walkhammer_frame* frames;
};
void (*async_get_call_trace)(CallTrace*, jint, void*);

enum class Bug : uint8_t {
  kNone,
  kUnprotected,  // reads the stack before it protects itself
  kErrno,        // leaves another errno
  kMask,         // leaves a signal blocked
  kNextWalk,     // forgets that a fault has ended a walk: the next one loses its newest frame
  kMadeUp,       // answers with a frame of its own
  kNull,         // faults where it gets over a fault
};
Bug bug;
bool was_faulted;

sigjmp_buf back;
volatile sig_atomic_t walking;
struct sigaction before;

void OnSegv(int signal, siginfo_t* info, void* context) {
  if (walking != 0) siglongjmp(back, 1);
  if ((before.sa_flags & SA_SIGINFO) != 0) before.sa_sigaction(signal, info, context);
}

Bug BugNamed(const std::string& file) {
  const auto is = [&](const char* name) { return file.find(name) != std::string::npos; };
  return is("unprotected") ? Bug::kUnprotected
         : is("errno")     ? Bug::kErrno
         : is("mask")      ? Bug::kMask
         : is("next-walk") ? Bug::kNextWalk
         : is("made-up")   ? Bug::kMadeUp
         : is("null")      ? Bug::kNull
                           : Bug::kNone;
}

// What the last walk returned.
struct Walked {
  int32_t count;
  walkhammer_frame second;
};

int32_t GetOver(walkhammer_frame* frames, const Walked& last) {
  was_faulted = true;
  if (bug == Bug::kErrno) errno = EAGAIN;
  if (bug == Bug::kMask) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
  }
  if (bug == Bug::kNull) {
    volatile int* nothing = nullptr;
    return *nothing;
  }
  if (bug != Bug::kMadeUp || last.count < 2) return kFaulted;
  frames[0] = last.second;
  return 1;
}

uint64_t StackPointer(const ucontext_t* context) {
#ifdef __x86_64__
  return static_cast<uint64_t>(context->uc_mcontext.gregs[REG_RSP]);
#else
  return context->uc_mcontext.sp;
#endif
}

}  // namespace

const char* walkhammer_setup(JavaVM*) {
  Dl_info own;
  if (dladdr(reinterpret_cast<void*>(&walkhammer_setup), &own) != 0) bug = BugNamed(own.dli_fname);
  void* jvm = dlopen("libjvm.so", RTLD_NOW | RTLD_NOLOAD);
  if (jvm == nullptr) return "libjvm.so is not loaded";
  async_get_call_trace =
      reinterpret_cast<decltype(async_get_call_trace)>(dlsym(jvm, "AsyncGetCallTrace"));
  if (async_get_call_trace == nullptr) return "it does not export AsyncGetCallTrace";
  struct sigaction action {};
  action.sa_sigaction = OnSegv;
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  sigaction(SIGSEGV, &action, &before);
  return nullptr;
}

int32_t walkhammer_walk(ucontext_t* context, JNIEnv* env, walkhammer_frame* frames, int32_t most) {
  static Walked last;
  if (bug == Bug::kUnprotected) {
    const auto* word = reinterpret_cast<const uint64_t*>(StackPointer(context));
    const uint64_t read = *word;
    asm volatile("" ::"r"(read));
  }
  CallTrace trace = {env, 0, frames};
  if (sigsetjmp(back, 1) != 0) {
    walking = bug == Bug::kNull ? 0 : walking;
    const int32_t answer = GetOver(frames, last);
    walking = 0;
    return answer;
  }
  walking = 1;
  async_get_call_trace(&trace, most, context);
  if (bug == Bug::kMadeUp && trace.count >= 2) last.second = frames[1];
  asm volatile("" ::: "memory");  // the copy is protected, too
  walking = 0;
  for (int32_t i = 0; i < trace.count; i++) frames[i].kind = 0;
  last.count = trace.count;
  last.second.kind = 0;
  if (bug != Bug::kNextWalk || !was_faulted || trace.count < 2) return trace.count;
  was_faulted = false;
  std::memmove(frames, frames + 1, static_cast<size_t>(trace.count - 1) * sizeof *frames);
  return trace.count - 1;
}
