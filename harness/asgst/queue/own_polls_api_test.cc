// SPDX-License-Identifier: Apache-2.0
// Threads that handle their own queues at their next poll, on a live JVM that can be hooked.
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "harness/asgst/include/asgst_hooks.h"
#include "harness/asgst/testing/ids_testing.h"
#include "harness/asgst/testing/queue_testing.h"

namespace walkhammer::asgst {
namespace {

thread_local int local_of_thread = 0;

// Which threads a queue's handler ran on, and what it found there.
struct Places {
  explicit Places(RunningMethod& running) : thread(running) {}

  static void Note(ASGST_Iterator* iterator, void* self, void*) {
    auto* places = static_cast<Places*>(self);
    void* env = nullptr;
    const bool is_own = syscall(SYS_gettid) == places->thread.os_thread();
    if (is_own) {
      places->own++;
      if (local_of_thread == 7) places->with_local++;
      LiveJvm::Get().jvm().vm()->GetEnv(&env, JNI_VERSION_1_6);
      if (env == places->thread.env()) places->with_env++;
    }
    if (asgst_element_state(iterator) == ASGST_ELEMENT_LOST) places->lost++;
    ASGST_Frame frame;
    if (ASGST_NextFrame(iterator, &frame) == 1 && NameOf(frame.method) != "?") places->named++;
    places->all++;
  }

