// SPDX-License-Identifier: Apache-2.0
// The checked siglongjmp of fortified builds refuses to leave one signal stack for another.
#undef _FORTIFY_SOURCE
#include "harness/guard/guard.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <span>

#include "harness/guard/arch.h"
#include "harness/guard/code_patch.h"
#include "harness/guard/former_handler.h"
#include "harness/guard/hang.h"
#include "harness/guard/signal_text.h"
#include "harness/guard/system_calls.h"

namespace walkhammer {
namespace {

constexpr int kFaultSignals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
constexpr size_t kAltStackBytes = 256 * 1024;
constexpr size_t kGuardPageBytes = 64 * 1024;  // below the stack; no page is larger
constexpr int kMostNestedFaults = 8;           // a protection that itself faults is given up

void OnFault(int signal, siginfo_t* info, void* raw_context);

using SignalAction = void (*)(int, siginfo_t*, void*);
SignalAction walkers_protection = nullptr;  // see AdoptWalkersProtection

GuardOptions options;
struct sigaction previous[NSIG];

// initial-exec: a plain thread_local may allocate at its first touch inside a handler.
__attribute__((tls_model("initial-exec"))) thread_local GuardSlot* current_slot = nullptr;
// This thread's signal stack from GiveSignalStack, and the signal stack from before.
__attribute__((tls_model("initial-exec"))) thread_local void* own_stack = nullptr;
__attribute__((tls_model("initial-exec"))) thread_local stack_t stack_before;

// `begin`: ss_sp of a stack of NewSignalStack.
void UnmapSignalStack(void* begin) {
  munmap(static_cast<char*>(begin) - kGuardPageBytes, kGuardPageBytes + kAltStackBytes);
}

bool In(std::span<const GuardOptions::Range> ranges, uint64_t pc) {
  for (const auto& range : ranges)
    if (pc >= range.begin && pc < range.end) return true;
  return false;
}

// SafeFetch faults by reading only: a sent signal or a jump to a bad address is not SafeFetch's.
bool Doubtful(int signal, const siginfo_t& info, uint64_t pc) {
  return (signal == SIGSEGV || signal == SIGBUS) && info.si_code > 0 &&
         reinterpret_cast<uint64_t>(info.si_addr) != pc && In(options.doubtful, pc);
}

// HotSpot faults on purpose in SafeFetch and resumes elsewhere. HotSpot is asked only for pcs in
// SafeFetch, and with the thread's true state: with the presented state in_Java, HotSpot would take
// a fault in the polling page for a safepoint poll, and a fault in the guard pages for a Java stack
// overflow.
bool JvmResumes(GuardSlot& slot, int signal, siginfo_t* info, void* context, uint64_t pc) {
  if (options.jvm_handler == nullptr || !In(options.safefetch, pc)) return false;
  int32_t presented = 0;
  if (slot.thread_state != nullptr) {
    presented = *slot.thread_state;
    *slot.thread_state = slot.true_state;
  }
  int resumed = options.jvm_handler(signal, info, context, 0);
  if (slot.thread_state != nullptr) *slot.thread_state = presented;
  return resumed != 0;
}

// Records the fault and the native calls that led to it.
void RecordFault(GuardSlot& slot, Ending ending, int signal, const siginfo_t* info,
                 const ucontext_t& context, const char* failed_check = "") {
  Fault& fault = slot.fault;
  fault.signal = signal;
  fault.code = info->si_code;
  fault.address = ending == Ending::kCrashed ? reinterpret_cast<uint64_t>(info->si_addr) : 0;
  fault.registers = ReadContext(context);
  std::strncpy(fault.failed_check, failed_check, sizeof fault.failed_check - 1);
  fault.doubtful = ending == Ending::kCrashed && Doubtful(signal, *info, fault.registers.pc);
  fault.lasting_calls = 0;
  fault.looping = 0;
  fault.looping_returns = 0;
  fault.native[0] = fault.registers.pc;
  fault.native_count = 1;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  fault.native_count = NativeChain(fault.registers.pc, fault.registers.fp, fault.registers.sp,
                                   slot.stack_end, fault.native);
}

// Once a protection has left a handler by a jump, no signal stack is in force any more.
void KeepSignalStack(GuardSlot& slot, const ucontext_t& context) {
  if (slot.protected_faults == 0) slot.signal_stack = context.uc_stack;
}

// What is to be known of the interrupted call before anything that may fault.
void BeginLeaving(GuardSlot& slot, Ending ending, const ucontext_t& context) {
  slot.leaving = 1;
  KeepSignalStack(slot, context);
  slot.inside_unsafe_call = slot.unsafe_depth != 0;
  slot.ending = ending;
}

// As the kernel does when a handler returns.
void RearmSignalStack(const GuardSlot& slot) {
  if ((slot.signal_stack.ss_flags & kDisarmedInHandlers) != 0)
    sigaltstack(&slot.signal_stack, nullptr);
}

[[noreturn]] void LeaveCall(GuardSlot& slot, Ending ending, int signal, siginfo_t* info,
                            const ucontext_t& context, const char* failed_check = "") {
  // Following the native chain of a walker that crashed with a wild sp may fault, too. That second
  // fault only leaves the call, with what the first fault has recorded.
  if (slot.leaving == 0) {
    BeginLeaving(slot, ending, context);
    RecordFault(slot, ending, signal, info, context, failed_check);
  }
  slot.inside = 0;
  RearmSignalStack(slot);
  siglongjmp(slot.leave, 1);
}

const GuardOptions::CheckReport* CheckReportAt(uint64_t pc) {
  for (int i = 0; i < options.check_report_count; i++)
    if (options.check_reports[i].entry == pc) return &options.check_reports[i];
  return nullptr;
}

// Removes the traps of all check reports: a JVM that dies calls several of them. False: one stays.
bool LiftCheckReports() {
  bool lifted = true;
  for (int i = 0; i < options.check_report_count; i++)
    lifted &= RewriteCode(options.check_reports[i].entry, options.check_reports[i].original);
  return lifted;
}

// Ends the call as a crash at the place in the walker where the check failed.
[[noreturn]] void LeaveFailedCheck(GuardSlot& slot, const GuardOptions::CheckReport& report,
                                   siginfo_t* info, ucontext_t& context) {
  const auto text = [&](int8_t argument) {
    return argument < 0 ? nullptr : reinterpret_cast<const char*>(Argument(context, argument));
  };
  char what[sizeof Fault::failed_check] = "(";
  Append(BaseName(text(report.file)), what, sizeof what);
  Append(":", what, sizeof what);
  AppendNumber(static_cast<uint32_t>(Argument(context, report.line)), what, sizeof what);
  Append(") ", what, sizeof what);
  Append(text(report.text), what, sizeof what);
  WriteContext(CallerAtEntry(context), context);
  LeaveCall(slot, Ending::kCrashed, SIGABRT, info, context, what);
}

// Handles a trap at the entry of a check report: ends the walker's call, or, if `slot` is null,
// lets the report go on. False if the trap is elsewhere, or cannot be lifted: it would come again
// endlessly.
bool OnCheckReport(GuardSlot* slot, siginfo_t* info, ucontext_t& context) {
  Registers registers = ReadContext(context);
  registers.pc -= kTrapPcAhead;
  const GuardOptions::CheckReport* report = CheckReportAt(registers.pc);
  if (report == nullptr) return false;
  WriteContext(registers, context);
  if (slot != nullptr) LeaveFailedCheck(*slot, *report, info, context);
  return LiftCheckReports();
}

// True for a signal that another process has sent: no fault, wherever it interrupts a thread.
bool IsFromOutside(const siginfo_t& info) {
  const bool sent = info.si_code == SI_USER || info.si_code == SI_TKILL || info.si_code == SI_QUEUE;
  return sent && info.si_pid != getpid();
}

void PassOn(int signal, siginfo_t* info, void* context) {
  const struct sigaction& before = previous[signal];
  if (CallFormerHandler(before, signal, info, context)) return;
  // No handler takes the signal: the default action ends the process, at the same pc.
  sigaction(signal, &before, nullptr);
  // A sent signal or a trap does not recur by itself. Of another process's signal, a parent would
  // not see whose it was: SIGKILL is never a walk's.
  if (IsFromOutside(*info)) raise(SIGKILL);
  if (info->si_code <= 0 || signal == SIGTRAP) raise(signal);
}

// True for the SIGTRAP of a single step. Some virtual machines lose its cause, once in millions of
// steps: then the trap flag tells, unless a trap instruction is before pc.
bool ByStep(int signal, const siginfo_t& info, const ucontext_t& context) {
  constexpr uint64_t kLeastPage = 4096;
  if (signal != SIGTRAP || info.si_code <= 0) return false;
  if (info.si_code == TRAP_TRACE) return true;
  if (!IsSingleStep(context)) return false;
  const uint64_t pc = ReadContext(context).pc;
  if (pc % kLeastPage < kTrapPcAhead) return true;  // the page before may not be readable
  return std::memcmp(reinterpret_cast<const void*>(pc - kTrapPcAhead), &kTrapCode,
                     sizeof kTrapCode) != 0;
}

// True for the SIGTRAP of a trap instruction. A sent SIGTRAP may come with any pc.
bool ByTrapInstruction(int signal, const siginfo_t& info, const ucontext_t& context) {
  return signal == SIGTRAP && info.si_code > 0 && !ByStep(signal, info, context);
}

// The slot of the calling thread, or null. If another thread walks in place of this thread, with
// this thread's thread pointer, then the slot is the other thread's.
GuardSlot* OwnSlot() {
  GuardSlot* slot = current_slot;
  const bool others =
      slot != nullptr && slot->inside != 0 && slot->tid.load() != syscall(SYS_gettid);
  return others ? nullptr : slot;
}

void TellOfFault(int signal, siginfo_t* info, void* raw_context) {
  if (options.on_fault != nullptr && signal == SIGSEGV)
    options.on_fault(info, static_cast<ucontext_t*>(raw_context));
}

void OnFault(int signal, siginfo_t* info, void* raw_context) {
  LetSystemCalls();
  TellOfFault(signal, info, raw_context);
  int saved_errno = errno;
  GuardSlot* slot = OwnSlot();
  const auto& interrupted = *static_cast<ucontext_t*>(raw_context);
  if (options.on_step != nullptr && ByStep(signal, *info, interrupted) &&
      options.on_step(info, static_cast<ucontext_t*>(raw_context))) {
    errno = saved_errno;
    return;
  }
  if (ByTrapInstruction(signal, *info, interrupted)) {
    const bool walking = slot != nullptr && slot->inside != 0 && slot->leaving == 0;
    auto* context = static_cast<ucontext_t*>(raw_context);
    if ((options.on_trap != nullptr && options.on_trap(context, walking)) ||
        OnCheckReport(walking ? slot : nullptr, info, *context)) {
      errno = saved_errno;
      return;
    }
  }
  if (slot == nullptr || slot->inside == 0 || IsFromOutside(*info)) {
    PassOn(signal, info, raw_context);
    errno = saved_errno;
    return;
  }
  auto* context = static_cast<ucontext_t*>(raw_context);
  if (JvmResumes(*slot, signal, info, raw_context, ReadContext(*context).pc)) {
    errno = saved_errno;
    return;
  }
  LeaveCall(*slot, Ending::kCrashed, signal, info, *context);
}

// What ends a walk that faults: the walker's protection, or the JVM's; null: the guard alone.
SignalAction Protection(int signal) {
  if (walkers_protection != nullptr && signal == SIGSEGV) return walkers_protection;
  if (!options.jvm_ends_walks) return nullptr;
  const struct sigaction& before = previous[signal];
  return (before.sa_flags & SA_SIGINFO) != 0 ? before.sa_sigaction : nullptr;
}

// Lets the walker's own protection have a fault first. Where the protection ends the walk, this
// function does not return. What the protection does not handle, it passes on to OnFault.
void OnProtectedFault(int signal, siginfo_t* info, void* raw_context) {
  LetSystemCalls();
  TellOfFault(signal, info, raw_context);
  GuardSlot* slot = OwnSlot();
  const SignalAction protection = Protection(signal);
  if (slot == nullptr || slot->inside == 0 || slot->leaving != 0 || protection == nullptr ||
      slot->protected_faults == kMostNestedFaults || IsFromOutside(*info)) {
    OnFault(signal, info, raw_context);
    return;
  }
  const auto& context = *static_cast<ucontext_t*>(raw_context);
  if (slot->protected_faults == 0) RecordFault(*slot, Ending::kCrashed, signal, info, context);
  KeepSignalStack(*slot, context);
  slot->protected_faults = slot->protected_faults + 1;
  protection(signal, info, raw_context);
  // A read that may fault, and goes on elsewhere: as SafeFetch.
  slot->protected_faults = slot->protected_faults - 1;
}

// The last look at a hanging call ends it, and so does a fault while its calls are followed.
void LookAt(GuardSlot& slot, int signal, siginfo_t* info, const ucontext_t& context) {
  const Fault before = slot.fault;  // of the walker's own protection
  BeginLeaving(slot, Ending::kHung, context);
  RecordFault(slot, Ending::kHung, signal, info, context);
  const int looks = slot.looks.load();
  GuardSlot::Look& look = slot.looked[looks];
  look.native_count = slot.fault.native_count;
  std::copy_n(slot.fault.native, look.native_count, look.native);
  if (looks + 1 >= slot.wanted) {
    FindLoop({slot.looked, static_cast<size_t>(looks) + 1}, slot.fault);
    LeaveCall(slot, Ending::kHung, signal, info, context);
  }
  slot.fault = before;
  slot.leaving = 0;
  slot.looks.store(looks + 1);
}

void OnHang(int signal, siginfo_t* info, void* raw_context) {
  LetSystemCalls();
  const int saved_errno = errno;
  GuardSlot* slot = current_slot;
  // The signal may have come while another of the thread's calls, nested in the slot's, was under
  // way.
  if (slot == nullptr || slot->inside == 0 || slot->leaving != 0 ||
      info->si_value.sival_ptr != slot || slot->calls.load() != slot->hung_call.load()) {
    JudgeHangsAnew();
    errno = saved_errno;
    return;
  }
  // If HotSpot's error reporting has replaced the handlers, the JVM is dying, which is not a hang.
  if (!GuardInPlace()) return;
  LookAt(*slot, signal, info, *static_cast<ucontext_t*>(raw_context));
  errno = saved_errno;
}

SignalAction HandlerOf(int signal) {
  const bool is_protected = options.jvm_ends_walks
                                ? signal != SIGTRAP
                                : walkers_protection != nullptr && signal == SIGSEGV;
  return is_protected ? OnProtectedFault : OnFault;
}

int FlagsFor(int signal) {
  const bool walkers = signal == SIGSEGV || signal == SIGTRAP;
  return SA_SIGINFO | SA_NODEFER | SA_RESTART | (walkers ? HandlerStackFlag() : SA_ONSTACK);
}

}  // namespace

GuardSlot* CurrentGuardSlot() { return current_slot; }

uint64_t ThreadSignalMask() {
  uint64_t mask = 0;
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, &mask, sizeof mask);
  return mask;
}

