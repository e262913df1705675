// SPDX-License-Identifier: Apache-2.0
// A profiler that walks incrementally, as the post on safepoint queues announces it: behind a frame
// mark, the stack is what it was at the last sample, so only newer frames need a walk. This one
// walks all the same, and counts where the stack behind the mark is another one. The mark's handler
// moves the mark to the frame that goes on. An agent; its option is the time between samples in
// microseconds. It prints what it counted when the program ends.
#include <profile2.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sampling.h"

namespace {

struct Frame {
  ASGST_Method method;
  void* sp;
  bool operator==(const Frame& other) const { return method == other.method && sp == other.sp; }
};

struct Marked {
  ASGST_FrameMark* mark = nullptr;
  std::vector<Frame> older;  // than the marked frame, newest first
  int samples = 0;
  std::atomic<long> moves{0};  // read in the signal handler, too
};

// Deeper stacks are left alone: each sample walks the whole stack.
constexpr size_t kMostFrames = 256;

thread_local ASGST_Queue* queue = nullptr;
thread_local Marked marked;
Marked* OwnMarked() { return &marked; }
SampledThreads threads;
Sampler sampler;
Counts counts;
// early: the marked frame is still there; passed: its caller is not; realigned: see IsRealigned;
// outdated: samples from before the mark was moved, which tell nothing of it
std::atomic<long> moved{0}, left{0}, at_caller{0}, early{0}, passed{0}, kept{0}, realigned{0},
    stale{0}, outdated{0}, astray{0};

std::vector<Frame> FramesOf(ASGST_Iterator* iterator) {
  std::vector<Frame> frames;
  for (ASGST_Frame frame; frames.size() < kMostFrames && ASGST_NextFrame(iterator, &frame) == 1;)
    frames.push_back({frame.method, frame.sp});
  return frames;
}

void Mark(Marked& marked, void* sp, const std::vector<Frame>& frames) {
  marked.older.clear();
  for (const Frame& frame : frames)
    if (frame.sp > sp) marked.older.push_back(frame);
  ASGST_MoveFrameMark(marked.mark, sp);
  marked.moves++;
  moved++;
}

// True if the oldest frames are those that were there when the mark was moved.
bool IsAsMarked(const Marked& marked, const std::vector<Frame>& frames) {
  return frames.size() >= marked.older.size() &&
         std::equal(marked.older.rbegin(), marked.older.rend(), frames.rbegin());
}

// True if the stack is that, but for the marked frame's caller, which stands eight bytes lower: a
// compiled frame, which is aligned, has replaced the marked one while it looped.
bool IsRealigned(const Marked& marked, const std::vector<Frame>& frames) {
  if (marked.older.empty() || frames.size() <= marked.older.size()) return false;
  std::vector<Frame> older = marked.older;
  older[0].sp = static_cast<char*>(older[0].sp) - 8;
  return std::equal(older.rbegin(), older.rend(), frames.rbegin());
}

void PrintFrames(const char* what, const std::vector<Frame>& frames) {
  std::fprintf(stderr, "%s:", what);
  for (size_t i = 0; i < frames.size() && i < 12; i++) {
    const std::string name = frames[i].method == nullptr ? "" : NameOf(frames[i].method, counts);
    std::fprintf(stderr, " %p %s", frames[i].sp, name.c_str());
  }
  std::fprintf(stderr, "\n");
}

// Prints the first stacks that have changed behind their marks.
void Tell(const Marked& marked, const std::vector<Frame>& frames) {
  constexpr long kMostTold = 4;
  if (stale > kMostTold) return;
  std::fprintf(stderr, "stale, mark at %p, sample %d, seen by %s\n",
               ASGST_GetFrameMarkStackPointer(marked.mark), marked.samples,
               &marked == OwnMarked() ? "its thread" : "another thread");
  PrintFrames("  were", marked.older);
  PrintFrames("  are", frames);
}

void Compare(const Marked& marked, const std::vector<Frame>& frames) {
  if (IsAsMarked(marked, frames)) return void(kept++);
  if (IsRealigned(marked, frames)) return void(realigned++);
  stale++;
  Tell(marked, frames);
}

// An exception empties the operand stack of an interpreted caller, whose stack pointer then moves.
bool IsAtCaller(const Marked& marked, const std::vector<Frame>& frames) {
  if (frames.size() != marked.older.size()) return false;
  return frames.empty() || (frames[0].method == marked.older[0].method &&
                            std::equal(frames.begin() + 1, frames.end(), marked.older.begin() + 1));
}

// Marks one of the frames behind the newest. Frames that are gone have no stack pointer; where all
// newer frames are gone, the queue does not know the older ones.
void OnElement(ASGST_Iterator* iterator, void* own, void* moves) {
  auto* marked = static_cast<Marked*>(own);
  const std::vector<Frame> frames = FramesOf(iterator);
  if (ASGST_State(iterator) != ASGST_NO_FRAME || frames.back().sp == nullptr) return;
  if (marked->moves != reinterpret_cast<intptr_t>(moves))
    outdated++;
  else if (ASGST_GetFrameMarkStackPointer(marked->mark) != nullptr)
    Compare(*marked, frames);
  const size_t chosen = static_cast<size_t>(++marked->samples) % 4;
  if (chosen < frames.size() && frames[chosen].sp != nullptr)
    Mark(*marked, frames[chosen].sp, frames);
}

void OnLeft(ASGST_FrameMark* mark, ASGST_Iterator* iterator, void* own) {
  if (own != &marked || mark != marked.mark) return void(++astray);
  left++;
  const std::vector<Frame> frames = FramesOf(iterator);
  if (IsAtCaller(marked, frames))
    at_caller++;
  else
    (IsAsMarked(marked, frames) ? early : passed)++;
  if (frames.size() > 1 && frames.size() < kMostFrames) Mark(marked, frames[0].sp, frames);
}

void OnSignal(int, siginfo_t*, void* ucontext) {
  if (queue == nullptr) return;
  void* const moves = reinterpret_cast<void*>(static_cast<intptr_t>(marked.moves));
  counts.Add(ASGST_Enqueue(queue, ucontext, moves), ucontext);
}

void JNICALL OnThreadStart(jvmtiEnv*, JNIEnv* env, jthread) {
  marked.mark = ASGST_RegisterFrameMark(env, OnLeft, 0, &marked);
  queue = ASGST_RegisterQueue(env, 1000, 0, OnElement, &marked);
  threads.Add();
}

void JNICALL OnThreadEnd(jvmtiEnv*, JNIEnv* env, jthread) {
  threads.Remove();
  ASGST_DeregisterQueue(env, queue);
  queue = nullptr;
  ASGST_RemoveFrameMark(marked.mark);
}

void JNICALL OnVmInit(jvmtiEnv* jvmti, JNIEnv* env, jthread thread) {
  if ((ASGST_Capabilities() & ASGST_MARK_FRAME) == 0) return;
  OnThreadStart(jvmti, env, thread);
  sampler.Start(threads, OnSignal);
}

void JNICALL OnVmDeath(jvmtiEnv*, JNIEnv*) {
  sampler.Stop();
  counts.Print("mark");
  std::fprintf(stderr,
               "mark: moved %ld left %ld at-caller %ld early %ld passed %ld kept %ld realigned %ld "
               "stale %ld outdated %ld astray %ld\n",
               moved.load(), left.load(), at_caller.load(), early.load(), passed.load(),
               kept.load(), realigned.load(), stale.load(), outdated.load(), astray.load());
}

}  // namespace

extern "C" JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* options, void*) {
  sampler.SetOptions(options);
  return Listen(vm, OnVmInit, OnVmDeath, OnThreadStart, OnThreadEnd);
}
