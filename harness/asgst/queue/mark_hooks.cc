// SPDX-License-Identifier: Apache-2.0
// When marks are reached: see frame_marks.h. Callers of the hooked functions, in JDK 17 to 28: the
// poll of a return and an exception in compiled code (after_unwind); the interpreter's return and
// exception, the return of a native method, deoptimisation, and kStayingCallers (before_unwind).
#include <cerrno>
#include <mutex>
#include <shared_mutex>
#include <string>

#include "harness/asgst/api/iterator.h"
#include "harness/asgst/include/asgst_hooks.h"
#include "harness/asgst/process/jvm_hooks.h"
#include "harness/asgst/process/threads.h"
#include "harness/asgst/queue/frame_marks.h"
#include "harness/asgst/queue/own_polls.h"
#include "harness/asgst/queue/poll_words.h"
#include "harness/asgst/queue/queue_service.h"

namespace walkhammer::asgst {
namespace {

constexpr char kBeforeUnwind[] = "_ZN17StackWatermarkSet13before_unwindEP10JavaThread";
constexpr char kAfterUnwind[] = "_ZN17StackWatermarkSet12after_unwindEP10JavaThread";

// Callers of before_unwind whose newest frame goes on: on-stack replacement, and JVMTI's single
// steps.
const std::vector<std::string> kStayingCallers = {
    "_ZN13SharedRuntime19OSR_migration_beginEP10JavaThread",
    "_ZN18InterpreterRuntime12at_safepointEP10JavaThread"};

HookedFunction before_unwind = nullptr, after_unwind = nullptr;
struct {
  uint64_t begin = 0, end = 0;
} staying[2];

// The Java frame that goes on when another one is left. pc 0: there is none, as the thread's oldest
// Java frame is left.
struct NextToRun {
  uint64_t pc = 0, sp = 0, fp = 0, place = 0;
};

// The current thread leaves a frame, its newest, or has just left it. False: not known.
// `leaving`: the newest Java frame is the one that is left, if the thread has called the JVM from
// it directly. A stub in between is that of a frame that is deoptimised, whose method goes on.
bool FindNextToRun(const WalkStart& start, const LiveMemory& memory, bool leaving,
                   NextToRun& next) {
  JavaWalk walk(*Live(), memory, start);
  if (walk.Begin() != WalkStatus::kFound) return false;
  uint64_t called_at = 0;
  memory.ReadWord(start.thread + Live()->jvm.anchor + Live()->jvm.last_sp, called_at);
  JavaFrame frame;
  bool found = walk.Next(frame);
  if (leaving && found && frame.sp == called_at)
    while ((found = walk.Next(frame)) && frame.sp == called_at) {
    }
  if (!found && walk.broken()) return false;
  next = found ? NextToRun{frame.pc, frame.sp, frame.fp, PlaceOf(frame)} : NextToRun{};
  return true;
}

bool IsLeft(const ASGST_FrameMark& mark, uint64_t limit, const NextToRun& next, uint64_t runner) {
  return limit != 0 && (next.pc == 0 || next.sp > limit || mark.runner.load() != runner);
}

int StateOf(const ASGST_FrameMark& mark, const NextToRun& next, uint64_t runner) {
  const uint64_t pc = mark.caller_pc.load();
  if (mark.runner.load() != runner) return ASGST_MARK_PASSED;
  if (pc == 0) return ASGST_MARK_UNTOLD;
  const bool at_caller = next.pc == 0 ? pc == ASGST_FrameMark::kNoCaller
                                      : next.pc == pc && next.place == mark.caller_place.load();
  return at_caller ? ASGST_MARK_LEFT : ASGST_MARK_PASSED;
}

// A marked frame that was deoptimised has made room for interpreted ones, while its caller stands
// where it stood. Then marks the oldest of them, unless the mark is moved in between, and returns
// true.
bool FollowDeoptimised(ASGST_FrameMark& mark, uint64_t limit, const WalkStart& start,
                       const LiveMemory& memory, const NextToRun& next) {
  JavaWalk walk(*Live(), memory, start);
  if (next.pc == 0 || walk.Begin() != WalkStatus::kFound) return false;
  const uint64_t caller_pc = mark.caller_pc.load(), caller = mark.caller_place.load();
  JavaFrame frame, younger{};
  bool found = false;
  while ((found = walk.Next(frame)) && (frame.pc != caller_pc || PlaceOf(frame) != caller))
    younger = frame;
  if (found ? younger.sp < next.sp : walk.broken() || caller_pc != ASGST_FrameMark::kNoCaller)
    return false;
  mark.limit.compare_exchange_strong(limit, PlaceOf(younger));
  return true;
}

// From now on the mark marks no frame, unless its handler, or a signal handler, moves it. Calls
// nobody if the mark, which was at `limit`, has been moved in between.
void CallHandler(ASGST_FrameMark& mark, uint64_t limit, const WalkStart& start,
                 const LiveMemory& memory, const NextToRun& next, int state) {
  uint64_t sp = mark.sp.load();
  if (!mark.limit.compare_exchange_strong(limit, 0)) return;
  Located from;
  if (next.pc != 0) {
    from.then = Located::Then::kCaller;
    from.caller = {next.pc, next.sp, next.fp, 0};
  }
  ASGST_Iterator iterator(start, memory, mark.options, ASGST_Iterator::From::kElement, &from);
  iterator.mark_state = state;
  iterator.Rewind();
  mark.fun(&mark, &iterator, mark.argument);
  if (mark.limit.load() == 0) mark.sp.compare_exchange_strong(sp, 0);
}

void Leave(ASGST_FrameMark& mark, uint64_t limit, const WalkStart& start, const LiveMemory& memory,
           const NextToRun& next, uint64_t runner) {
  const int state = StateOf(mark, next, runner);
  const bool same_runner = mark.runner.load() == runner;
  if (state == ASGST_MARK_PASSED && same_runner &&
      FollowDeoptimised(mark, limit, start, memory, next))
    return;
  CallHandler(mark, limit, start, memory, next, state);
}

void CallHandlers(uint64_t thread, bool leaving) {
  const WalkStart start = StartOf(nullptr, thread);
  const LiveMemory memory = MemoryOf(start);
  NextToRun next;
  if (!FindNextToRun(start, memory, leaving, next)) return;
  const uint64_t runner = RunnerOf(thread);
  const std::shared_lock lock(ProcessingMutex());
  SetProcessing(true);
  for (ASGST_FrameMark* mark = FirstMark(); mark != nullptr; mark = mark->next) {
    const uint64_t limit = mark->limit.load();
    if (!IsLiveMarkOf(*mark, thread) || !IsLeft(*mark, limit, next, runner)) continue;
    // No event has reported the end of the mark's thread, and another one has its JavaThread.
    if (mark->os_thread != OsThreadOf(thread))
      RetireMark(mark);
    else
      Leave(*mark, limit, start, memory, next, runner);
  }
  SetProcessing(false);
  LowerForMarks(thread);
}

bool HasMarks(uint64_t thread) {
  if (!MayHaveMarks(thread)) return false;
  for (const ASGST_FrameMark* mark = FirstMark(); mark != nullptr; mark = mark->next)
    if (IsLiveMarkOf(*mark, thread) && mark->limit.load() != 0) return true;
  return false;
}

// The current thread is in the JVM, or on its way out of Java code; its anchor is set.
void OnUnwind(uint64_t thread, bool leaving) {
  if (!HasMarks(thread) || IsProcessing() || !HasOwnPolls() || thread != CurrentJavaThread())
    return;
  const int error_number = errno;  // the JVM, or the code that it returns to, may look at it yet
  // Else the marks are reached in an older frame, with more room.
  if (IsRoomOnStack(thread)) CallHandlers(thread, leaving);
  errno = error_number;
}

// The function polls: handlers of queues may mark the frame that is left, which polls no more.
void OnBeforeUnwind(uint64_t thread, uint64_t second) {
  const auto caller = reinterpret_cast<uint64_t>(__builtin_return_address(0));
  bool leaving = true;
  for (const auto& code : staying) leaving &= caller < code.begin || caller >= code.end;
  OnUnwind(thread, leaving);
  before_unwind(thread, second);
  OnUnwind(thread, leaving);
}

void OnAfterUnwind(uint64_t thread, uint64_t second) {
  OnUnwind(thread, false);
  after_unwind(thread, second);
}

}  // namespace

Status StartMarks() {
  static auto* mutex = new std::mutex;
  static bool started = false;
  const std::lock_guard lock(*mutex);
  if (started) return Ok();
  size_t found = 0;
  for (const ElfFunction& function : FunctionsOfJvm(kStayingCallers))
    if (found < std::size(staying))
      staying[found++] = {function.address, function.address + function.size};
  RETURN_IF_ERROR(HookJvm({{kBeforeUnwind, OnBeforeUnwind, &before_unwind},
                           {kAfterUnwind, OnAfterUnwind, &after_unwind}},
                          ASGST_HOOKS_MARKS));
  started = true;
  return Ok();
}

bool CanMark() {
  static const bool can = [] {
    std::vector<std::string> names = NamesForPolls();
    names.insert(names.end(), {kBeforeUnwind, kAfterUnwind});
    return CanHook(names);
  }();
  return can;
}

}  // namespace walkhammer::asgst
