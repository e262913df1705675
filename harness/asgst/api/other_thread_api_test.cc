// SPDX-License-Identifier: Apache-2.0
// Walks of parked threads by JNIEnv and by OS thread id, on a live JVM: see asgst.h.
#include <atomic>

#include "harness/asgst/testing/live_jvm.h"
#include "harness/jvm/live/jvmti_env.h"

namespace walkhammer::asgst {
namespace {

constexpr int kDepth = Answer::kDepth;

struct OtherWalk : Answer {
  JNIEnv* env = nullptr;
};

// How the caller names the thread to walk.
enum class By { kEnv, kId };

class OtherThread : public LiveTest, public testing::WithParamInterface<By> {
 protected:
  void Walk(const RunningMethod& of, ucontext_t* context, int depth = kDepth) {
    Walk(of.env(), of.os_thread(), context, walk_, depth);
  }
  static void Walk(JNIEnv* env, int os_thread, ucontext_t* context, OtherWalk& walk,
                   int depth = kDepth) {
    if (GetParam() == By::kEnv)
      asgst_get_stack_trace_of(env, &walk.trace, depth, context, 0);
    else
      asgst_get_stack_trace_of_os_thread(os_thread, &walk.env, &walk.trace, depth, context, 0);
  }

  OtherWalk walk_;
};

INSTANTIATE_TEST_SUITE_P(Forms, OtherThread, testing::Values(By::kEnv, By::kId),
                         [](const auto& form) {
                           return form.param == By::kEnv ? "ByEnv" : "ById";
                         });

TEST_P(OtherThread, ParkedInItsHandlerInCompiledCode) {
  RunningMethod running("c2Spin");
  running.WhileParked([&](ucontext_t* context) {
    Walk(running, context);
    EXPECT_EQ(walk_.NameAt(-1), "wh.Api.c2Spin()V");
    if (GetParam() == By::kId) {
      EXPECT_EQ(walk_.env, running.env());
    }
    // From a thread that the JVM does not know.
    OtherWalk alien;
    std::thread([&] { Walk(running.env(), running.os_thread(), context, alien); }).join();
    EXPECT_EQ(alien.count(), walk_.count());
    EXPECT_EQ(alien.NameAt(-1), "wh.Api.c2Spin()V");
  });
}

TEST_P(OtherThread, ParkedInItsHandlerWhileInterpreted) {
  RunningMethod running("interpSpin");
  running.WhileParked([&](ucontext_t* context) {
    Walk(running, context);
    EXPECT_EQ(walk_.count(), 1);
    EXPECT_EQ(walk_.NameAt(0), "wh.Api.interpSpin()V");
    EXPECT_EQ(walk_.frames[0].java_frame.comp_level, 0);
    EXPECT_NE(walk_.frames[0].java_frame.bci, 65535);
  });
}

TEST_P(OtherThread, InAHandlerOfTheWalkingThread) {
  RunningMethod running("interpSpin");
  running.WhileParked([&](ucontext_t* context) {
    // Not with RaiseHere, whose only handler the parked thread is in.
    static std::function<void()> in_handler;
    in_handler = [&] { Walk(running, context); };
    struct sigaction action {
    }, before{};
    action.sa_handler = [](int) { in_handler(); };
    sigaction(SIGUSR2, &action, &before);
    raise(SIGUSR2);
    sigaction(SIGUSR2, &before, nullptr);
    EXPECT_EQ(walk_.NameAt(0), "wh.Api.interpSpin()V");
  });
}

TEST_P(OtherThread, InNativeFromItsAnchor) {
  RunningProbe probe;
  Walk(probe.thread(), nullptr);
  EXPECT_EQ(walk_.count(), 2);
  EXPECT_EQ(walk_.NameAt(0), "wh.Api.probe()V");
  EXPECT_EQ(walk_.NameAt(1), "wh.Api.interpProbe()V");
  Walk(probe.thread(), nullptr, 1);
  EXPECT_EQ(walk_.count(), 1);
}

TEST_P(OtherThread, SuspendedByJvmti) {
  // In HotSpot only one JVMTI environment at a time may have can_suspend; in the JVM of the tests
  // no other environment has it.
  jvmtiEnv* jvmti = NewJvmti(live_.jvm().vm());
  jvmtiCapabilities wanted{};
  wanted.can_suspend = 1;
  ASSERT_EQ(jvmti->AddCapabilities(&wanted), JVMTI_ERROR_NONE);
  std::atomic<jthread> target{nullptr};
  RunningMethod running([&] {
    jthread own = nullptr;
    jvmti->GetCurrentThread(&own);
    target = live_.env()->NewGlobalRef(own);
    live_.Call("interpSleep");
  });
  ASSERT_NE(target, nullptr);
  ASSERT_EQ(jvmti->SuspendThread(target), JVMTI_ERROR_NONE);
  Walk(running, nullptr);
  EXPECT_EQ(walk_.NameAt(-1), "wh.Api.interpSleep()V");
  jvmtiFrameInfo truth[32];
  jint depth = 0;
  EXPECT_EQ(jvmti->GetStackTrace(target, 0, 32, truth, &depth), JVMTI_ERROR_NONE);
  EXPECT_EQ(walk_.count(), depth);
  for (jint n = 0; n < depth && n < walk_.count(); n++)
    EXPECT_EQ(walk_.frames[n].java_frame.method_id, truth[n].method) << n;
  EXPECT_EQ(jvmti->ResumeThread(target), JVMTI_ERROR_NONE);
  jvmti->DisposeEnvironment();
}

// The caller breaks the promise to keep the thread parked: the thread runs on, or ends. Any answer
// will do.
TEST_P(OtherThread, OneThatRunsOnDoesNoHarm) {
  ucontext_t old{};
  int walks = 0;
  for (int round = 0; round < 20; round++) {
    RunningMethod running(round % 2 == 0 ? "interpSpin" : "c2Spin");
    running.Raise([&](ucontext_t* context) { old = *context; });
    for (int i = 0; i < 500; i++, walks++) {
      Walk(running, i % 2 == 0 ? &old : nullptr);
    }
  }
  EXPECT_EQ(walks, 10'000);
}

TEST_P(OtherThread, OneThatEndsMeanwhileDoesNoHarm) {
  for (int round = 0; round < 30; round++) {
    auto running = std::make_unique<RunningMethod>("interpSleep");
    ucontext_t old{};
    running->Raise([&](ucontext_t* context) { old = *context; });
    JNIEnv* env = running->env();
    const int id = running->os_thread();
    std::atomic<bool> stop{false};
    std::thread walker([&] {
      while (!stop) {
        OtherWalk walk;
        Walk(env, id, &old, walk);
      }
    });
    running.reset();
    stop = true;
    walker.join();
    OtherWalk walk;
    asgst_get_stack_trace_of_os_thread(id, &walk.env, &walk.trace, kDepth, nullptr, 0);
    EXPECT_EQ(walk.count(), ASGST_THREAD_NOT_JAVA);
    EXPECT_EQ(walk.env, nullptr);
  }
}

TEST_F(OtherThread, WhatIsNoThreadOfTheJvms) {
  for (const jlong id : {jlong{0}, jlong{-2}, jlong{1} << 40, jlong{getpid()} + 500'000}) {
    walk_.trace.num_frames = 7;
    walk_.env = live_.env();
    asgst_get_stack_trace_of_os_thread(id, &walk_.env, &walk_.trace, kDepth, nullptr, 0);
    EXPECT_EQ(walk_.count(), ASGST_THREAD_NOT_JAVA) << id;
    EXPECT_EQ(walk_.env, nullptr);
  }
  for (JNIEnv* env : {static_cast<JNIEnv*>(nullptr), live_.env() + 1}) {
    walk_.trace.num_frames = 7;
    asgst_get_stack_trace_of(env, &walk_.trace, kDepth, nullptr, 0);
    EXPECT_EQ(walk_.count(), ASGST_THREAD_NOT_JAVA);
  }
  // A thread of this process that is not attached to the JVM.
  std::atomic<int> id{0};
  std::atomic<bool> leave{false};
  std::thread alien([&] {
    id = static_cast<int>(syscall(SYS_gettid));
    while (!leave) std::this_thread::yield();
  });
  EXPECT_TRUE(WaitFor([&] { return id != 0; }));
  asgst_get_stack_trace_of_os_thread(id, nullptr, &walk_.trace, kDepth, nullptr, 0);
  EXPECT_EQ(walk_.count(), ASGST_THREAD_NOT_JAVA);
  leave = true;
  alien.join();
}

TEST_F(OtherThread, MinusOneIsTheCurrentThread) {
  InProbe("interpProbe", [&](ucontext_t* context) {
    asgst_get_stack_trace_of_os_thread(-1, &walk_.env, &walk_.trace, kDepth, context, 0);
  });
  EXPECT_EQ(walk_.env, live_.env());
  EXPECT_EQ(walk_.NameAt(1), "wh.Api.interpProbe()V");
  std::thread([&] {
    asgst_get_stack_trace_of_os_thread(-1, &walk_.env, &walk_.trace, kDepth, nullptr, 0);
    EXPECT_EQ(walk_.count(), ASGST_THREAD_NOT_JAVA);
    EXPECT_EQ(walk_.env, nullptr);
  }).join();
}

TEST_P(OtherThread, AThreadWithoutJavaFrames) {
  std::atomic<bool> leave{false};
  RunningMethod native([&] {
    while (!leave) std::this_thread::yield();
  });
  Walk(native, nullptr);
  EXPECT_EQ(walk_.count(), ASGST_NO_JAVA_FRAME);
  leave = true;
}

}  // namespace
}  // namespace walkhammer::asgst