int NativeChain(uint64_t pc, uint64_t fp, uint64_t sp, uint64_t end, uint64_t* pcs) {
  int count = 0;
  pcs[count++] = pc;
  uint64_t low = sp;
  while (count < kMaxNativeFrames && fp >= low && fp <= end - sizeof(FrameRecord) && fp % 8 == 0) {
    const auto* record = reinterpret_cast<const FrameRecord*>(fp);
    pcs[count++] = record->return_pc;
    low = fp + sizeof(FrameRecord);
    fp = record->caller_fp;
  }
  return count;
}

Status InstallGuard(const GuardOptions& wanted) {
  options = wanted;
  struct sigaction action {};
  sigemptyset(&action.sa_mask);
  for (int signal : kFaultSignals) {
    action.sa_sigaction = HandlerOf(signal);
    action.sa_flags = FlagsFor(signal);
    if (signal == SIGTRAP)
      for (int other = 1; other < NSIG; other++)
        if ((options.blocked_in_trap >> (other - 1) & 1) != 0) sigaddset(&action.sa_mask, other);
    if (sigaction(signal, &action, &previous[signal]) != 0)
      return ToolFailed(std::string("cannot install a handler for ") + strsignal(signal));
    sigemptyset(&action.sa_mask);
  }
  action.sa_sigaction = OnHang;
  action.sa_flags = FlagsFor(HangSignal());
  if (sigaction(HangSignal(), &action, nullptr) != 0)
    return ToolFailed("cannot install the hang detector's signal handler");
  return StartWatchdog(options.hang_limit_ms);
}

