// SPDX-License-Identifier: Apache-2.0
// Queues of threads that run, block, are in native or end, on a live JVM.
#include <atomic>

#include "harness/asgst/include/asgst_hooks.h"
#include "harness/asgst/testing/queue_testing.h"

namespace walkhammer::asgst {
namespace {

// A thread in a method of wh.Queued, with a queue that is processed as it fills.
struct RunningQueued {
  RunningQueued(const char* method, int size)
      : thread([method] { CallQueued(method); }),
        queue(ASGST_RegisterQueue(thread.env(), size, 0, Collector::Handle, &collector)) {}
  // Enqueues `count` elements from one place, tagged from `tag` on, up to the first that is
  // refused. Returns how many were taken.
  int Enqueue(intptr_t tag, int count = 1) {
    std::atomic<int> taken{0};
    thread.Raise([&](ucontext_t* context) {
      while (taken < count && ASGST_Enqueue(queue, context, Tag(tag + taken)) > 0) taken++;
    });
    return taken;
  }

  Collector collector;
  RunningMethod thread;
  ASGST_Queue* queue;
};

class QueueThreads : public LiveTest {
 protected:
  // `count` samples of a thread in `method` of wh.Api, each handled before the next.
  std::vector<Handled> Sample(const char* method, int count) {
    RunningMethod running(method);
    ASGST_Queue* queue = ASGST_RegisterQueue(running.env(), 4, 0, Collector::Handle, &collector_);
    size_t taken = 0;
    for (int i = 0; i < count; i++) {
      int result = 0;
      EXPECT_TRUE(running.Raise(
          [&](ucontext_t* context) { result = ASGST_Enqueue(queue, context, Tag(i)); }));
      if (result > 0) taken++;
      EXPECT_TRUE(WaitFor([&] { return collector_.count() == taken; }));
    }
    EXPECT_GT(taken, 0u);
    EXPECT_TRUE(ASGST_DeregisterQueue(running.env(), queue));
    return collector_.Get();
  }

  Collector collector_;
};

TEST_F(QueueThreads, WhileItRunsInterpreted) {
  for (const Handled& handled : Sample("interpSpin", 20)) {
    EXPECT_TRUE(handled.state == ASGST_ELEMENT_EXACT || handled.state == ASGST_ELEMENT_MOVED)
        << handled.state;
    ASSERT_EQ(handled.frames.size(), 1u);
    EXPECT_EQ(handled.frames[0].name, "wh.Api.interpSpin()V");
  }
}

TEST_F(QueueThreads, WhileItRunsCompiled) {
  int live = 0;
  for (const Handled& handled : Sample("c2Spin", 20)) {
    if (handled.state != ASGST_ELEMENT_LOST) live++;
    EXPECT_EQ(handled.end, ASGST_NO_FRAME);
    ASSERT_FALSE(handled.frames.empty());
    EXPECT_EQ(handled.frames.back().name, "wh.Api.c2Spin()V");
  }
  EXPECT_GT(live, 0);
}

TEST_F(QueueThreads, WhileItIsBlocked) {
  int sleeping = 0;
  for (const Handled& handled : Sample("interpSleep", 10)) {
    if (handled.state != ASGST_ELEMENT_EXACT) continue;
    sleeping++;
    ASSERT_FALSE(handled.frames.empty());
    EXPECT_EQ(handled.frames.back().name, "wh.Api.interpSleep()V");
  }
  EXPECT_GT(sleeping, 0);
}

TEST_F(QueueThreads, WhileItIsInNative) {
  RunningProbe probe;
  ASGST_Queue* queue =
      ASGST_RegisterQueue(probe.thread().env(), 4, 0, Collector::Handle, &collector_);
  int result = 0;
  EXPECT_TRUE(probe.thread().Raise(
      [&](ucontext_t* context) { result = ASGST_Enqueue(queue, context, Tag(3)); }));
  EXPECT_EQ(result, ASGST_JAVA_TRACE);
  EXPECT_TRUE(WaitFor([&] { return collector_.count() == 1; })) << "it need not leave native";
  const auto all = collector_.Get();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].state, ASGST_ELEMENT_EXACT);
  EXPECT_EQ(all[0].frames[0].name, "wh.Api.interpProbe()V");
}

