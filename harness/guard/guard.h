// SPDX-License-Identifier: Apache-2.0
// The guard: contains what a walker does inside one call. Faults and hangs end the call with
// siglongjmp; calls to malloc, free and locks are recorded. Several threads may walk at a time, and
// a thread may walk again inside of a walk; each walk has a slot of its own.
// Signal-safe: GuardedCall, Contained, SetCurrentGuardSlot, CurrentGuardSlot, HangSignal,
// GuardInPlace, ThreadSignalMask, NativeChain yes; the rest no.
#ifndef WALKHAMMER_HARNESS_GUARD_GUARD_H_
#define WALKHAMMER_HARNESS_GUARD_GUARD_H_

#include <ucontext.h>

#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstdint>

#include "harness/base/function_ref.h"
#include "harness/base/result.h"
#include "harness/base/trace.h"
#include "harness/guard/arch.h"

namespace walkhammer {

// A call that no signal handler may make, seen inside a guarded call.
struct UnsafeCall {
  const char* function;  // "malloc", "pthread_mutex_lock", ...; null: none seen
  int32_t native_count;
  uint64_t native[kMaxNativeFrames];  // pcs of the callers, innermost first
};

inline constexpr int kLooksAtHang = 6;

// What the guard must know about the thread that walks. Must live as long as the thread may walk.
struct GuardSlot {
  // Set by the owner before the first call.
  volatile int32_t* thread_state = nullptr;  // JavaThread::_thread_state, or null
  int32_t true_state = 0;                    // state that the JVM sees while it handles a fault
  volatile uint64_t* anchor = nullptr;       // JavaThread::_anchor, or null
  uint64_t walked_stack = 0;                 // lowest address of the Java stack, or 0

  // Results of the last call.
  Fault fault;
  UnsafeCall unsafe_call;
  bool inside_unsafe_call;  // a crash or hang ended the call inside of malloc or a lock
  // False if the last call certainly made no system call; see system_calls.h.
  bool may_have_called_kernel = true;
  // Faults of the last call that the walker's own protection has handled by a jump; `fault` tells
  // the first.
  volatile int32_t protected_faults = 0;