int HandlerStackFlag() { return walkers_protection == nullptr ? SA_ONSTACK : 0; }

Status AdoptWalkersProtection(FunctionRef<Status()> initialise) {
  struct sigaction segv {
  }, trap{}, chained{}, walkers{};
  if (sigaction(SIGSEGV, nullptr, &segv) != 0 || sigaction(SIGTRAP, nullptr, &trap) != 0)
    return ToolFailed("cannot read the handlers of SIGSEGV and SIGTRAP");
  const bool in_place = GuardInPlace();
  if (!in_place) previous[SIGSEGV] = segv;
  // The walker's handler passes on what it does not handle to the handler that it finds.
  chained.sa_sigaction = OnFault;
  chained.sa_flags = FlagsFor(SIGSEGV);
  sigaction(SIGSEGV, &chained, nullptr);
  Status status = initialise();
  sigaction(SIGSEGV, nullptr, &walkers);
  if ((walkers.sa_flags & SA_SIGINFO) != 0 && walkers.sa_sigaction != OnFault)
    walkers_protection = walkers.sa_sigaction;
  if (in_place) {
    segv.sa_sigaction = HandlerOf(SIGSEGV);
    segv.sa_flags = FlagsFor(SIGSEGV);
    trap.sa_flags = FlagsFor(SIGTRAP);
  }
  sigaction(SIGSEGV, &segv, nullptr);
  sigaction(SIGTRAP, &trap, nullptr);
  return status;
}