// Expects the frames, oldest first, to be these methods as Queued.java nests them; the last one
// repeats. Only the newest frames of a stack that is not shown to its end are there.
void ExpectNested(const Handled& handled, const std::vector<std::string>& oldest_first) {
  ASSERT_FALSE(handled.frames.empty());
  size_t depth = 0;
  if (handled.end == ASGST_BROKEN_STACK) {
    EXPECT_EQ(handled.state, ASGST_ELEMENT_LOST);
    EXPECT_EQ(handled.returned, 8);
    EXPECT_GE(handled.frames.size(), 8u);
    depth = handled.frames.back().name == "wh.Queued." + oldest_first[0] ? 0 : oldest_first.size();
  } else {
    EXPECT_EQ(handled.end, ASGST_NO_FRAME);
  }
  for (auto frame = handled.frames.rbegin(); frame != handled.frames.rend(); ++frame, depth++) {
    const std::string& expected = oldest_first[std::min(depth, oldest_first.size() - 1)];
    EXPECT_EQ(frame->name, "wh.Queued." + expected) << "at depth " << depth;
  }
}

void SampleCalls(const char* method, const std::vector<std::string>& nested, int count) {
  RunningQueued running(method, 16);
  size_t taken = 0;
  int states[5] = {};
  for (int i = 0; i < count; i++) {
    taken += running.Enqueue(i);
    EXPECT_TRUE(WaitFor([&] { return running.collector.count() == taken; }));
  }
  for (const Handled& handled : running.collector.Get()) {
    states[handled.state]++;
    ExpectNested(handled, nested);
  }
  EXPECT_GT(states[ASGST_ELEMENT_EXACT] + states[ASGST_ELEMENT_MOVED], 0);
  if ((asgst_hooks() & ASGST_HOOKS_POLLS) == 0) {
    EXPECT_GT(states[ASGST_ELEMENT_RETURNED] + states[ASGST_ELEMENT_LOST], 0);
  } else {
    EXPECT_LT(states[ASGST_ELEMENT_LOST], count / 20) << "a poll comes before so many returns";
  }
  printf("%s: exact %d, moved %d, returned %d, lost %d\n", method, states[1], states[2], states[3],
         states[4]);
}

TEST_F(QueueThreads, ShortCallsInterpreted) {
  SampleCalls("interpCalls", {"interpCalls()V", "interpOne()V", "interpTwo()V"}, 400);
}

TEST_F(QueueThreads, ShortCallsCompiled) {
  SampleCalls("c2Calls", {"c2Calls()V", "c2One(I)I"}, 400);
}

TEST_F(QueueThreads, AThreadThatEndsWithAFullQueueLosesNothing) {
  asgst_hold_queues(true);
  ASGST_Queue* queue = nullptr;
  std::thread([&] {
    void* env = nullptr;
    live_.jvm().vm()->AttachCurrentThread(&env, nullptr);
    queue = ASGST_RegisterQueue(nullptr, 3, 0, Collector::Handle, &collector_);
    live_.on_probe = [&] {
      RaiseHere([&](ucontext_t* context) {
        for (int i = 0; i < 4; i++) ASGST_Enqueue(queue, context, Tag(i));
      });
    };
    live_.Call("interpProbe");
    EXPECT_EQ(collector_.count(), 0u) << "they are held";
    live_.jvm().vm()->DetachCurrentThread();
    EXPECT_EQ(collector_.count(), 3u);
    EXPECT_EQ(ASGST_Enqueue(queue, nullptr, nullptr), ASGST_ENQUEUE_NO_QUEUE);
  }).join();
  asgst_hold_queues(false);
  const auto all = collector_.Get();
  ASSERT_EQ(all.size(), 3u);
  for (intptr_t i = 0; i < 3; i++) {
    EXPECT_EQ(all[i].arg, i);
    EXPECT_EQ(all[i].state, ASGST_ELEMENT_LOST);
    ASSERT_EQ(all[i].frames.size(), 1u);
    EXPECT_EQ(all[i].frames[0].name, "wh.Api.interpProbe()V");
    EXPECT_EQ(all[i].frames[0].sp, nullptr);
    EXPECT_EQ(all[i].end, ASGST_NO_FRAME);
  }
  EXPECT_FALSE(ASGST_DeregisterQueue(live_.env(), queue));
}

