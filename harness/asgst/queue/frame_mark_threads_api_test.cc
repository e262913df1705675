// SPDX-License-Identifier: Apache-2.0
// Frame marks of several threads, of signal handlers, of queues' handlers and of virtual threads.
#include <dlfcn.h>
#include <signal.h>

#include <map>
#include <memory>
#include <mutex>

#include "harness/asgst/testing/mark_testing.h"
#include "harness/guard/arch.h"

namespace walkhammer::asgst {
namespace {

using FrameMarkThreads = FrameMarksTest;

// Each thread's mark is called by that thread, though both mark the same methods.
TEST_F(FrameMarkThreads, AreCalledByTheirOwnThreads) {
  constexpr int kTimes = 3'000;
  struct One {
    NotingMark* mark = nullptr;
    int os_thread = 0;
  };
  static thread_local One* own = nullptr;
  live_.on_probe = [] { own->mark->MoveTo(PhysicalFramesHere()[1]); };
  std::atomic<int> wrong{0}, calls{0};
  const auto run = [&](const char* method) {
    JNIEnv* env = LiveJvm::Get().env();
    NotingMark mark(env);
    One one{&mark, static_cast<int>(syscall(SYS_gettid))};
    own = &one;
    CallMarked(method, kTimes);
    for (const SeenMark& seen : mark.seen)
      if (seen.os_thread != one.os_thread) wrong++;
    calls += mark.count;
  };
  {
    MarkedClass();
    RunningMethod first([&] { run("interpCallsInterp"); });
    RunningMethod second([&] { run("c2CallsC2"); });
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(calls, 2 * kTimes);
}

// Some libraries start their threads with all signals blocked. The hooks' traps would end the
// process.
TEST_F(FrameMarkThreads, OfThreadsThatHaveInheritedABlockedMask) {
  MarkedClass();
  live_.on_probe = [] {};
  sigset_t all, before;
  sigfillset(&all);
  int called = 0, blocked = -1;
  pthread_sigmask(SIG_SETMASK, &all, &before);
  {
    RunningMethod running([&] {
      NotingMark mark(LiveJvm::Get().env());
      live_.on_probe = [&] { mark.MoveTo(PhysicalFramesHere()[1]); };
      CallMarked("interpCallsInterp", 10);
      called = mark.count;
      sigset_t mask;
      pthread_sigmask(SIG_SETMASK, nullptr, &mask);
      blocked = sigismember(&mask, SIGURG);
    });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  EXPECT_EQ(called, 10);
  EXPECT_EQ(blocked, 1) << "SIGTRAP alone is unblocked";
}

// A mark that is registered, moved and removed by other threads is still called by its own.
TEST_F(FrameMarkThreads, MayBeMovedByAnotherThread) {
  MarkedClass();
  std::vector<MarkFrame> frames;
  std::atomic<bool> there{false}, leave{false};
  live_.on_probe = [&] {
    frames = PhysicalFramesHere();
    there = true;
    while (!leave) std::this_thread::yield();
  };
  int own = 0;
  {
    RunningMethod running([] { CallMarked("interpCallsInterp", 1); });
    EXPECT_TRUE(WaitFor([&] { return there.load(); }));
    NotingMark mark(running.env());
    mark.MoveTo(frames[1]);
    EXPECT_EQ(mark.sp(), frames[1].sp);
    leave = true;
    EXPECT_TRUE(WaitFor([&] { return mark.count == 1; }));
    own = mark.seen[0].os_thread == running.os_thread() ? 1 : 0;
    EXPECT_EQ(mark.seen[0].state, ASGST_MARK_UNTOLD);
  }
  EXPECT_EQ(own, 1);
}

TEST_F(FrameMarkThreads, EndWithTheirThreads) {
  ASGST_FrameMark* mark = nullptr;
  int calls = 0;
  {
    RunningMethod running([&] {
      mark = ASGST_RegisterFrameMark(
          nullptr, [](ASGST_FrameMark*, ASGST_Iterator*, void* n) { ++*static_cast<int*>(n); }, 0,
          &calls);
      int here = 0;
      ASGST_MoveFrameMark(mark, &here + 4096);  // older than the Java frames of the thread's end
      EXPECT_EQ(ASGST_GetFrameMarkStackPointer(mark), &here + 4096);
    });
  }
  ASSERT_NE(mark, nullptr);
  ASGST_MoveFrameMark(mark, &calls);
  EXPECT_EQ(ASGST_GetFrameMarkStackPointer(mark), nullptr);
  EXPECT_EQ(calls, 0);
}

// Samples the running thread at any place; the signal handler marks the second frame.
void ExpectSamplesAreLeft(const char* method) {
  constexpr int kSamples = 300;
  MarkedClass();
  int later = 0, untold = 0, in_java = 0;
  RunningMethod running([&] {
    JNIEnv* env = LiveJvm::Get().env();
    jclass queued = env->FindClass("wh/Queued");
    env->CallStaticVoidMethod(queued, env->GetStaticMethodID(queued, method, "()V"));
  });
  NotingMark mark(running.env());
  mark.and_then = [&](const SeenMark& seen) {
    EXPECT_EQ(seen.os_thread, running.os_thread());
    if (seen.state == ASGST_MARK_UNTOLD) untold++;
    if (seen.frames.empty() || seen.frames[0].sp > seen.sp) later++;
  };
  int marked = 0;
  for (int i = 0; i < kSamples; i++) {
    bool is_marked = false;
    uint64_t pc = 0;
    EXPECT_TRUE(running.Raise([&](ucontext_t* context) {
      pc = ReadContext(*context).pc;
      Iterate(context, [&](ASGST_Iterator* iterator) {
        ASGST_Frame frame;
        void* top = nullptr;
        while (!is_marked && ASGST_NextFrame(iterator, &frame) == 1) {
          if (top == nullptr) top = frame.sp;
          is_marked = frame.sp > top;
        }
        // The oldest frame never returns.
        is_marked = is_marked && ASGST_State(iterator) == 1;
        if (is_marked) ASGST_MoveFrameMark(mark.get(), frame.sp);
      });
    }));
    if (!is_marked) continue;
    marked++;
    Dl_info library;
    if (dladdr(reinterpret_cast<void*>(pc), &library) == 0) in_java++;
    EXPECT_TRUE(WaitFor([&] { return mark.count == marked; }));
  }
  EXPECT_EQ(later, marked);
  // Where the JVM was interrupted, the caller is known.
  EXPECT_NEAR(untold, in_java, marked / 20);
  EXPECT_GT(in_java, kSamples / 20);
  EXPECT_GT(marked, kSamples / 10);
  printf("%s: %d marked in a signal handler, %d untold, %d in Java\n", method, marked, untold,
         in_java);
}

TEST_F(FrameMarkThreads, MayBeMovedInSignalHandlers) {
  ExpectSamplesAreLeft("interpCalls");
  ExpectSamplesAreLeft("c2Calls");
}

// As the documents have it: the queue's handler marks, the mark's handler moves the mark on.
TEST_F(FrameMarkThreads, MayBeMovedInHandlersOfQueues) {
  MarkedClass();
  RunningMethod running([] {
    JNIEnv* env = LiveJvm::Get().env();
    jclass queued = env->FindClass("wh/Queued");
    env->CallStaticVoidMethod(queued, env->GetStaticMethodID(queued, "c2Calls", "()V"));
  });
  NotingMark mark(running.env());
  std::atomic<int> handled{0};
  mark.and_then = [&](const SeenMark& seen) {
    EXPECT_EQ(seen.os_thread, running.os_thread());
    if (seen.frames.size() > 1) mark.MoveTo(seen.frames[0]);
  };
  struct Both {
    NotingMark& mark;
    std::atomic<int>& handled;
  } both{mark, handled};
  ASGST_Queue* queue = ASGST_RegisterQueue(
      running.env(), 4, 0,
      [](ASGST_Iterator* iterator, void* argument, void*) {
        auto* b = static_cast<Both*>(argument);
        const auto frames = PhysicalFramesOf(iterator);
        if (frames.size() > 3 && frames[1].sp != nullptr) b->mark.MoveTo(frames[1]);
        b->handled++;
      },
      &both);
  for (int i = 0; i < 200; i++) {
    int result = 0;
    const int before = handled;
    EXPECT_TRUE(running.Raise(
        [&](ucontext_t* context) { result = ASGST_Enqueue(queue, context, nullptr); }));
    EXPECT_TRUE(result <= 0 || WaitFor([&] { return handled > before; }));
  }
  EXPECT_TRUE(ASGST_DeregisterQueue(running.env(), queue));
  EXPECT_GT(mark.count, 100);
  printf("queue: %d handled, %d frames left\n", handled.load(), mark.count.load());
}

// Marks the frame `depth` above probe() on virtual threads. Returns how often each state was seen.
std::map<int, int> StatesOnVirtualThreads(int times, size_t depth) {
  struct One {
    int os_thread;
    ASGST_FrameMark* mark;
  };
  static std::mutex mutex;
  static std::map<int, int> states;
  const auto note = [](ASGST_FrameMark*, ASGST_Iterator* iterator, void* self) {
    const std::lock_guard lock(mutex);
    EXPECT_EQ(static_cast<One*>(self)->os_thread, syscall(SYS_gettid));
    states[asgst_mark_state(iterator)]++;
  };
  states.clear();
  std::vector<std::unique_ptr<One>> marks;
  LiveJvm::Get().on_probe = [&] {
    const std::lock_guard lock(mutex);
    marks.push_back(std::make_unique<One>(One{static_cast<int>(syscall(SYS_gettid)), nullptr}));
    marks.back()->mark = ASGST_RegisterFrameMark(nullptr, note, 0, marks.back().get());
    ASGST_MoveFrameMark(marks.back()->mark, PhysicalFramesHere()[depth].sp);
  };
  CallMarked("virtualProbes", times);
  for (const auto& one : marks) ASGST_RemoveFrameMark(one->mark);
  return states;
}

TEST_F(FrameMarkThreads, AVirtualThreadThatLeavesItsCarrierLeavesThem) {
  constexpr int kTimes = 200, kJdk21 = 0x150000;
  if (live_.env()->GetVersion() < kJdk21) GTEST_SKIP() << "no virtual threads before JDK 21";
  // The method that returns first; its caller, which yields. A carrier may leave no further frame
  // in time, and before JDK 24 a collection may make a virtual thread look like another one.
  auto states = StatesOnVirtualThreads(kTimes, 1);
  EXPECT_GE(states[ASGST_MARK_LEFT], kTimes * 98 / 100);
  EXPECT_LE(states[ASGST_MARK_LEFT] + states[ASGST_MARK_PASSED], kTimes);
  states = StatesOnVirtualThreads(kTimes, 2);
  EXPECT_GE(states[ASGST_MARK_PASSED], kTimes * 98 / 100);
  EXPECT_EQ(states[ASGST_MARK_LEFT], 0);
}

}  // namespace
}  // namespace walkhammer::asgst
