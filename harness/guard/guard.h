// SPDX-License-Identifier: Apache-2.0
// The guard: contains what a walker does inside one call. Faults and hangs end the call with
// siglongjmp; calls to malloc, free and locks are recorded. Several threads may walk at a time, and
// one may walk again inside of a walk, each with a slot of its own.
// Signal-safe: GuardedCall and SetCurrentGuardSlot yes; the rest no.
#ifndef WALKHAMMER_HARNESS_GUARD_GUARD_H_
#define WALKHAMMER_HARNESS_GUARD_GUARD_H_

#include <ucontext.h>

#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstdint>

#include "harness/base/result.h"
#include "harness/base/trace.h"
#include "harness/guard/arch.h"

namespace walkhammer {

// A call that no signal handler may make, seen inside a guarded call.
struct UnsafeCall {
  const char* function;  // "malloc", "pthread_mutex_lock", ...; null: none seen
  int32_t native_count;
  uint64_t native[kMaxNativeFrames];  // who called, innermost first
};

// What the guard must know about the thread that walks. Lives as long as the thread may walk.
struct GuardSlot {
  // Set by the owner before the first call.
  volatile int32_t* thread_state = nullptr;  // JavaThread::_thread_state, or null
  int32_t true_state = 0;                    // what the JVM may be told while it handles a fault
  volatile uint64_t* anchor = nullptr;       // JavaThread::_anchor, or null
  uint64_t walked_stack = 0;                 // lowest address of the Java stack, or 0

  // Results of the last call.
  Fault fault;
  UnsafeCall unsafe_call;
  bool inside_unsafe_call;  // the call was left while malloc or a lock was at work

  // Inner workings.
  volatile sig_atomic_t inside = 0;
  volatile sig_atomic_t leaving = 0;  // a handler is at work on what ended the call
  volatile sig_atomic_t unsafe_depth = 0;
  std::atomic<uint64_t> calls{0};
  std::atomic<int> tid{0};
  uint64_t stack_end = 0;  // frame of Call: native chains stop here
  // What the watchdog knows of the call.
  uint64_t seen_call = 0, cpu_at = 0, wall_at = 0;
  std::atomic<uint64_t> hung_call{0};
  Ending ending = Ending::kReturned;
  sigjmp_buf leave;
};

struct GuardOptions {
  int hang_limit_ms;  // of the thread's CPU time; wall-clock limit is 20 times that
  // Asks the JVM whether a fault is its own: JVM_handle_linux_signal. May be null.
  int (*jvm_handler)(int, siginfo_t*, void*, int);
  // pc ranges where HotSpot faults on purpose (SafeFetch).
  struct Range {
    uint64_t begin, end;
  } safefetch[4];
  // Where SafeFetch may lie, if it is not known where: a SIGSEGV or SIGBUS there is noted as
  // doubtful.
  Range doubtful[2] = {};
  // Asked first about each SIGTRAP that an instruction raised, on any thread; `walking`: this one
  // is inside a guarded call and not about to leave it. True: seen to, go on. May be null.
  bool (*on_trap)(ucontext_t*, bool walking) = nullptr;
  // Gets the SIGTRAPs of single steps, on any thread. True: seen to. May be null.
  bool (*on_step)(siginfo_t*, ucontext_t*) = nullptr;
  // Functions with which the JVM reports that a check of its own has failed and never comes back
  // from. A trap stands at each entry; inside a guarded call it ends the call, see
  // Fault::failed_check. Elsewhere it is lifted, and the JVM dies as it would.
  struct CheckReport {
    uint64_t entry;
    CodeUnit original;             // what the trap replaces
    int8_t file, line, text = -1;  // which arguments those are, from 0; -1: it has none
  };
  static constexpr int kMostCheckReports = 8;
  CheckReport check_reports[kMostCheckReports] = {};
  int check_report_count = 0;
  // Block while the SIGTRAP handler runs, bit 0 = signal 1: a signal whose handler sets the trap
  // flag would end the process there.
  uint64_t blocked_in_trap = 0;
};

inline constexpr int kMaxGuardSlots = 128;  // watched for hangs

// Installs the handlers for SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP and the watchdog's signal,
// and starts the watchdog. Faults outside of guarded calls go to the handlers found before, so it
// must run after the JVM has installed its own. Once per process.
Status InstallGuard(const GuardOptions& options);

// Makes the calling thread able to walk: alternate signal stack, slot. Leaves with the thread.
void EnterGuardedThread(GuardSlot& slot);
void LeaveGuardedThread();

// The signal that ends a call that hangs: threads that call walkers keep it open. Signal-safe: yes.
int HangSignal();

// The parts of the above. Slots that are worn must be watched before; one is watched for good.
void WatchGuardSlot(GuardSlot& slot);
// False once somebody has replaced the handler for SIGSEGV.
bool GuardInPlace();
// A signal stack with a guard page below it, as sigaltstack takes it; never unmapped. SS_DISABLE:
// there is no memory.
stack_t NewSignalStack();
// An alternate signal stack for the calling thread, until LeaveGuardedThread.
void GiveSignalStack();
// From here on the calling thread's calls go through `slot` (null: it does not walk). Returns the
// one before.
// `tid`: the calling thread's; 0: the kernel is asked.
GuardSlot* SetCurrentGuardSlot(GuardSlot* slot, int tid = 0);

// Runs body(argument) on the calling thread, contained. A left call may strand locks and other
// state of the callee: look at inside_unsafe_call and walk something known.
Ending GuardedCall(GuardSlot& slot, void (*body)(void*), void* argument);

// The calling thread's signal mask as the kernel holds it, bit 0 = signal 1. Signal-safe.
uint64_t ThreadSignalMask();

// Follows frame records from fp within (sp, end); writes return pcs. At most kMaxNativeFrames.
int NativeChain(uint64_t pc, uint64_t fp, uint64_t sp, uint64_t end, uint64_t* pcs);

// The calling thread's slot, or null. Used by the interposed functions.
GuardSlot* CurrentGuardSlot();

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_GUARD_GUARD_H_