TEST_F(QueueThreads, ANativeThreadThatAttachesAnewNeedsANewQueue) {
  std::thread([&] {
    for (int round = 0; round < 3; round++) {
      Collector collector;
      void* env = nullptr;
      live_.jvm().vm()->AttachCurrentThread(&env, nullptr);
      ASGST_Queue* queue = ASGST_RegisterQueue(nullptr, 3, 0, Collector::Handle, &collector);
      ASSERT_NE(queue, nullptr);
      live_.on_probe = [&] {
        EXPECT_EQ(ASGST_Enqueue(queue, nullptr, Tag(round)), ASGST_JAVA_TRACE);
        EXPECT_TRUE(WaitFor([&] { return collector.count() == 1; }));
      };
      live_.Call("interpProbe");
      live_.jvm().vm()->DetachCurrentThread();
      EXPECT_EQ(ASGST_Enqueue(queue, nullptr, nullptr), ASGST_ENQUEUE_NO_QUEUE);
    }
  }).join();
}

TEST_F(QueueThreads, TenThousandUnderLoadAreHandledInOrder) {
  constexpr int kSignals = 500, kOfEach = 10;
  RunningQueued java("interpCalls", 64), compiled("c2Calls", 64);
  RunningQueued* both[2] = {&java, &compiled};
  size_t taken[2] = {};
  for (int i = 0; i < kSignals; i++) {
    for (int n = 0; n < 2; n++) {
      // Where the queue is full, tries again until there is room.
      int now = 0;
      for (int tries = 0; now < kOfEach && tries < 10'000; tries++) {
        now += both[n]->Enqueue(i * kOfEach + now, kOfEach - now);
      }
      taken[n] += now;
    }
  }
  for (int n = 0; n < 2; n++) {
    EXPECT_TRUE(WaitFor([&] { return both[n]->collector.count() == taken[n]; }));
    intptr_t last = -1;
    for (const Handled& one : both[n]->collector.Get()) {
      EXPECT_GT(one.arg, last) << "in order, each once";
      last = one.arg;
    }
    EXPECT_EQ(both[n]->collector.count(), taken[n]);
    EXPECT_EQ(taken[n], 1u * kSignals * kOfEach);
  }
}

TEST_F(QueueThreads, DeregisteringWhileSignalsEnqueue) {
  RunningMethod running("interpSpin");
  for (int round = 0; round < 50; round++) {
    std::atomic<ASGST_Queue*> queue =
        ASGST_RegisterQueue(running.env(), 64, 0, Collector::Handle, &collector_);
    ASSERT_NE(queue, nullptr);
    std::atomic<bool> gone{false};
    std::atomic<int> accepted{0};
    std::thread deregister([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(100 * (round % 10)));
      EXPECT_TRUE(ASGST_DeregisterQueue(running.env(), queue));
      gone = true;
    });
    // Many elements in one handler, so that the handler is enqueueing when the queue is
    // deregistered.
    running.Raise([&](ucontext_t* context) {
      for (int i = 0; i < 2000 && !gone; i++)
        if (ASGST_Enqueue(queue, context, nullptr) > 0) accepted++;
    });
    deregister.join();
    int after = 0;
    running.Raise([&](ucontext_t* context) { after = ASGST_Enqueue(queue, context, nullptr); });
    EXPECT_EQ(after, ASGST_ENQUEUE_NO_QUEUE);
    EXPECT_LE(accepted, 64 + static_cast<int>(collector_.count()));
  }
}

TEST_F(QueueThreads, RegisteringWhileTheServiceLooksForWork) {
  std::atomic<bool> stop{false};
  std::thread waker([&] {
    while (!stop) asgst_hold_queues(false);
  });
  for (int i = 0; i < 20'000; i++) {
    ASGST_Queue* queue = ASGST_RegisterQueue(live_.env(), 1, 0, Collector::Handle, &collector_);
    ASSERT_NE(queue, nullptr);
    EXPECT_TRUE(ASGST_DeregisterQueue(live_.env(), queue));
  }
  stop = true;
  waker.join();
}

}  // namespace
}  // namespace walkhammer::asgst
