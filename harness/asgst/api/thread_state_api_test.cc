// SPDX-License-Identifier: Apache-2.0
// ASGST_ThreadState compared with JVMTI's GetThreadState, for threads in each state that JVMTI
// distinguishes: the methods of wh.States.
#include <jvmti.h>

#include "harness/asgst/include/asgst_iterator.h"
#include "harness/asgst/testing/ids_testing.h"
#include "harness/asgst/testing/live_jvm.h"

namespace walkhammer::asgst {
namespace {

constexpr jint kRunnable = 5, kNative = 0x400005, kSleeping = 0xe1, kWaiting = 0x191,
               kWaitingTimed = 0x1a1, kParked = 0x291, kParkedTimed = 0x2a1, kBlocked = 0x401;
constexpr jint kNotTold = JVMTI_THREAD_STATE_INTERRUPTED | JVMTI_THREAD_STATE_SUSPENDED;
constexpr int kUnasked = -99;

struct Situation {
  const char* method;
  jint state;  // what JVMTI says in the end, without kNotTold
};
constexpr Situation kSituations[] = {
    {"sleep", kSleeping},        {"sleepForNanos", kSleeping},
    {"await", kWaiting},         {"awaitTimed", kWaitingTimed},
    {"join", kWaiting},          {"joinTimed", kWaitingTimed},
    {"park", kParked},           {"parkWithBlocker", kParked},
    {"parkTimed", kParkedTimed}, {"parkUntil", kParkedTimed},
    {"take", kParked},           {"poll", kParkedTimed},
    {"latch", kParked},          {"acquireTimed", kParkedTimed},
    {"lock", kParked},           {"enter", kBlocked},
    {"spin", kRunnable},         {"spinInterrupted", kRunnable},
    {"accept", kNative},         {"select", kNative},
};

class ThreadStateApi : public LiveTest {
 protected:
  ThreadStateApi() {
    states_ = env()->FindClass("wh/States");
    monitor_ = env()->GetStaticObjectField(
        states_, env()->GetStaticFieldID(states_, "MONITOR", "Ljava/lang/Object;"));
  }
  JNIEnv* env() { return live_.env(); }

  void CallStates(const char* method) {
    JNIEnv* own = env();
    own->CallStaticVoidMethod(states_, own->GetStaticMethodID(states_, method, "()V"));
    own->ExceptionClear();  // of an interrupt
  }
  // What `body` does on a thread in wh.States.METHOD.
  void InSituation(const char* method, const std::function<void(RunningMethod&, jthread)>& body) {
    std::atomic<jthread> thread{nullptr};
    auto* states = static_cast<jclass>(env()->NewGlobalRef(states_));
    states_ = states;
    RunningMethod running([&] {
      jthread current = nullptr;
      TestJvmti()->GetCurrentThread(&current);
      thread = env()->NewGlobalRef(current);
      CallStates(method);
    });
    body(running, thread);
    live_.SetStop(true);
    env()->CallStaticVoidMethod(
        states_, env()->GetStaticMethodID(states_, "end", "(Ljava/lang/Thread;)V"), thread.load());
  }

  static jint JvmtiState(jthread thread) {
    jint state = 0;
    EXPECT_EQ(TestJvmti()->GetThreadState(thread, &state), JVMTI_ERROR_NONE);
    return state & ~kNotTold;
  }
  static int OwnState(RunningMethod& running) {
    int state = kUnasked;
    EXPECT_TRUE(running.Raise([&](ucontext_t*) { state = ASGST_ThreadState(); }));
    return state;
  }
  // Expects both to say `state`, once the thread has come to it. A signal ends a system call, so a
  // thread that is in one goes through Java code afterwards.
  static void ExpectBoth(RunningMethod& running, jthread thread, jint state, const char* where) {
    constexpr int kAsked = 20;
    int others = 0;
    for (int i = 0; i < kAsked; i++) {
      ASSERT_TRUE(WaitFor([&] { return JvmtiState(thread) == state; }))
          << where << std::hex << ": " << JvmtiState(thread);
      others += OwnState(running) != state ? 1 : 0;
    }
    EXPECT_LE(others, state == kNative ? kAsked / 4 : 0) << where;
  }

