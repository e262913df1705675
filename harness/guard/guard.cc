// SPDX-License-Identifier: Apache-2.0
#include "harness/guard/guard.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <span>

#include "harness/base/clock.h"
#include "harness/guard/arch.h"
#include "harness/guard/code_patch.h"
#include "harness/process/service_thread.h"

namespace walkhammer {
namespace {

constexpr int kFaultSignals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
constexpr size_t kAltStackBytes = 256 * 1024;
constexpr size_t kGuardPageBytes = 64 * 1024;  // below it; the largest page of either architecture
constexpr int kWallLimitFactor = 20;

void OnFault(int signal, siginfo_t* info, void* raw_context);

GuardOptions options;
struct sigaction previous[NSIG];
std::atomic<GuardSlot*> watched[kMaxGuardSlots];

// initial-exec: a plain thread_local may allocate at its first touch inside a handler.
__attribute__((tls_model("initial-exec"))) thread_local GuardSlot* current_slot = nullptr;
// Of GiveSignalStack, on this thread.
__attribute__((tls_model("initial-exec"))) thread_local void* own_stack = nullptr;
__attribute__((tls_model("initial-exec"))) thread_local stack_t stack_before;

bool In(std::span<const GuardOptions::Range> ranges, uint64_t pc) {
  for (const auto& range : ranges)
    if (pc >= range.begin && pc < range.end) return true;
  return false;
}

// SafeFetch reads: neither a sent signal nor a jump to nowhere is its own.
bool Doubtful(int signal, const siginfo_t& info, uint64_t pc) {
  return (signal == SIGSEGV || signal == SIGBUS) && info.si_code > 0 &&
         reinterpret_cast<uint64_t>(info.si_addr) != pc && In(options.doubtful, pc);
}

// HotSpot faults on purpose in SafeFetch and resumes elsewhere. It is asked only for those pcs and
// in the thread's true state: presented as in_Java it takes a fault in the polling page for a
// safepoint poll, and one in the guard pages for a Java stack overflow.
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

[[noreturn]] void LeaveCall(GuardSlot& slot, Ending ending, int signal, siginfo_t* info,
                            const ucontext_t& context, const char* failed_check = "") {
  // Following the chain of a walker that crashed with a wild sp may fault in its turn: that second
  // fault only leaves, with what the first one has noted.
  if (slot.leaving == 0) {
    slot.leaving = 1;
    slot.inside_unsafe_call = slot.unsafe_depth != 0;
    slot.ending = ending;
    Fault& fault = slot.fault;
    fault.signal = signal;
    fault.code = info->si_code;
    fault.address = ending == Ending::kCrashed ? reinterpret_cast<uint64_t>(info->si_addr) : 0;
    fault.registers = ReadContext(context);
    std::strncpy(fault.failed_check, failed_check, sizeof fault.failed_check - 1);
    fault.doubtful = ending == Ending::kCrashed && Doubtful(signal, *info, fault.registers.pc);
    fault.native[0] = fault.registers.pc;
    fault.native_count = 1;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    fault.native_count = NativeChain(fault.registers.pc, fault.registers.fp, fault.registers.sp,
                                     slot.stack_end, fault.native);
  }
  slot.inside = 0;
  siglongjmp(slot.leave, 1);
}

// The first `size` - 1 bytes of what is already there and `text`; null stands for nothing.
void Append(const char* text, char* to, size_t size) {
  size_t used = strnlen(to, size - 1);
  for (; text != nullptr && *text != 0 && used < size - 1; text++) to[used++] = *text;
  to[used] = 0;
}

void AppendNumber(uint32_t number, char* to, size_t size) {
  char digits[11] = {};
  char* first = digits + sizeof digits - 1;
  do *--first = static_cast<char>('0' + number % 10);
  while ((number /= 10) != 0);
  Append(first, to, size);
}

const char* BaseName(const char* path) {
  const char* slash = path == nullptr ? nullptr : std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

const GuardOptions::CheckReport* CheckReportAt(uint64_t pc) {
  for (int i = 0; i < options.check_report_count; i++)
    if (options.check_reports[i].entry == pc) return &options.check_reports[i];
  return nullptr;
}

// Whoever dies goes through several of them.
void LiftCheckReports() {
  for (int i = 0; i < options.check_report_count; i++)
    WriteCode(options.check_reports[i].entry, options.check_reports[i].original);
}

// The walker stands where it was found wrong.
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

// A trap at a report: ends the walker's call; without one (`slot` is null) the report goes on.
bool OnCheckReport(GuardSlot* slot, siginfo_t* info, ucontext_t& context) {
  Registers registers = ReadContext(context);
  registers.pc -= kTrapPcAhead;
  const GuardOptions::CheckReport* report = CheckReportAt(registers.pc);
  if (report == nullptr) return false;
  WriteContext(registers, context);
  if (slot != nullptr) LeaveFailedCheck(*slot, *report, info, context);
  LiftCheckReports();
  return true;
}

void PassOn(int signal, siginfo_t* info, void* context) {
  const struct sigaction& before = previous[signal];
  // As the kernel would have called it: HotSpot's handlers run with all signals blocked. The return
  // from our own handler takes it back. SIGTRAP stays open for what runs with traps in it.
  sigset_t mask = before.sa_mask;
  if ((before.sa_flags & SA_NODEFER) == 0) sigaddset(&mask, signal);
  sigdelset(&mask, SIGTRAP);
  pthread_sigmask(SIG_BLOCK, &mask, nullptr);
  if ((before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction != nullptr) {
    before.sa_sigaction(signal, info, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(signal);
  } else {
    // Not ours and nobody else's: let the default action end the process at the same pc.
    sigaction(signal, &before, nullptr);
    // A sent signal and a trap do not come again of themselves.
    if (info->si_code <= 0 || signal == SIGTRAP) raise(signal);
  }
}

// A trap instruction's signal, not a sent one, nor a single step: those may come with any pc.
bool ByTrapInstruction(int signal, const siginfo_t& info) {
  return signal == SIGTRAP && info.si_code > 0 && info.si_code != TRAP_TRACE;
}

void OnFault(int signal, siginfo_t* info, void* raw_context) {
  int saved_errno = errno;
  GuardSlot* slot = current_slot;
  // Another thread walks in this one's stead and wears its thread pointer: the slot is that one's.
  if (slot != nullptr && slot->inside != 0 && slot->tid.load() != syscall(SYS_gettid))
    slot = nullptr;
  if (options.on_step != nullptr && signal == SIGTRAP && info->si_code == TRAP_TRACE &&
      options.on_step(info, static_cast<ucontext_t*>(raw_context))) {
    errno = saved_errno;
    return;
  }
  if (ByTrapInstruction(signal, *info)) {
    const bool walking = slot != nullptr && slot->inside != 0 && slot->leaving == 0;
    auto* context = static_cast<ucontext_t*>(raw_context);
    if ((options.on_trap != nullptr && options.on_trap(context, walking)) ||
        OnCheckReport(walking ? slot : nullptr, info, *context)) {
      errno = saved_errno;
      return;
    }
  }
  if (slot == nullptr || slot->inside == 0) {
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

void OnHang(int signal, siginfo_t* info, void* raw_context) {
  GuardSlot* slot = current_slot;
  if (slot == nullptr || slot->inside == 0 || slot->leaving != 0 ||
      slot->calls.load() != slot->hung_call.load())
    return;
  // HotSpot's error reporting has taken the signals over: the JVM is dying, which is no hang.
  if (!GuardInPlace()) return;
  LeaveCall(*slot, Ending::kHung, signal, info, *static_cast<ucontext_t*>(raw_context));
}

uint64_t Milliseconds(const timespec& t) {
  return static_cast<uint64_t>(t.tv_sec) * 1000 + static_cast<uint64_t>(t.tv_nsec) / 1000000;
}

void WatchSlot(GuardSlot& slot) {
  if (slot.inside == 0) return;
  const uint64_t call = slot.calls.load();
  const int tid = slot.tid.load();
  timespec cpu{}, wall{};
  if (clock_gettime(ThreadCpuClock(tid), &cpu) != 0) return;
  clock_gettime(CLOCK_MONOTONIC, &wall);
  if (call != slot.seen_call) {
    slot.seen_call = call;
    slot.hung_call.store(0);
    slot.cpu_at = Milliseconds(cpu);
    slot.wall_at = Milliseconds(wall);
    return;
  }
  const auto limit = static_cast<uint64_t>(options.hang_limit_ms);
  const bool hung = Milliseconds(cpu) - slot.cpu_at >= limit ||
                    Milliseconds(wall) - slot.wall_at >= limit * kWallLimitFactor;
  // Once a call: this is a queued signal, and every one of them would run its handler.
  if (hung && slot.calls.load() == call && slot.hung_call.exchange(call) != call)
    syscall(SYS_tgkill, getpid(), tid, HangSignal());
}

void* Watchdog(void*) {
  timespec pause{0, options.hang_limit_ms * 100000L};  // a tenth of the limit
  if (pause.tv_nsec > 50000000) pause.tv_nsec = 50000000;
  for (;;) {
    nanosleep(&pause, nullptr);
    for (auto& slot : watched)
      if (GuardSlot* here = slot.load(); here != nullptr) WatchSlot(*here);
  }
  return nullptr;
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
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK | SA_RESTART;
  sigemptyset(&action.sa_mask);
  action.sa_sigaction = OnFault;
  for (int signal : kFaultSignals) {
    if (signal == SIGTRAP)
      for (int other = 1; other < NSIG; other++)
        if ((options.blocked_in_trap >> (other - 1) & 1) != 0) sigaddset(&action.sa_mask, other);
    if (sigaction(signal, &action, &previous[signal]) != 0)
      return ToolFailed(std::string("cannot install a handler for ") + strsignal(signal));
    sigemptyset(&action.sa_mask);
  }
  action.sa_sigaction = OnHang;
  if (sigaction(HangSignal(), &action, nullptr) != 0)
    return ToolFailed("cannot install the hang detector's signal handler");
  return StartServiceThread("wh-watchdog", Watchdog);
}

int HangSignal() { return SIGRTMIN + 7; }

bool GuardInPlace() {
  struct sigaction now {};
  return sigaction(SIGSEGV, nullptr, &now) == 0 && now.sa_sigaction == OnFault;
}

stack_t NewSignalStack() {
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  void* memory = mmap(nullptr, kGuardPageBytes + kAltStackBytes, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return none;
  stack_t alternate{};
  alternate.ss_sp = static_cast<char*>(memory) + kGuardPageBytes;
  alternate.ss_size = kAltStackBytes;
  if (mprotect(alternate.ss_sp, kAltStackBytes, PROT_READ | PROT_WRITE) != 0) return none;
  return alternate;
}

void GiveSignalStack() {
  const stack_t alternate = NewSignalStack();
  if ((alternate.ss_flags & SS_DISABLE) == 0 && sigaltstack(&alternate, &stack_before) == 0)
    own_stack = alternate.ss_sp;
}

void WatchGuardSlot(GuardSlot& slot) {
  // Numbers of calls differ between slots, so one number names a call.
  static std::atomic<uint64_t> slots{1};
  slot.calls.store(slots.fetch_add(1) << 40);
  for (auto& place : watched) {
    GuardSlot* none = nullptr;
    if (place.load() == &slot || place.compare_exchange_strong(none, &slot)) return;
  }
}

GuardSlot* SetCurrentGuardSlot(GuardSlot* slot, int tid) {
  GuardSlot* before = current_slot;
  if (slot != nullptr) slot->tid.store(tid != 0 ? tid : static_cast<int>(syscall(SYS_gettid)));
  current_slot = slot;
  return before;
}

void EnterGuardedThread(GuardSlot& slot) {
  GiveSignalStack();
  WatchGuardSlot(slot);
  SetCurrentGuardSlot(&slot);
}

void LeaveGuardedThread() {
  GuardSlot* slot = SetCurrentGuardSlot(nullptr);
  if (slot != nullptr)
    for (auto& place : watched) {
      GuardSlot* mine = slot;
      place.compare_exchange_strong(mine, nullptr);
    }
  // Another library's stack on this thread is none of ours.
  if (own_stack == nullptr || sigaltstack(&stack_before, nullptr) != 0) return;
  munmap(static_cast<char*>(own_stack) - kGuardPageBytes, kGuardPageBytes + kAltStackBytes);
  own_stack = nullptr;
}

Ending GuardedCall(GuardSlot& slot, void (*body)(void*), void* argument) {
  slot.calls.fetch_add(1, std::memory_order_relaxed);
  slot.unsafe_call.function = nullptr;
  slot.unsafe_depth = 0;
  slot.leaving = 0;
  slot.stack_end = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  if (sigsetjmp(slot.leave, 0) == 0) {
    slot.inside = 1;
    body(argument);
    slot.inside = 0;
    return Ending::kReturned;
  }
  return slot.ending;
}

}  // namespace walkhammer