  RunningMethod& thread;
  std::atomic<int> all{0}, own{0}, with_local{0}, with_env{0}, named{0}, lost{0};
};

class OwnPolls : public LiveTest {
 protected:
  // Samples a thread that runs this method of wh.Api or, if `queued`, of wh.Queued.
  void ExpectHandledByItself(const char* method, bool queued) {
    constexpr int kSamples = 300;
    RunningMethod running([&] {
      local_of_thread = 7;
      queued ? CallQueued(method) : LiveJvm::Get().Call(method);
    });
    Places places(running);
    ASGST_Queue* queue = ASGST_RegisterQueue(running.env(), 4, 0, Places::Note, &places);
    if ((asgst_hooks() & ASGST_HOOKS_POLLS) == 0) {
      EXPECT_TRUE(ASGST_DeregisterQueue(running.env(), queue));
      GTEST_SKIP() << "this JVM cannot be hooked";
    }
    int taken = 0;
    for (int i = 0; i < kSamples; i++) {
      int result = 0;
      EXPECT_TRUE(running.Raise(
          [&](ucontext_t* context) { result = ASGST_Enqueue(queue, context, nullptr); }));
      if (result > 0) taken++;
      EXPECT_TRUE(WaitFor([&] { return places.all == taken; }));
    }
    EXPECT_TRUE(ASGST_DeregisterQueue(running.env(), queue));
    EXPECT_GT(taken, kSamples / 2);
    // On a busy machine a thread may get no processor for so long that the service does its work.
    EXPECT_GT(places.own, taken / 2);
    EXPECT_EQ(places.with_local, places.own);
    EXPECT_EQ(places.with_env, places.own);
    EXPECT_EQ(places.named, taken);
    EXPECT_LT(places.lost, taken / 20);
    printf("%s: %d of %d by the sampled thread, lost %d\n", method, places.own.load(), taken,
           places.lost.load());
  }
};

TEST_F(OwnPolls, OfInterpretedLoops) { ExpectHandledByItself("interpSpin", false); }
TEST_F(OwnPolls, OfCompiledLoops) { ExpectHandledByItself("c2Spin", false); }
TEST_F(OwnPolls, OfInterpretedCalls) { ExpectHandledByItself("interpCalls", true); }
TEST_F(OwnPolls, OfCompiledCalls) { ExpectHandledByItself("c2Calls", true); }

// Two queues of a thread: the first's handler ends the second.
struct TwoQueues {
  JNIEnv* env;
  ASGST_Queue *first, *second;
  std::atomic<bool> ended{false};
  std::atomic<int> handled{0}, started{0};
};

TEST_F(OwnPolls, AQueueThatAHandlerEndsIsNotBegun) {
  RunningMethod running("c2Spin");
  TwoQueues two{running.env(), nullptr, nullptr};
  const auto end = [](ASGST_Iterator*, void* self, void*) {
    auto* t = static_cast<TwoQueues*>(self);
    t->ended = ASGST_DeregisterQueue(t->env, t->second);
  };
  const auto handle = [](ASGST_Iterator*, void* self, void*) {
    static_cast<TwoQueues*>(self)->handled++;
  };
  const auto start = [](ASGST_Queue*, ASGST_Iterator*, void* self) {
    static_cast<TwoQueues*>(self)->started++;
  };
  two.first = ASGST_RegisterQueue(two.env, 4, 0, end, &two);
  two.second = ASGST_RegisterQueue(two.env, 4, 0, handle, &two);
  ASGST_SetOnQueueProcessingStart(two.second, 0, false, start, &two);
  EXPECT_TRUE(running.Raise([&](ucontext_t* context) {
    EXPECT_EQ(ASGST_Enqueue(two.first, context, nullptr), ASGST_JAVA_TRACE);
    EXPECT_EQ(ASGST_Enqueue(two.second, context, nullptr), ASGST_JAVA_TRACE);
  }));
  EXPECT_TRUE(WaitFor([&] { return ASGST_GetQueueSizeInfo(two.first).size == 0; }));
  EXPECT_TRUE(ASGST_DeregisterQueue(two.env, two.first)) << "waits for the handlers";
  EXPECT_TRUE(two.ended);
  EXPECT_EQ(two.started, 0);
  EXPECT_EQ(two.handled, 0);
}

// A thread that comes to no poll is served all the same.
TEST_F(OwnPolls, AThreadInNativeIsServedByAStop) {
  RunningProbe probe;
  Places places(probe.thread());
  ASGST_Queue* queue = ASGST_RegisterQueue(probe.thread().env(), 4, 0, Places::Note, &places);
  EXPECT_TRUE(probe.thread().Raise([&](ucontext_t* context) {
    EXPECT_EQ(ASGST_Enqueue(queue, context, nullptr), ASGST_JAVA_TRACE);
  }));
  EXPECT_TRUE(WaitFor([&] { return places.all == 1; }));
  EXPECT_EQ(places.own, 0);
  EXPECT_TRUE(ASGST_DeregisterQueue(probe.thread().env(), queue));
}

// An element of a thread that ran waits for that thread's poll, though a collection handles what is
// left or old. On a busy machine a collection begins late: then it is tried again.
TEST_F(OwnPolls, ACollectionLeavesNewElementsToTheirThread) {
  constexpr int kMostTries = 20;
  RunningProbe probe;
  Places places(probe.thread());
  ASGST_Queue* queue = ASGST_RegisterQueue(probe.thread().env(), 4, 0, Places::Note, &places);
  if ((asgst_hooks() & ASGST_HOOKS_POLLS) == 0) {
    EXPECT_TRUE(ASGST_DeregisterQueue(probe.thread().env(), queue));
    GTEST_SKIP() << "this JVM cannot be hooked";
  }
  JNIEnv* env = live_.env();
  jclass system = FindTestClass("java/lang/System");
  bool has_waited = false;
  for (int taken = 1; taken <= kMostTries && !has_waited; taken++) {
    EXPECT_EQ(ASGST_Enqueue(queue, nullptr, nullptr), ASGST_JAVA_TRACE) << "it stands in native";
    env->CallStaticVoidMethod(system, StaticMethod(system, "gc", "()V"));
    has_waited = places.all < taken;
    EXPECT_TRUE(WaitFor([&] { return places.all == taken; }));
  }
  EXPECT_TRUE(has_waited);
  EXPECT_TRUE(ASGST_DeregisterQueue(probe.thread().env(), queue));
}

// What needs JNI or JVMTI, which a handler may call on no thread, does nothing.
TEST_F(OwnPolls, AHandlerGetsNothingThatNeedsTheJvm) {
  static const auto on_unload = [](ASGST_Class, ASGST_Method*, int, bool, void*) {};
  struct Tried {
    jclass mirror;
    ASGST_Class klass;
    bool got = false;
    std::atomic<bool> done{false};
  } tried;
  JNIEnv* env = live_.env();
  tried.mirror = static_cast<jclass>(env->NewGlobalRef(FindTestClass("wh/Api")));
  tried.klass = ASGST_JClassToClass(tried.mirror);
  ASSERT_NE(tried.klass, nullptr);
  RunningMethod running("interpSpin");
  const auto handle = [](ASGST_Iterator*, void* argument, void*) {
    auto* t = static_cast<Tried*>(argument);
    t->got = ASGST_JClassToClass(t->mirror) != nullptr || ASGST_ClassToJClass(t->klass) != nullptr;
    ASGST_RegisterClassUnloadHandler(on_unload, t);
    t->got |= ASGST_DeregisterClassUnloadHandler(on_unload, t);
    t->done = true;
  };
  ASGST_Queue* queue = ASGST_RegisterQueue(running.env(), 4, 0, handle, &tried);
  EXPECT_TRUE(running.Raise([&](ucontext_t* context) { ASGST_Enqueue(queue, context, nullptr); }));
  EXPECT_TRUE(WaitFor([&] { return tried.done.load(); }));
  EXPECT_TRUE(ASGST_DeregisterQueue(running.env(), queue));
  EXPECT_FALSE(tried.got);
  EXPECT_FALSE(ASGST_DeregisterClassUnloadHandler(on_unload, &tried)) << "was not registered";
  env->DeleteGlobalRef(tried.mirror);
}

}  // namespace
}  // namespace walkhammer::asgst
