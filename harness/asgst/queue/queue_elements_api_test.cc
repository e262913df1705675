// SPDX-License-Identifier: Apache-2.0
// Elements of queues in the hands of the signal handlers that have put them in, on a live JVM.
#include <signal.h>

#include <atomic>

#include "harness/asgst/testing/queue_testing.h"

namespace walkhammer::asgst {
namespace {

// A signal handler that enqueues and then lasts until all queues were handled several times.
class LongHandler {
 public:
  explicit LongHandler(RunningMethod& thread)
      : thread_(thread),
        queue_(ASGST_RegisterQueue(thread.env(), 4, 0, Collector::Handle, &collector_)) {}
  ~LongHandler() { EXPECT_TRUE(ASGST_DeregisterQueue(thread_.env(), queue_)); }

  // Runs the handler, which calls `first` before all else, and waits until the element is handled.
  void Run(const std::function<void()>& first = [] {}) {
    std::thread others([this] { HandleOthers(); });
    EXPECT_TRUE(thread_.Raise([&](ucontext_t* context) {
      first();
      result_ = ASGST_Enqueue(queue_, context, Tag(5));
      enqueued_ = true;
      while (!others_handled_) std::this_thread::yield();
      ASGST_QueueElement* element = ASGST_GetQueueElement(queue_, -1);
      found_ = element == nullptr ? nullptr : element->arg;
      if (element != nullptr) element->arg = Tag(6);
      before_end_ = collector_.count();
    }));
    others.join();
    EXPECT_EQ(result_, ASGST_JAVA_TRACE);
    EXPECT_TRUE(WaitFor([&] { return collector_.count() == 1; }));
  }

  void* found() const { return found_; }
  size_t before_end() const { return before_end_; }
  intptr_t handled_arg() { return collector_.Get().at(0).arg; }

 private:
  // Has elements of another thread handled, which all need a stop of all threads.
  void HandleOthers() {
    constexpr size_t kStops = 5;
    Collector handled;
    ASGST_Queue* queue = ASGST_RegisterQueue(other_.env(), 8, 0, Collector::Handle, &handled);
    EXPECT_TRUE(WaitFor([&] { return enqueued_.load(); }));
    for (size_t stop = 1; stop <= kStops; stop++) {
      EXPECT_EQ(ASGST_Enqueue(queue, nullptr, nullptr), ASGST_JAVA_TRACE);
      EXPECT_TRUE(WaitFor([&] { return handled.count() == stop; }));
    }
    others_handled_ = true;
    EXPECT_TRUE(ASGST_DeregisterQueue(other_.env(), queue));
  }

  RunningMethod& thread_;
  RunningMethod other_{"interpSleep"};
  Collector collector_;
  ASGST_Queue* queue_;
  std::atomic<bool> enqueued_{false}, others_handled_{false};
  int result_ = 0;
  size_t before_end_ = 0;
  void* found_ = nullptr;
};

class QueueElements : public LiveTest {
 protected:
  static void ExpectHeldByItsHandler(RunningMethod& thread) {
    LongHandler handler(thread);
    handler.Run();
    EXPECT_EQ(handler.before_end(), 0u) << "was handled under its handler's hands";
    EXPECT_EQ(handler.found(), Tag(5));
    EXPECT_EQ(handler.handled_arg(), 6) << "the handler's change came too late";
  }
};

TEST_F(QueueElements, AreHeldByTheirHandlerInNative) {
  RunningProbe probe;
  ExpectHeldByItsHandler(probe.thread());
}

TEST_F(QueueElements, AreHeldByTheirHandlerWhileTheThreadIsBlocked) {
  RunningMethod sleeping("interpSleep");
  ExpectHeldByItsHandler(sleeping);
}

// Where nothing tells the end of a handler, time does.
TEST_F(QueueElements, OfAHandlerThatBlocksNoSignalAreHandledLater) {
  RunningProbe probe;
  LongHandler(probe.thread()).Run([] {
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, nullptr);
  });
}

// What is asked of a queue whose element a handler holds: the room changes, nothing is lost, and
// attempts count anew. A second change waits, as the handler may hold the first ring's element.
TEST_F(QueueElements, OfAHandlerDoNotKeepTheQueueFromBeingResized) {
  RunningProbe probe;
  Collector collector;
  ASGST_Queue* queue =
      ASGST_RegisterQueue(probe.thread().env(), 2, 0, Collector::Handle, &collector);
  const auto info = [&] { return ASGST_GetQueueSizeInfo(queue); };
  int first = 0, second = 0, third = 0;
  EXPECT_TRUE(probe.thread().Raise([&](ucontext_t* context) {
    first = ASGST_Enqueue(queue, context, Tag(1));
    const ASGST_QueueElement* element = ASGST_GetQueueElement(queue, -1);
    ASGST_ResizeQueue(queue, 3);
    EXPECT_TRUE(WaitFor([&] { return info().capacity == 3; }));
    EXPECT_EQ(info().attempts, 0);
    EXPECT_EQ(info().size, 1);
    EXPECT_EQ(element->arg, Tag(1)) << "is still readable";
    ASGST_GetQueueElement(queue, -1)->arg = Tag(4);
    second = ASGST_Enqueue(queue, context, Tag(2));
    third = ASGST_Enqueue(queue, context, Tag(3));
    EXPECT_EQ(ASGST_Enqueue(queue, context, Tag(9)), ASGST_ENQUEUE_FULL_QUEUE);
    EXPECT_EQ(collector.count(), 0u) << "was handled under its handler's hands";
    ASGST_ResizeQueue(queue, 5);
  }));
  EXPECT_EQ(first + second + third, 3 * ASGST_JAVA_TRACE);
  EXPECT_TRUE(WaitFor([&] { return collector.count() == 3 && info().capacity == 5; }));
  const auto tags = collector.Get();
  for (size_t i = 0; i < 3; i++)
    EXPECT_EQ(tags.at(i).arg, (std::vector<intptr_t>{4, 2, 3}).at(i)) << "nothing is lost";
  EXPECT_TRUE(ASGST_DeregisterQueue(probe.thread().env(), queue));
}

}  // namespace
}  // namespace walkhammer::asgst
