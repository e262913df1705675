// SPDX-License-Identifier: Apache-2.0
// The frame marks: see asgst_iterator.h.
#include "harness/asgst/queue/frame_marks.h"

#include <deque>
#include <mutex>
#include <new>
#include <shared_mutex>

#include "harness/asgst/api/iterator.h"
#include "harness/asgst/process/attach.h"
#include "harness/asgst/process/self_attach.h"
#include "harness/asgst/process/threads.h"
#include "harness/asgst/queue/own_polls.h"
#include "harness/asgst/queue/poll_words.h"
#include "harness/asgst/queue/queue_service.h"
#include "harness/base/hash.h"

namespace walkhammer::asgst {
namespace {

// So many marks stay unused before the oldest of them is reused.
constexpr size_t kRestedMarks = 256;

std::atomic<ASGST_FrameMark*> first_mark{nullptr};

// How many live marks the threads have whose JavaThreads share a place: most threads have none, and
// need not look through the list at each poll.
constexpr int kPlaceBits = 10;
std::atomic<uint32_t> live_marks[1 << kPlaceBits];
std::atomic<uint32_t>& LiveMarksAt(uint64_t thread) {
  return live_marks[walkhammer::PlaceOf(thread, kPlaceBits)];
}

// Never destroyed: threads may run while the process ends.
struct UnusedMarks {
  std::mutex mutex;  // held for moments, never while a handler runs
  std::deque<ASGST_FrameMark*> marks;
};
UnusedMarks& TheUnusedMarks() {
  static auto* unused = new UnusedMarks;
  return *unused;
}

// Call with the mutex held.
ASGST_FrameMark* TakeMark(UnusedMarks& unused) {
  if (unused.marks.size() >= kRestedMarks) {
    ASGST_FrameMark* mark = unused.marks.front();
    unused.marks.pop_front();
    return mark;
  }
  auto* mark = new (std::nothrow) ASGST_FrameMark;
  if (mark == nullptr) return nullptr;
  mark->next = first_mark.load();
  first_mark.store(mark);
  return mark;
}

// A marked frame, and where its caller stands.
struct MarkedFrame {
  uint64_t limit, caller_place, caller_pc;
};

// The frame of the thread that this stack pointer is in, from the thread's anchor on. Without an
// anchor, as in a signal handler that has interrupted Java code, the stack pointer is all that is
// known. It need not be the frame's own: that of an interpreted frame rises and falls, and a sample
// may have found a compiled frame half built.
MarkedFrame FindMarked(uint64_t thread, uint64_t sp) {
  const MarkedFrame untold = {sp, 0, 0};
  WalkStart start;
  if (!StartOfOther(nullptr, thread, start)) return untold;
  const LiveMemory memory = thread == CurrentJavaThread() ? MemoryOf(start) : LiveMemory();
  JavaWalk walk(*Live(), memory, start);
  JavaFrame marked, next;
  if (walk.Begin() != WalkStatus::kFound || !walk.Next(marked)) return untold;
  const bool has_popped = marked.code == 0 && sp < marked.fp;
  if (marked.sp > sp && !has_popped) return untold;
  bool has_next = false;
  while ((has_next = walk.Next(next)) && (next.sp <= sp || next.sp == marked.sp)) marked = next;
  if (has_next) return {PlaceOf(marked), PlaceOf(next), next.pc};
  if (walk.broken() || sp > PlaceOf(marked)) return untold;
  return {PlaceOf(marked), 0, ASGST_FrameMark::kNoCaller};
}

// In a return from the marked frame, HotSpot compares the place of the return address, which is at
// least `limit`, or the frame pointer, which is at least `limit`, with the word. In a return to the
// marked frame, the first is at most `limit` - 8, and the second is lower.
// A limit outside of the thread's stack could be lower than what arms the poll.
void LowerTo(uint64_t limit, uint64_t thread) {
  const WalkStart start = StartOf(nullptr, thread);
  if (limit > start.stack_floor && limit <= start.stack_high)
    LowerPollWord(thread, (limit - 8) & ~uint64_t{7});
}

}  // namespace

ASGST_FrameMark* AddMark(uint64_t thread, ASGST_FrameMarkHandler fun, int options, void* argument) {
  UnusedMarks& unused = TheUnusedMarks();
  const std::lock_guard lock(unused.mutex);
  ASGST_FrameMark* mark = TakeMark(unused);
  if (mark == nullptr) return nullptr;
  mark->sp = mark->limit = 0;
  mark->thread = thread;
  mark->os_thread = OsThreadOf(thread);
  mark->options = options;
  mark->fun = fun;
  mark->argument = argument;
  LiveMarksAt(thread)++;
  mark->state = ASGST_FrameMark::kLive;
  return mark;
}

void RetireMark(ASGST_FrameMark* mark) {
  int live = ASGST_FrameMark::kLive;
  if (!mark->state.compare_exchange_strong(live, ASGST_FrameMark::kFree)) return;
  LiveMarksAt(mark->thread.load())--;
  UnusedMarks& unused = TheUnusedMarks();
  const std::lock_guard lock(unused.mutex);
  unused.marks.push_back(mark);
}

void RetireMarksOf(uint64_t thread) {
  if (!MayHaveMarks(thread)) return;
  for (ASGST_FrameMark* mark = FirstMark(); mark != nullptr; mark = mark->next)
    if (IsLiveMarkOf(*mark, thread)) RetireMark(mark);
}

bool MayHaveMarks(uint64_t thread) { return LiveMarksAt(thread).load() != 0; }

ASGST_FrameMark* FirstMark() { return first_mark.load(); }

bool IsLiveMarkOf(const ASGST_FrameMark& mark, uint64_t thread) {
  return mark.state.load() == ASGST_FrameMark::kLive && mark.thread.load() == thread;
}

bool HasLiveMarks(uint64_t thread) {
  if (!MayHaveMarks(thread)) return false;
  for (const ASGST_FrameMark* mark = FirstMark(); mark != nullptr; mark = mark->next)
    if (IsLiveMarkOf(*mark, thread)) return true;
  return false;
}

void MoveMark(ASGST_FrameMark& mark, uint64_t sp, bool stands) {
  const uint64_t thread = mark.thread.load();
  const MarkedFrame marked = sp != 0 && stands ? FindMarked(thread, sp) : MarkedFrame{sp, 0, 0};
  mark.limit = 0;  // what comes between marks no frame
  mark.caller_place = marked.caller_place;
  mark.caller_pc = marked.caller_pc;
  mark.runner = RunnerOf(thread);
  mark.sp = sp;
  mark.limit = marked.limit;
  LowerTo(marked.limit, thread);
}

void LowerForMarks(uint64_t thread) {
  if (!MayHaveMarks(thread) || !HasOwnPolls()) return;  // nobody would be called
  for (ASGST_FrameMark* mark = FirstMark(); mark != nullptr; mark = mark->next)
    if (IsLiveMarkOf(*mark, thread)) LowerTo(mark->limit.load(), thread);
}

}  // namespace walkhammer::asgst

