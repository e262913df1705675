// SPDX-License-Identifier: Apache-2.0
// The function of profile_late.h on a live JVM. That header has names of asgst.h, so the trace is
// declared anew; harness/asgst/testing/clients/late_names.c compiles the header.
#include "harness/asgst/testing/live_jvm.h"

extern "C" {
struct LateTrace {
  jint num_frames;
  uint8_t kind;
  jint state;
  ASGST_CallFrame* frames;
  void* frame_info;
};
void JNICALL asgst_get_stack_trace_of_kind(LateTrace* trace, jint depth, void* ucontext,
                                           int32_t options);
}

namespace walkhammer::asgst {
namespace {

constexpr int kDepth = Answer::kDepth;
constexpr uint8_t kJava = 1, kCpp = 2, kDeopt = 8, kNewThread = 16, kUnknown = 32;
constexpr jint kWrongState = -13, kWrongKind = -14;
constexpr int32_t kCFrames = 1, kNonJavaThreads = 2, kSameThread = 8;
constexpr jint kInNative = 0x400005;

struct Late {
  ASGST_CallFrame frames[kDepth];
  LateTrace trace{-99, 0, 0, frames, this};

  void Here(ucontext_t* context, int32_t options = kSameThread) {
    asgst_get_stack_trace_of_kind(&trace, kDepth, context, options);
  }
  std::string Types() const {
    std::string types;
    for (int i = 0; i < trace.num_frames; i++) types += static_cast<char>('0' + frames[i].type);
    return types;
  }
};

class StackTraceOfKind : public LiveTest {
 protected:
  void InProbe(uint8_t kinds, jint states, int32_t options = kSameThread) {
    late_.trace.kind = kinds;
    late_.trace.state = states;
    LiveTest::InProbe("interpProbe", [&](ucontext_t* context) { late_.Here(context, options); });
  }
  Late late_;
};

TEST_F(StackTraceOfKind, JavaTraceWithItsState) {
  InProbe(0, 0);
  EXPECT_EQ(late_.Types(), "31");
  EXPECT_EQ(NameOf(late_.frames[1].java_frame.method_id), "wh.Api.interpProbe()V");
  EXPECT_EQ(late_.trace.kind, kJava);
  EXPECT_EQ(late_.trace.state, kInNative);
  EXPECT_EQ(late_.trace.frame_info, nullptr);
}

TEST_F(StackTraceOfKind, StubsAndCFramesAreOfOneType) {
  ASSERT_EQ(asgst_wait_for_c_frames(10'000), 0);
  InProbe(0, 0, kSameThread | kCFrames);
  const std::string types = late_.Types();
  EXPECT_NE(types.find("314"), std::string::npos) << types;
  EXPECT_EQ(types.find('5'), std::string::npos) << types;
}

TEST_F(StackTraceOfKind, WhatIsNotWantedIsRefused) {
  InProbe(kJava | kCpp, 0);
  EXPECT_EQ(late_.trace.num_frames, 2);
  InProbe(kCpp, 0);
  EXPECT_EQ(late_.trace.num_frames, kWrongKind);
  EXPECT_EQ(late_.trace.kind, kJava) << "what it is, is told";
  constexpr jint kWaiting = 0x80;
  InProbe(0, kWaiting | 4);
  EXPECT_EQ(late_.trace.num_frames, 2);
  InProbe(0, kWaiting);
  EXPECT_EQ(late_.trace.num_frames, kWrongState);
  EXPECT_EQ(late_.trace.state, kInNative);
}

TEST_F(StackTraceOfKind, OfAThreadOfNoJvm) {
  ASSERT_EQ(asgst_wait_for_c_frames(10'000), 0);
  Late without, walked, no_frames;
  walked.trace.state = 1;  // such a trace is wanted in any state
  std::thread([&] {
    RaiseHere([&](ucontext_t* context) {
      without.Here(context, kCFrames);
      walked.Here(context, kCFrames | kNonJavaThreads);
      no_frames.Here(context, kNonJavaThreads);
    });
  }).join();
  EXPECT_EQ(without.trace.num_frames, ASGST_THREAD_NOT_JAVA);
  EXPECT_GE(walked.trace.num_frames, 2);
  EXPECT_EQ(walked.Types(), std::string(walked.Types().size(), '4'));
  EXPECT_EQ(no_frames.trace.num_frames, 0);
  for (const Late* late : {&without, &walked, &no_frames}) {
    EXPECT_EQ(late->trace.kind, kCpp);
    EXPECT_EQ(late->trace.state, -1);
  }
}

TEST_F(StackTraceOfKind, NewThreadDeoptimisationAndUnknown) {
  volatile int32_t* state = Thread().state();
  const int32_t before = *state;
  const int32_t new_thread = live_.jvm().layout().states.ValueOf(2);
  Late unknown, fresh;
  RaiseHere([&](ucontext_t* context) {
    *state = 57;
    unknown.Here(context);
    *state = new_thread;
    fresh.Here(context);
    *state = before;
  });
  EXPECT_EQ(unknown.trace.num_frames, ASGST_UNKNOWN_STATE);
  EXPECT_EQ(unknown.trace.kind, kUnknown);
  EXPECT_EQ(fresh.trace.kind, kNewThread);
  const auto field = live_.jvm().structs().Offset("JavaThread", "_vframe_array_head");
  ASSERT_TRUE(field);
  auto* unpacked =
      reinterpret_cast<volatile uint64_t*>(static_cast<char*>(Thread().address()) + *field);
  RaiseHere([&](ucontext_t* context) {
    *unpacked = 0x1000;
    late_.Here(context);
    *unpacked = 0;
  });
  EXPECT_EQ(late_.trace.num_frames, ASGST_DEOPT);
  EXPECT_EQ(late_.trace.kind, kDeopt);
}

}  // namespace
}  // namespace walkhammer::asgst