  // Inner workings.
  volatile sig_atomic_t inside = 0;
  volatile sig_atomic_t leaving = 0;  // a handler is recording what ended the call
  volatile sig_atomic_t unsafe_depth = 0;
  std::atomic<uint64_t> calls{0};
  std::atomic<int> tid{0};
  uint64_t stack_end = 0;  // frame of GuardedCall: native chains stop here
  // What the watchdog knows about the call. The times are in ms; `asleep_for` counts only what the
  // watchdog saw itself: neither time in which the process was stopped, nor time in which the
  // thread waited for a processor.
  uint64_t seen_call = 0, cpu_at = 0, asleep_for = 0;
  bool signalled = false;
  std::atomic<uint64_t> hung_call{
      0};  // the call to end; 0: none, or OnHang asks to be called again
  // A hang is looked at several times before it is ended: `looks` times so far. `asked`: for how
  // many looks the watchdog has asked, of `wanted` in all.
  struct Look {
    int native_count;
    uint64_t native[kMaxNativeFrames];
  } looked[kLooksAtHang];
  std::atomic<int> looks{0};
  int asked = 0, wanted = 0;
  Ending ending = Ending::kReturned;
  stack_t signal_stack{};  // that was in force when the call was interrupted
  sigjmp_buf leave;
};

struct GuardOptions {
  int hang_limit_ms;  // limit of the thread's CPU time; the limit of its sleep is 20 times as long
  // Asks the JVM whether a fault is its own: JVM_handle_linux_signal. May be null.
  int (*jvm_handler)(int, siginfo_t*, void*, int);
  // pc ranges where HotSpot faults on purpose (SafeFetch).
  struct Range {
    uint64_t begin, end;
  } safefetch[4];
  // pc ranges in which SafeFetch may be, if its address is not known: a SIGSEGV or SIGBUS there is
  // recorded as doubtful.
  Range doubtful[2] = {};
  // Called first for each SIGTRAP that a trap instruction raised, on any thread. `walking`: the
  // thread is inside a guarded call, and is not leaving it. Returns true if the trap is handled and
  // the thread goes on. May be null.
  bool (*on_trap)(ucontext_t*, bool walking) = nullptr;
  // Called for the SIGTRAPs of single steps, on any thread. Returns true if the step is handled.
  // May be null.
  bool (*on_step)(siginfo_t*, ucontext_t*) = nullptr;
  // Called first for each SIGSEGV, on any thread, before the walker's own protection: may make the
  // fault look as one that came by itself. May be null.
  void (*on_fault)(siginfo_t*, ucontext_t*) = nullptr;
  // Functions with which the JVM reports that one of its own checks has failed, and which never
  // return. Each has a trap at its entry. Inside a guarded call the trap ends the call, see
  // Fault::failed_check. Elsewhere all these traps are removed, and the JVM dies as it would
  // without them.
  struct CheckReport {
    uint64_t entry;
    CodeUnit original;             // what the trap replaces
    int8_t file, line, text = -1;  // numbers of these arguments, from 0; -1: there is none
  };
  static constexpr int kMostCheckReports = 8;
  CheckReport check_reports[kMostCheckReports] = {};
  int check_report_count = 0;
  // Signals to block while the SIGTRAP handler runs, bit 0 = signal 1: a signal whose handler sets
  // the trap flag would end the process there.
  uint64_t blocked_in_trap = 0;
  // True: the JVM's own handlers end a walk that faults, by a jump, as OpenJ9's AsyncGetCallTrace
  // relies on (omrsig_protect). Inside a guarded call the handlers that were installed before then
  // have SIGSEGV, SIGBUS, SIGILL and SIGFPE first, as with AdoptWalkersProtection; but handlers
  // stay on their signal stacks. A walk that the guard itself ends, as one that hangs, leaves what
  // the JVM keeps of its protected calls on the thread's stack: a later fault of the thread may end
  // the JVM.
  bool jvm_ends_walks = false;
};

inline constexpr int kMaxGuardSlots = 128;  // slots that the watchdog can watch for hangs

// Installs the handlers for SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP and the watchdog's signal,
// and starts the watchdog. Faults outside of guarded calls go to the handlers that were installed
// before, so the JVM must have installed its own handlers first. Once per process.
Status InstallGuard(const GuardOptions& options);

// Some walkers bring a protection of their own: a handler of SIGSEGV that ends the walk by a jump,
// or goes on behind the fault. Runs `initialise`, which installs that handler, and from then on
// lets that handler have each fault inside a guarded call first. What the walker's handler passes
// on is contained by the guard, as without it. Faults elsewhere go where they went before. Handlers
// of SIGTRAP that `initialise` installs are removed. Before or after InstallGuard; once per process
// and walker.
Status AdoptWalkersProtection(FunctionRef<Status()> initialise);
// SA_ONSTACK; 0 once a walker's own protection is adopted: that protection finds its walk, and such
// a walker the end of the stack, by where the handler runs. Handlers then run on the stack of the
// thread that is interrupted, as a profiler's do, and an overflow of that stack ends the process.
int HandlerStackFlag();

// Lets the calling thread walk: gives it an alternate signal stack, watches `slot` and makes it
// current. LeaveGuardedThread undoes this, before the thread ends. False: as of WatchGuardSlot.
bool EnterGuardedThread(GuardSlot& slot);
void LeaveGuardedThread();

// The signal that ends a hanging call; threads that call walkers must not block it.
// Signal-safe: yes.
int HangSignal();

// Step of EnterGuardedThread: lets the watchdog watch `slot` for hangs. Watch a slot before it
// becomes current. The slot stays watched until LeaveGuardedThread finds it current. False: all
// places are taken, so that hangs of this slot's calls will not end.
bool WatchGuardSlot(GuardSlot& slot);
// True while the guard's handler for SIGSEGV is installed. Signal-safe: yes.
bool GuardInPlace();
// ss_flags of a signal stack that the kernel takes out of force while a handler runs (Linux 4.7 and
// later, <linux/signal.h>). The handler may then put another stack in force: otherwise, if the
// handler overflowed its stack, the kernel would handle the fault at the top of that same stack,
// over the handler's own frames. The kernel puts the stack back in force when the handler returns,
// and the guard does when it leaves a call by a jump.
inline constexpr int kDisarmedInHandlers = 1 << 31;
// Returns a new signal stack for sigaltstack, with a guard page below it; ss_flags is `flags`, or
// SS_DISABLE if there is no memory. The stack is never unmapped, except by LeaveGuardedThread.
stack_t NewSignalStack(int flags = 0);
// Step of EnterGuardedThread: gives the calling thread an alternate signal stack, until
// LeaveGuardedThread.
void GiveSignalStack(int flags = 0);
// Step of EnterGuardedThread: makes `slot` the calling thread's current slot (null: the thread does
// not walk). Returns the slot that was current before. `tid`: the calling thread's id; 0: the
// kernel is asked. Signal-safe: yes.
GuardSlot* SetCurrentGuardSlot(GuardSlot* slot, int tid = 0);

// Runs `body` on the calling thread, contained, and returns how the call ended. A call that
// a crash or hang ends may leave locks and other state of the callee behind: check
// inside_unsafe_call, and walk something known. Signal-safe: yes.
Ending GuardedCall(GuardSlot& slot, FunctionRef<void()> body);

// Runs `body`, which reads what may lead nowhere, on a thread whose current slot is `slot` and
// which is in no guarded call. False: a crash ended it. Keeps unsafe_call of the slot's results,
// not fault. Signal-safe: as `body`.
inline bool Contained(GuardSlot& slot, FunctionRef<void()> body) {
  const char* const kept = slot.unsafe_call.function;
  const Ending ending = GuardedCall(slot, body);
  slot.unsafe_call.function = kept;
  return ending == Ending::kReturned;
}

// The calling thread's signal mask as the kernel holds it, bit 0 = signal 1. Signal-safe: yes.
uint64_t ThreadSignalMask();

// Follows the frame records from `fp` on that are within [sp, end). Writes `pc` and then their
// return addresses to `pcs`, innermost first. Returns how many pcs, at most kMaxNativeFrames.
// Signal-safe: yes.
int NativeChain(uint64_t pc, uint64_t fp, uint64_t sp, uint64_t end, uint64_t* pcs);

// The calling thread's current slot, or null. Used by the interposed functions. Signal-safe: yes.
GuardSlot* CurrentGuardSlot();

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_GUARD_GUARD_H_
