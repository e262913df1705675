// SPDX-License-Identifier: Apache-2.0
// Helpers of the tests of queues: a collector of what handlers see. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_ASGST_TESTING_QUEUE_TESTING_H_
#define WALKHAMMER_HARNESS_ASGST_TESTING_QUEUE_TESTING_H_

#include <mutex>
#include <string>
#include <vector>

#include "harness/asgst/testing/live_jvm.h"

namespace walkhammer::asgst {

struct SeenFrame {
  std::string name;
  int type, bci, level;
  void *sp, *fp;
};

inline std::vector<SeenFrame> FramesOf(ASGST_Iterator* iterator) {
  std::vector<SeenFrame> frames;
  for (ASGST_Frame frame; ASGST_NextFrame(iterator, &frame) == 1;)
    frames.push_back(
        {NameOf(frame.method), frame.type, frame.bci, frame.comp_level, frame.sp, frame.fp});
  return frames;
}

// What a queue's handler was called with.
struct Handled {
  int state, returned;
  std::vector<SeenFrame> frames;
  ASGST_QueueElement element;
  intptr_t arg;
  int end;  // ASGST_State() after the last frame
};

class Collector {
 public:
  // A handler for ASGST_RegisterQueue, with the collector as its argument.
  static void Handle(ASGST_Iterator* iterator, void* self, void* arg) {
    Handled handled{
        asgst_element_state(iterator), asgst_element_returned(iterator), FramesOf(iterator),
        *asgst_element(iterator),      reinterpret_cast<intptr_t>(arg),  ASGST_State(iterator)};
    auto* collector = static_cast<Collector*>(self);
    const std::lock_guard lock(collector->mutex_);
    collector->handled_.push_back(std::move(handled));
  }
  std::vector<Handled> Get() {
    const std::lock_guard lock(mutex_);
    return handled_;
  }
  size_t count() {
    const std::lock_guard lock(mutex_);
    return handled_.size();
  }

 private:
  std::mutex mutex_;
  std::vector<Handled> handled_;
};

inline void* Tag(intptr_t number) { return reinterpret_cast<void*>(number); }

using OnElement = std::function<void(intptr_t tag)>;

// A queue of the current thread with room for four elements. Its handler calls `handle`, which must
// outlive the queue.
inline ASGST_Queue* NewQueue(OnElement& handle) {
  return ASGST_RegisterQueue(
      LiveJvm::Get().env(), 4, 0,
      [](ASGST_Iterator*, void* self, void* tag) {
        (*static_cast<OnElement*>(self))(reinterpret_cast<intptr_t>(tag));
      },
      &handle);
}

// Runs a static method of wh.Queued.
inline void CallQueued(const char* method) {
  JNIEnv* env = LiveJvm::Get().env();
  jclass queued = env->FindClass("wh/Queued");
  env->CallStaticVoidMethod(queued, env->GetStaticMethodID(queued, method, "()V"));
  ASSERT_FALSE(env->ExceptionCheck()) << method;
}

// A queue of the current thread, which is processed only by Process().
class QueueTest : public LiveTest {
 protected:
  void SetUp() override { asgst_hold_queues(true); }
  void TearDown() override {
    if (queue_ != nullptr) ASGST_DeregisterQueue(live_.env(), queue_);
    asgst_hold_queues(false);
    LiveTest::TearDown();
  }

  void Register(int size) {
    queue_ = ASGST_RegisterQueue(live_.env(), size, 0, Collector::Handle, &collector_);
    ASSERT_NE(queue_, nullptr);
  }
  int size() const { return ASGST_GetQueueSizeInfo(queue_).size; }
  int EnqueueHere(intptr_t tag) {
    int result = 0;
    RaiseHere([&](ucontext_t* context) { result = ASGST_Enqueue(queue_, context, Tag(tag)); });
    return result;
  }
  // Processes the queue until it is empty.
  void Process() {
    asgst_hold_queues(false);
    EXPECT_TRUE(WaitFor([&] { return size() == 0; }));
    asgst_hold_queues(true);
  }
  // Runs a method of wh.Queued that calls probe() `probes` times: enqueues at the call that is
  // `apart` before the last, processes at the last.
  Handled EnqueueThenProcess(const char* method, int probes = 2, int apart = 1) {
    Register(4);
    int probe = 0;
    live_.on_probe = [&] {
      probe++;
      if (probe == probes - apart) {
        EXPECT_EQ(EnqueueHere(7), ASGST_JAVA_TRACE);
      }
      if (probe == probes) {
        level_at_end_ = LevelHere();
        Process();
      }
    };
    CallQueued(method);
    EXPECT_EQ(probe, probes);
    const auto all = collector_.Get();
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? Handled{} : all[0];
  }

  Collector collector_;
  ASGST_Queue* queue_ = nullptr;
  int level_at_end_ = -1;  // of the caller of probe(), when EnqueueThenProcess processes

 private:
  static int LevelHere() {
    int level = -1;
    Iterate(nullptr, [&](ASGST_Iterator* iterator) {
      ASGST_Frame frame;
      while (ASGST_NextFrame(iterator, &frame) == 1 && frame.type == ASGST_FRAME2_JAVA_NATIVE) {
      }
      level = frame.comp_level;
    });
    return level;
  }
};

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_TESTING_QUEUE_TESTING_H_
