// SPDX-License-Identifier: Apache-2.0
// The functions of asgct.h on a live JVM: parked threads by JNIEnv and by OS thread id.
#include "harness/asgst/include/asgct.h"
#include "harness/asgst/testing/live_jvm.h"

namespace walkhammer::asgst {
namespace {

constexpr int kDepth = Answer::kDepth;
constexpr jint kThreadExit = -8;

struct Called {
  ASGCT_CallFrame frames[kDepth];
  ASGCT_CallTrace trace{nullptr, -99, frames};

  std::string NameAt(int n) const {
    return n < trace.num_frames ? NameOf(frames[n].method_id) : "none";
  }
  // Expects the frames that asgst.h has of the same walk.
  void ExpectSame(const Answer& other) const {
    ASSERT_EQ(trace.num_frames, other.count());
    for (int i = 0; i < trace.num_frames; i++) {
      const ASGST_JavaFrame& frame = other.frames[i].java_frame;
      EXPECT_EQ(frames[i].method_id, frame.method_id) << i;
      EXPECT_EQ(frames[i].lineno, frame.type == ASGST_FRAME_NATIVE ? -3 : frame.bci) << i;
    }
  }
};

class CallTraceApi : public LiveTest {
 protected:
  Called called_;
};

TEST_F(CallTraceApi, OfAnotherThreadByItsEnv) {
  RunningMethod running("c2Spin");
  running.WhileParked([&](ucontext_t* context) {
    Answer other;
    called_.trace.env_id = running.env();
    asgst_get_call_trace(&called_.trace, kDepth, context);
    asgst_get_stack_trace_of(running.env(), &other.trace, kDepth, context, 0);
    EXPECT_GE(called_.trace.num_frames, 1);
    called_.ExpectSame(other);
    EXPECT_EQ(called_.trace.env_id, running.env());
  });
}

TEST_F(CallTraceApi, OfAnotherThreadByItsIdWhoseEnvIsFilledIn) {
  RunningProbe probe;
  asgst_get_call_trace_of_os_thread(&called_.trace, kDepth, nullptr, probe.thread().os_thread());
  ASSERT_EQ(called_.trace.num_frames, 2);
  EXPECT_EQ(called_.NameAt(0), "wh.Api.probe()V");
  EXPECT_EQ(called_.frames[0].lineno, -3);
  EXPECT_EQ(called_.NameAt(1), "wh.Api.interpProbe()V");
  EXPECT_EQ(called_.frames[1].lineno, 0);
  EXPECT_EQ(called_.trace.env_id, probe.thread().env());
}

TEST_F(CallTraceApi, OfTheCurrentThread) {
  Called by_id;
  Answer own;
  InProbe("c2Chain", [&](ucontext_t* context) {
    asgst_get_call_trace(&called_.trace, kDepth, context);
    asgst_get_call_trace_of_os_thread(&by_id.trace, kDepth, context, -1);
    AsyncGetStackTrace(&own.trace, kDepth, context, 0);
  });
  ASSERT_EQ(own.count(), 4);
  called_.ExpectSame(own);
  by_id.ExpectSame(own);
  EXPECT_EQ(called_.trace.env_id, nullptr);
  EXPECT_EQ(by_id.trace.env_id, live_.env());
}

TEST_F(CallTraceApi, AnEnvThatIsSetIsLeftAlone) {
  int mark = 0;
  auto* set = reinterpret_cast<JNIEnv*>(&mark);
  called_.trace.env_id = set;
  RunningProbe probe;
  asgst_get_call_trace_of_os_thread(&called_.trace, kDepth, nullptr, probe.thread().os_thread());
  EXPECT_EQ(called_.trace.num_frames, 2);
  EXPECT_EQ(called_.trace.env_id, set);
}

TEST_F(CallTraceApi, WhatIsNoThreadExits) {
  asgst_get_call_trace_of_os_thread(&called_.trace, kDepth, nullptr, 1);
  EXPECT_EQ(called_.trace.num_frames, kThreadExit);
  EXPECT_EQ(called_.trace.env_id, nullptr);
  int mark = 0;
  called_.trace.env_id = reinterpret_cast<JNIEnv*>(&mark);
  asgst_get_call_trace(&called_.trace, kDepth, nullptr);
  EXPECT_EQ(called_.trace.num_frames, kThreadExit);
  Called outside;
  std::thread([&] {
    RaiseHere([&](ucontext_t* context) { asgst_get_call_trace(&outside.trace, kDepth, context); });
  }).join();
  EXPECT_EQ(outside.trace.num_frames, kThreadExit);
}

}  // namespace
}  // namespace walkhammer::asgst
