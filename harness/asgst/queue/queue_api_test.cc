// SPDX-License-Identifier: Apache-2.0
// The safepoint queues of asgst_iterator.h on a live JVM: each function, code and option. What
// becomes of the frames is in queue_frames_api_test.cc.

#include "harness/asgst/testing/queue_testing.h"

namespace walkhammer::asgst {
namespace {

class QueueApi : public QueueTest {
 protected:
  // Runs `body` where there is a Java frame.
  void InJava(const std::function<void()>& body) {
    live_.on_probe = body;
    live_.Call("interpProbe");
  }
  // Enqueues an element by `run`, without a context.
  void EnqueueFromTheAnchor(const std::function<void(const std::function<void()>&)>& run) {
    Register(1);
    InJava([&] {
      run([&] { EXPECT_EQ(ASGST_Enqueue(queue_, nullptr, Tag(5)), ASGST_JAVA_TRACE); });
      Process();
    });
    ASSERT_EQ(collector_.count(), 1u);
    EXPECT_EQ(collector_.Get()[0].frames[0].name, "wh.Api.interpProbe()V");
  }
  void Fill(int count) {
    for (int i = 0; i < count; i++) EXPECT_EQ(EnqueueHere(i), ASGST_JAVA_TRACE);
  }
  void FillAndProcess(int count) {
    InJava([&] {
      Fill(count);
      Process();
    });
  }
  std::vector<intptr_t> Tags() {
    std::vector<intptr_t> tags;
    for (const Handled& handled : collector_.Get()) tags.push_back(handled.arg);
    return tags;
  }
};

// --- registering ---

TEST_F(QueueApi, RegisterRefusesWhatItCannotServe) {
  JNIEnv* env = live_.env();
  EXPECT_EQ(ASGST_RegisterQueue(env, 0, 0, Collector::Handle, nullptr), nullptr);
  EXPECT_EQ(ASGST_RegisterQueue(env, -1, 0, Collector::Handle, nullptr), nullptr);
  EXPECT_EQ(ASGST_RegisterQueue(env, (1 << 20) + 1, 0, Collector::Handle, nullptr), nullptr);
  EXPECT_EQ(ASGST_RegisterQueue(env, 1, 0, nullptr, nullptr), nullptr);
  EXPECT_EQ(ASGST_RegisterQueue(env + 1, 1, 0, Collector::Handle, nullptr), nullptr);
  std::thread([] {
    EXPECT_EQ(ASGST_RegisterQueue(nullptr, 1, 0, Collector::Handle, nullptr), nullptr)
        << "no thread of the JVM's";
  }).join();
}

TEST_F(QueueApi, RegisterWithoutEnvTakesTheCurrentThread) {
  queue_ = ASGST_RegisterQueue(nullptr, 1, 0, Collector::Handle, &collector_);
  ASSERT_NE(queue_, nullptr);
  InJava([&] { Fill(1); });
}

TEST_F(QueueApi, DeregisterOnlyOnceAndOnlyByItsThread) {
  Register(1);
  RunningMethod other("interpSleep");
  EXPECT_FALSE(ASGST_DeregisterQueue(live_.env(), nullptr));
  EXPECT_FALSE(ASGST_DeregisterQueue(other.env(), queue_));
  EXPECT_TRUE(ASGST_DeregisterQueue(live_.env(), queue_));
  EXPECT_FALSE(ASGST_DeregisterQueue(live_.env(), queue_));
}

TEST_F(QueueApi, DeregisterDropsWhatWaits) {
  Register(4);
  InJava([&] { Fill(3); });
  EXPECT_TRUE(ASGST_DeregisterQueue(live_.env(), queue_));
  asgst_hold_queues(false);
  // Once an element of another queue is handled, these would have been handled, too.
  Collector other;
  ASGST_Queue* later = ASGST_RegisterQueue(live_.env(), 1, 0, Collector::Handle, &other);
  InJava([&] {
    RaiseHere([&](ucontext_t* context) { ASGST_Enqueue(later, context, nullptr); });
    EXPECT_TRUE(WaitFor([&] { return other.count() == 1; }));
  });
  EXPECT_EQ(collector_.count(), 0u);
  EXPECT_TRUE(ASGST_DeregisterQueue(live_.env(), later));
}

// --- enqueueing ---

TEST_F(QueueApi, EnqueueWithoutAQueue) {
  InJava([&] {
    EXPECT_EQ(EnqueueHere(1), ASGST_ENQUEUE_NO_QUEUE);
    Register(1);
    ASGST_DeregisterQueue(live_.env(), queue_);
    EXPECT_EQ(EnqueueHere(1), ASGST_ENQUEUE_NO_QUEUE) << "deregistered";
  });
}

TEST_F(QueueApi, EnqueueIntoAFullQueueIsRefusedAndCounted) {
  Register(2);
  InJava([&] {
    Fill(2);
    EXPECT_EQ(EnqueueHere(2), ASGST_ENQUEUE_FULL_QUEUE);
    EXPECT_EQ(EnqueueHere(3), ASGST_ENQUEUE_FULL_QUEUE);
    const ASGST_QueueSizeInfo info = ASGST_GetQueueSizeInfo(queue_);
    EXPECT_EQ(info.size, 2);
    EXPECT_EQ(info.capacity, 2);
    EXPECT_EQ(info.attempts, 4);
    Process();
    EXPECT_EQ(ASGST_GetQueueSizeInfo(queue_).attempts, 0);
    EXPECT_EQ(Tags(), (std::vector<intptr_t>{0, 1}));
    EXPECT_EQ(EnqueueHere(4), ASGST_JAVA_TRACE) << "there is room again";
  });
}

// Attempts that have put nothing in are forgotten, too, when other queues are handled.
TEST_F(QueueApi, AttemptsCountFromTheLastProcessing) {
  Register(2);
  Collector handled;
  ASGST_Queue* other = ASGST_RegisterQueue(live_.env(), 2, 0, Collector::Handle, &handled);
  EXPECT_EQ(EnqueueHere(1), ASGST_NO_TOP_JAVA_FRAME);
  EXPECT_EQ(ASGST_GetQueueSizeInfo(queue_).attempts, 1);
  InJava([&] {
    RaiseHere([&](ucontext_t* context) { ASGST_Enqueue(other, context, nullptr); });
    asgst_hold_queues(false);
    EXPECT_TRUE(WaitFor([&] { return ASGST_GetQueueSizeInfo(other).size == 0; }));
  });
  EXPECT_EQ(ASGST_GetQueueSizeInfo(queue_).attempts, 0);
  EXPECT_TRUE(ASGST_DeregisterQueue(live_.env(), other));
}

// Walks take microseconds, and a queue that is full stays so for as long as its thread runs.
TEST_F(QueueApi, EnqueueIntoAFullQueueDoesNotWalk) {
  Register(1);
  InJava([&] { Fill(1); });
  EXPECT_EQ(EnqueueHere(1), ASGST_ENQUEUE_FULL_QUEUE) << "a walk finds that there is no frame";
  EXPECT_EQ(ASGST_GetQueueSizeInfo(queue_).attempts, 2);
  Process();
  EXPECT_EQ(EnqueueHere(2), ASGST_NO_TOP_JAVA_FRAME) << "there is room again";
}

TEST_F(QueueApi, EnqueueWhereThereIsNoJavaFrame) {
  Register(1);
  EXPECT_EQ(EnqueueHere(1), ASGST_NO_TOP_JAVA_FRAME);
  EXPECT_EQ(size(), 0);
  EXPECT_EQ(ASGST_GetQueueSizeInfo(queue_).attempts, 1);
}

TEST_F(QueueApi, EnqueueFromTheAnchorWithoutAContext) {
  EnqueueFromTheAnchor([](const std::function<void()>& enqueue) { enqueue(); });
}

// From a thread that the JVM does not know, while the queue's thread waits.
TEST_F(QueueApi, EnqueueForAThreadThatIsParked) {
  EnqueueFromTheAnchor([](const std::function<void()>& enqueue) { std::thread(enqueue).join(); });
}

TEST_F(QueueApi, EnqueuableElementIsWhatEnqueuePutsIn) {
  Register(1);
  ASGST_QueueElement element{};
  EXPECT_EQ(ASGST_GetEnqueuableElement(nullptr, nullptr), ASGST_ENQUEUE_OTHER_ERROR);
  element.pc = &element;
  EXPECT_EQ(ASGST_GetEnqueuableElement(nullptr, &element), ASGST_NO_TOP_JAVA_FRAME);
  EXPECT_EQ(element.pc, nullptr);
  InJava([&] {
    RaiseHere([&](ucontext_t* context) {
      EXPECT_EQ(ASGST_GetEnqueuableElement(context, &element), ASGST_JAVA_TRACE);
    });
    Fill(1);
  });
  EXPECT_NE(element.pc, nullptr);
  EXPECT_EQ(element.arg, nullptr);
  const ASGST_QueueElement* queued = ASGST_GetQueueElement(queue_, 0);
  ASSERT_NE(queued, nullptr);
  EXPECT_EQ(queued->pc, element.pc);
  EXPECT_EQ(queued->sp, element.sp);
  EXPECT_EQ(queued->fp, element.fp);
  std::thread([&] {
    EXPECT_EQ(ASGST_GetEnqueuableElement(nullptr, &element), ASGST_NO_THREAD);
  }).join();
}

// --- elements ---

TEST_F(QueueApi, ElementsFromBothEnds) {
  Register(4);
  EXPECT_EQ(ASGST_GetQueueElement(nullptr, 0), nullptr);
  EXPECT_EQ(ASGST_GetQueueElement(queue_, 0), nullptr) << "empty";
  EXPECT_EQ(ASGST_GetQueueElement(queue_, -1), nullptr);
  InJava([&] { Fill(3); });
  for (int n = 0; n < 3; n++) {
    ASSERT_NE(ASGST_GetQueueElement(queue_, n), nullptr);
    EXPECT_EQ(ASGST_GetQueueElement(queue_, n)->arg, Tag(n));
    EXPECT_EQ(ASGST_GetQueueElement(queue_, n - 3), ASGST_GetQueueElement(queue_, n));
  }
  EXPECT_EQ(ASGST_GetQueueElement(queue_, 3), nullptr);
  EXPECT_EQ(ASGST_GetQueueElement(queue_, -4), nullptr);
}

TEST_F(QueueApi, CompressionByChangingTheYoungestArg) {
  Register(4);
  InJava([&] {
    for (int i = 0; i < 5; i++)
      RaiseHere([&](ucontext_t* context) {
        ASGST_QueueElement now;
        ASGST_GetEnqueuableElement(context, &now);
        ASGST_QueueElement* last = ASGST_GetQueueElement(queue_, -1);
        if (last != nullptr && last->pc == now.pc && last->sp == now.sp && last->fp == now.fp)
          last->arg = Tag(reinterpret_cast<intptr_t>(last->arg) + 1);
        else
          ASGST_Enqueue(queue_, context, Tag(1));
      });
    Process();
  });
  EXPECT_EQ(Tags(), std::vector<intptr_t>{5});
}

TEST_F(QueueApi, SizeInfoOfNoQueueIsZero) {
  const ASGST_QueueSizeInfo info = ASGST_GetQueueSizeInfo(nullptr);
  EXPECT_EQ(info.size + info.capacity + info.attempts, 0);
}

TEST_F(QueueApi, AnUnboundQueueIsEmptiedByHand) {
  queue_ = asgst_unbound_queue(2);
  asgst_hold_queues(false);
  for (int round = 0; round < 3; round++) {
    InJava([&] { Fill(2); });
    EXPECT_EQ(ASGST_GetQueueElement(queue_, -1)->arg, Tag(1));
    asgst_clear_queue(queue_);
    EXPECT_EQ(size(), 0);
  }
}

// --- resizing ---

TEST_F(QueueApi, ResizeTakesEffectAfterTheNextProcessing) {
  Register(2);
  InJava([&] {
    Fill(2);
    ASGST_ResizeQueue(queue_, 3);
    EXPECT_EQ(ASGST_GetQueueSizeInfo(queue_).capacity, 2);
    EXPECT_EQ(EnqueueHere(9), ASGST_ENQUEUE_FULL_QUEUE) << "not yet";
    Process();
    EXPECT_TRUE(WaitFor([&] { return ASGST_GetQueueSizeInfo(queue_).capacity == 3; }));
    Fill(3);
    EXPECT_EQ(EnqueueHere(9), ASGST_ENQUEUE_FULL_QUEUE);
    ASGST_ResizeQueue(queue_, 1);
    Process();
    EXPECT_TRUE(WaitFor([&] { return ASGST_GetQueueSizeInfo(queue_).capacity == 1; }));
  });
  EXPECT_EQ(Tags(), (std::vector<intptr_t>{0, 1, 0, 1, 2})) << "nothing is lost";
}

TEST_F(QueueApi, ResizeOfAnEmptyQueueAndToNoSize) {
  Register(2);
  asgst_hold_queues(false);
  ASGST_ResizeQueue(nullptr, 3);
  ASGST_ResizeQueue(queue_, 7);
  EXPECT_TRUE(WaitFor([&] { return ASGST_GetQueueSizeInfo(queue_).capacity == 7; }));
  ASGST_ResizeQueue(queue_, 0);
  ASGST_ResizeQueue(queue_, -5);
  ASGST_ResizeQueue(queue_, (1 << 20) + 1);
  InJava([&] {
    Fill(1);
    EXPECT_TRUE(WaitFor([&] { return size() == 0; }));
  });
  EXPECT_EQ(ASGST_GetQueueSizeInfo(queue_).capacity, 7);
}

// --- processing ---

TEST_F(QueueApi, SeveralQueuesOfAThreadKeepTheirOrder) {
  Register(4);
  std::vector<intptr_t> order;
  OnElement note = [&](intptr_t tag) { order.push_back(tag); };
  ASGST_Queue* second = NewQueue(note);
  InJava([&] {
    RaiseHere([&](ucontext_t* context) {
      for (int i = 0; i < 3; i++) {
        EXPECT_EQ(ASGST_Enqueue(second, context, Tag(10 + i)), ASGST_JAVA_TRACE);
        EXPECT_EQ(ASGST_Enqueue(queue_, context, Tag(i)), ASGST_JAVA_TRACE);
      }
    });
    Process();
    EXPECT_TRUE(WaitFor([&] { return ASGST_GetQueueSizeInfo(second).size == 0; }));
  });
  EXPECT_EQ(Tags(), (std::vector<intptr_t>{0, 1, 2}));
  EXPECT_EQ(order, (std::vector<intptr_t>{10, 11, 12}));
  EXPECT_TRUE(ASGST_DeregisterQueue(live_.env(), second));
}

struct Edge {
  int calls = 0, size = -1;
  bool had_iterator = false;
  size_t handled_before = 0;
  std::vector<SeenFrame> frames;
  Collector* collector = nullptr;