  jclass states_ = nullptr;
  jobject monitor_ = nullptr;
};

TEST_F(ThreadStateApi, IsWhatJvmtiSays) {
  ASSERT_EQ(env()->MonitorEnter(monitor_), JNI_OK);
  CallStates("hold");
  for (const Situation& situation : kSituations) {
    InSituation(situation.method, [&](RunningMethod& running, jthread thread) {
      ExpectBoth(running, thread, situation.state, situation.method);
      if (std::string(situation.method) == "enter") env()->MonitorExit(monitor_);
    });
    if (std::string(situation.method) == "enter") env()->MonitorEnter(monitor_);
  }
  CallStates("release");
  env()->MonitorExit(monitor_);
}

TEST_F(ThreadStateApi, OneThatWaitsToEnterItsMonitorAgainIsBlocked) {
  InSituation("reenter", [&](RunningMethod& running, jthread thread) {
    ExpectBoth(running, thread, kWaiting, "before it is notified");
    env()->MonitorEnter(monitor_);
    CallStates("hold");
    ExpectBoth(running, thread, kBlocked, "after");
    CallStates("release");
    env()->MonitorExit(monitor_);
  });
}

// At a safepoint a thread waits for nothing of its own.
TEST_F(ThreadStateApi, AtASafepointAThreadRuns) {
  InSituation("spin", [&](RunningMethod& running, jthread) {
    int state = kUnasked;
    struct Call {
      RunningMethod& running;
      int& state;
    } call{running, state};
    ASSERT_TRUE(live_.jvm().RunAtSafepoint(
        [](void* argument) {
          auto* c = static_cast<Call*>(argument);
          c->state = OwnState(c->running);
        },
        &call));
    EXPECT_EQ(state, kRunnable);
  });
}

TEST_F(ThreadStateApi, ASuspendedThreadIsTheSameAsBefore) {
  jvmtiEnv* jvmti = TestJvmti();
  jvmtiCapabilities wanted{};
  wanted.can_suspend = 1;
  ASSERT_EQ(jvmti->AddCapabilities(&wanted), JVMTI_ERROR_NONE);
  InSituation("awaitTimed", [&](RunningMethod& running, jthread thread) {
    ExpectBoth(running, thread, kWaitingTimed, "before");
    ASSERT_EQ(jvmti->SuspendThread(thread), JVMTI_ERROR_NONE);
    ExpectBoth(running, thread, kWaitingTimed, "suspended");
    ASSERT_EQ(jvmti->ResumeThread(thread), JVMTI_ERROR_NONE);
  });
  // One environment may have it at a time, and other tests need it.
  EXPECT_EQ(jvmti->RelinquishCapabilities(&wanted), JVMTI_ERROR_NONE);
}

TEST_F(ThreadStateApi, CollectionsMeanwhileDoNoHarm) {
  jclass system = env()->FindClass("java/lang/System");
  jmethodID collect = env()->GetStaticMethodID(system, "gc", "()V");
  std::atomic<bool> stop{false};
  std::thread collector([&] {
    void* own = nullptr;
    live_.jvm().vm()->AttachCurrentThread(&own, nullptr);
    while (!stop) env()->CallStaticVoidMethod(system, collect);
    live_.jvm().vm()->DetachCurrentThread();
  });
  InSituation("parkTimed", [&](RunningMethod& running, jthread thread) {
    ASSERT_TRUE(WaitFor([&] { return JvmtiState(thread) == kParkedTimed; }));
    // In the midst of a collection the state may be unknown, which is reported as kRunnable.
    int right = 0, unknown = 0;
    constexpr int kAsked = 400;
    for (int i = 0; i < kAsked; i++) {
      const int state = OwnState(running);
      right += state == kParkedTimed ? 1 : 0;
      unknown += state == kRunnable ? 1 : 0;
    }
    EXPECT_EQ(right + unknown, kAsked);
    EXPECT_GE(right, kAsked * 9 / 10);
  });
  stop = true;
  collector.join();
}

TEST_F(ThreadStateApi, InNativeAndOnAThreadOfNoJvm) {
  int native = kUnasked, none = kUnasked;
  RaiseHere([&](ucontext_t*) { native = ASGST_ThreadState(); });
  std::thread([&] { RaiseHere([&](ucontext_t*) { none = ASGST_ThreadState(); }); }).join();
  EXPECT_EQ(native, kNative);
  EXPECT_EQ(none, 0);
}

}  // namespace
}  // namespace walkhammer::asgst