using namespace walkhammer::asgst;  // NOLINT(google-build-using-namespace)

int ASGST_Capabilities() {
  return ASGST_REGISTER_QUEUE | (CanMark() ? static_cast<int>(ASGST_MARK_FRAME) : 0);
}

ASGST_FrameMark* ASGST_RegisterFrameMark(JNIEnv* env, ASGST_FrameMarkHandler fun, int options,
                                         void* argument) {
  if (!AttachIfPossible(env)) TellNotAttached();
  if (Live() == nullptr || fun == nullptr || IsProcessing()) return nullptr;
  const uint64_t thread = env == nullptr ? CurrentJavaThread() : ThreadOfEnv(env);
  // The service ends the marks of threads that end.
  if (thread == 0 || !StartQueueService(TheVm()).ok() || !HasOwnPolls() || !StartMarks().ok())
    return nullptr;
  return AddMark(thread, fun, options, argument);
}

void ASGST_MoveFrameMark(ASGST_FrameMark* mark, void* sp) {
  if (mark == nullptr || mark->state.load() != ASGST_FrameMark::kLive) return;
  const auto to = reinterpret_cast<uint64_t>(sp);
  const uint64_t current = CurrentJavaThread();
  if (current == mark->thread.load()) return MoveMark(*mark, to, true);
  // No thread with marks ends while a handler runs. On the VM thread, all threads are stopped.
  if (IsProcessing()) return MoveMark(*mark, to, current == 0);
  const std::shared_lock lock(ProcessingMutex());
  // No event may have reported the end of the mark's thread.
  const uint64_t thread = mark->thread.load();
  if (mark->state.load() == ASGST_FrameMark::kLive && IsListed(thread) &&
      OsThreadOf(thread) == mark->os_thread)
    MoveMark(*mark, to, false);
}

void* ASGST_GetFrameMarkStackPointer(ASGST_FrameMark* mark) {
  if (mark == nullptr || mark->state.load() != ASGST_FrameMark::kLive) return nullptr;
  return reinterpret_cast<void*>(mark->sp.load());
}

void ASGST_RemoveFrameMark(ASGST_FrameMark* mark) {
  if (mark != nullptr) OutsideOfProcessing([&] { RetireMark(mark); });
}

int asgst_mark_state(ASGST_Iterator* iterator) {
  return iterator == nullptr ? static_cast<int>(ASGST_MARK_NONE) : iterator->mark_state;
}