  static void Note(ASGST_Queue* queue, ASGST_Iterator* iterator, void* self) {
    auto* edge = static_cast<Edge*>(self);
    edge->calls++;
    edge->size = ASGST_GetQueueSizeInfo(queue).size;
    edge->had_iterator = iterator != nullptr;
    edge->handled_before = edge->collector->count();
    if (iterator != nullptr) edge->frames = FramesOf(iterator);
  }
};

TEST_F(QueueApi, StartAndEndHandlersSurroundTheElements) {
  Register(4);
  Edge start, end;
  start.collector = end.collector = &collector_;
  ASGST_SetOnQueueProcessingStart(queue_, 0, true, Edge::Note, &start);
  ASGST_SetOnQueueProcessingEnd(queue_, 0, false, Edge::Note, &end);
  ASGST_SetOnQueueProcessingStart(nullptr, 0, true, Edge::Note, &start);
  InJava([&] {
    Fill(3);
    Process();
    Process();
  });
  EXPECT_EQ(start.calls, 1) << "an empty queue calls nobody";
  EXPECT_EQ(start.handled_before, 0u);
  EXPECT_TRUE(start.had_iterator);
  ASSERT_EQ(start.frames.size(), 2u) << "the whole stack";
  EXPECT_EQ(start.frames[0].type, ASGST_FRAME2_JAVA_NATIVE);
  EXPECT_EQ(start.frames[1].name, "wh.Api.interpProbe()V");
  EXPECT_EQ(end.calls, 1);
  EXPECT_EQ(end.handled_before, 3u);
  EXPECT_FALSE(end.had_iterator);
  EXPECT_EQ(end.size, 3) << "still in the queue";
  ASGST_SetOnQueueProcessingStart(queue_, 0, false, Edge::Note, &start);
  ASGST_SetOnQueueProcessingEnd(queue_, 0, false, nullptr, nullptr);
  FillAndProcess(1);
  EXPECT_FALSE(start.had_iterator);
  EXPECT_EQ(end.calls, 1) << "taken away";
}

TEST_F(QueueApi, OptionsAreThoseOfTheIterators) {
  queue_ = ASGST_RegisterQueue(live_.env(), 1, ASGST_END_ON_FIRST_JAVA_FRAME, Collector::Handle,
                               &collector_);
  Edge start;
  start.collector = &collector_;
  ASGST_SetOnQueueProcessingStart(queue_, ASGST_END_ON_FIRST_JAVA_FRAME, true, Edge::Note, &start);
  FillAndProcess(1);
  EXPECT_EQ(start.frames.size(), 1u) << "the native method's";
  ASSERT_EQ(collector_.count(), 1u);
  EXPECT_TRUE(collector_.Get()[0].frames.empty());
}

TEST_F(QueueApi, AHandlerMayResizeAtTheEnd) {
  Register(1);
  ASGST_SetOnQueueProcessingEnd(
      queue_, 0, false,
      [](ASGST_Queue* queue, ASGST_Iterator*, void*) {
        if (ASGST_GetQueueSizeInfo(queue).attempts > 1) ASGST_ResizeQueue(queue, 8);
      },
      nullptr);
  InJava([&] {
    Fill(1);
    EXPECT_EQ(EnqueueHere(1), ASGST_ENQUEUE_FULL_QUEUE);
    Process();
    EXPECT_TRUE(WaitFor([&] { return ASGST_GetQueueSizeInfo(queue_).capacity == 8; }));
  });
}

TEST_F(QueueApi, AHandlerMayEnqueueRegisterAndDeregister) {
  JNIEnv* env = live_.env();
  ASGST_Queue* made = nullptr;
  int calls = 0, enqueued = 0;
  std::atomic<bool> deregistered{false};
  OnElement meddle = [&](intptr_t) {
    if (++calls == 1) {
      enqueued = ASGST_Enqueue(queue_, nullptr, Tag(2));
      made = ASGST_RegisterQueue(env, 2, 0, Collector::Handle, nullptr);
    } else {
      deregistered = ASGST_DeregisterQueue(env, queue_);
    }
  };
  queue_ = NewQueue(meddle);
  InJava([&] {
    Fill(1);
    asgst_hold_queues(false);
    EXPECT_TRUE(WaitFor([&] { return deregistered.load(); })) << "the new element comes in turn";
  });
  EXPECT_EQ(enqueued, ASGST_JAVA_TRACE);
  EXPECT_EQ(calls, 2);
  ASSERT_NE(made, nullptr);
  EXPECT_TRUE(ASGST_DeregisterQueue(env, made));
  EXPECT_FALSE(ASGST_DeregisterQueue(env, queue_));
}

TEST_F(QueueApi, AHandlerMayDeregisterAQueueWhoseElementsWait) {
  Register(4);  // is processed first
  JNIEnv* env = live_.env();
  ASGST_Queue* other = nullptr;
  bool done = false;
  OnElement deregister = [&](intptr_t) { done = ASGST_DeregisterQueue(env, other); };
  ASGST_Queue* first = NewQueue(deregister);
  Collector none;
  other = ASGST_RegisterQueue(env, 4, 0, Collector::Handle, &none);
  InJava([&] {
    RaiseHere([&](ucontext_t* context) {
      ASGST_Enqueue(other, context, nullptr);
      ASGST_Enqueue(first, context, nullptr);
    });
    asgst_hold_queues(false);
    EXPECT_TRUE(WaitFor([&] { return ASGST_GetQueueSizeInfo(first).size == 0; }));
  });
  EXPECT_TRUE(done);
  EXPECT_EQ(none.count(), 0u);
  EXPECT_TRUE(ASGST_DeregisterQueue(env, first));
}

TEST_F(QueueApi, AHandlerThatEndsItsOwnQueueIsNotCalledWithTheRest) {
  JNIEnv* env = live_.env();
  ASGST_Queue* own = nullptr;
  int calls = 0, ended = 0, at_end = 0;
  OnElement end = [&](intptr_t) {
    calls++;
    if (ASGST_DeregisterQueue(env, own)) ended++;
  };
  own = NewQueue(end);
  ASGST_SetOnQueueProcessingEnd(
      own, 0, false,
      [](ASGST_Queue*, ASGST_Iterator*, void* count) { ++*static_cast<int*>(count); }, &at_end);
  Register(4);  // is processed behind it
  InJava([&] {
    RaiseHere([&](ucontext_t* context) {
      for (int i = 0; i < 3; i++) EXPECT_EQ(ASGST_Enqueue(own, context, Tag(i)), ASGST_JAVA_TRACE);
      EXPECT_EQ(ASGST_Enqueue(queue_, context, Tag(7)), ASGST_JAVA_TRACE);
    });
    Process();
  });
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(ended, 1);
  EXPECT_EQ(at_end, 0);
  EXPECT_EQ(Tags(), std::vector<intptr_t>{7}) << "others go on";
}

}  // namespace
}  // namespace walkhammer::asgst