bool GuardInPlace() {
  struct sigaction now {};
  return sigaction(SIGSEGV, nullptr, &now) == 0 && now.sa_sigaction == HandlerOf(SIGSEGV);
}

stack_t NewSignalStack(int flags) {
  stack_t stack{};
  stack.ss_flags = SS_DISABLE;
  void* memory = mmap(nullptr, kGuardPageBytes + kAltStackBytes, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return stack;
  void* begin = static_cast<char*>(memory) + kGuardPageBytes;
  if (mprotect(begin, kAltStackBytes, PROT_READ | PROT_WRITE) != 0) {
    UnmapSignalStack(begin);
    return stack;
  }
  stack.ss_flags = flags;
  stack.ss_sp = begin;
  stack.ss_size = kAltStackBytes;
  return stack;
}

void GiveSignalStack(int flags) {
  const stack_t stack = NewSignalStack(flags);
  if ((stack.ss_flags & SS_DISABLE) != 0) return;
  if (sigaltstack(&stack, &stack_before) == 0)
    own_stack = stack.ss_sp;
  else
    UnmapSignalStack(stack.ss_sp);
}

GuardSlot* SetCurrentGuardSlot(GuardSlot* slot, int tid) {
  GuardSlot* before = current_slot;
  if (slot != nullptr) slot->tid.store(tid != 0 ? tid : static_cast<int>(syscall(SYS_gettid)));
  current_slot = slot;
  return before;
}

bool EnterGuardedThread(GuardSlot& slot) {
  GiveSignalStack();
  const bool watched_now = WatchGuardSlot(slot);
  SetCurrentGuardSlot(&slot);
  return watched_now;
}

void LeaveGuardedThread() {
  UnwatchSystemCalls();
  GuardSlot* slot = SetCurrentGuardSlot(nullptr);
  if (slot != nullptr) UnwatchGuardSlot(*slot);
  // Without own_stack, this thread's signal stack is another library's.
  if (own_stack == nullptr || sigaltstack(&stack_before, nullptr) != 0) return;
  UnmapSignalStack(own_stack);
  own_stack = nullptr;
}

Ending GuardedCall(GuardSlot& slot, FunctionRef<void()> body) {
  // No locked instruction: nobody else writes it.
  slot.calls.store(slot.calls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  slot.may_have_called_kernel = true;
  slot.unsafe_call.function = nullptr;
  slot.unsafe_depth = 0;
  slot.leaving = 0;
  slot.protected_faults = 0;
  slot.stack_end = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  if (sigsetjmp(slot.leave, 0) == 0) {
    slot.inside = 1;
    SystemCallsBegin(slot.tid.load(std::memory_order_relaxed));
    body();
    slot.may_have_called_kernel = SystemCallsEnd();
    slot.inside = 0;
    if (slot.protected_faults != 0) RearmSignalStack(slot);  // a handler was left by a jump
    return Ending::kReturned;
  }
  return slot.ending;
}

}  // namespace walkhammer
