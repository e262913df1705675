// SPDX-License-Identifier: Apache-2.0
// What has become of an element's frames when the element is handled, on a live JVM: see
// asgst_element_state.
#include "harness/asgst/testing/queue_testing.h"

namespace walkhammer::asgst {
namespace {

using QueueFrames = QueueTest;

void ExpectFrame(const Handled& handled, size_t n, const char* name, int bci) {
  ASSERT_GT(handled.frames.size(), n);
  EXPECT_EQ(handled.frames[n].name, std::string("wh.Queued.") + name + "()V");
  EXPECT_EQ(handled.frames[n].bci, bci);
}

TEST_F(QueueFrames, OneThatStandsWhereItStoodIsExact) {
  Register(4);
  live_.on_probe = [&] {
    EXPECT_EQ(EnqueueHere(7), ASGST_JAVA_TRACE);
    Process();
  };
  CallQueued("interpLeafThenProbe");
  const auto all = collector_.Get();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].state, ASGST_ELEMENT_EXACT);
  EXPECT_EQ(all[0].returned, 0);
  EXPECT_EQ(all[0].arg, 7);
  EXPECT_EQ(all[0].end, ASGST_NO_FRAME);
  ASSERT_EQ(all[0].frames.size(), 2u);
  ExpectFrame(all[0], 0, "interpLeaf", 0);
  ExpectFrame(all[0], 1, "interpLeafThenProbe", 0);
  EXPECT_EQ(all[0].frames[0].type, ASGST_FRAME2_JAVA) << "the native method's is left out";
}

TEST_F(QueueFrames, OneThatHasGoneOnIsShownWhereItStood) {
  const Handled handled = EnqueueThenProcess("interpTwice");
  EXPECT_EQ(handled.state, ASGST_ELEMENT_MOVED);
  EXPECT_EQ(handled.frames.size(), 1u);
  ExpectFrame(handled, 0, "interpTwice", 0);
}

TEST_F(QueueFrames, OneThatReturnedIsReportedAsReturned) {
  const Handled handled = EnqueueThenProcess("interpLeafThenProbe");
  EXPECT_EQ(handled.state, ASGST_ELEMENT_RETURNED);
  EXPECT_EQ(handled.returned, 1);
  EXPECT_EQ(handled.frames.size(), 1u);
  ExpectFrame(handled, 0, "interpLeafThenProbe", 0);
}

TEST_F(QueueFrames, OneThatWasCalledAnewFromElsewhereHasReturned) {
  const Handled handled = EnqueueThenProcess("interpLeafFromTwoPlaces");
  EXPECT_EQ(handled.state, ASGST_ELEMENT_RETURNED);
  EXPECT_EQ(handled.frames.size(), 1u);
  ExpectFrame(handled, 0, "interpLeafFromTwoPlaces", 0);
}

// The limit that asgst_iterator.h documents.
TEST_F(QueueFrames, OneThatWasCalledAnewFromTheSamePlaceCannotBeTold) {
  const Handled handled = EnqueueThenProcess("interpLeafFromOnePlace");
  EXPECT_EQ(handled.state, ASGST_ELEMENT_EXACT);
}

TEST_F(QueueFrames, WhereAllThatWereRecordedReturnedTheElementIsLost) {
  const Handled handled = EnqueueThenProcess("interpDeepThenProbe");
  EXPECT_EQ(handled.state, ASGST_ELEMENT_LOST);
  EXPECT_EQ(handled.returned, 8);
  // The frames that are now beyond the recorded ones, whether they were there before or not.
  ASSERT_EQ(handled.frames.size(), 2u);
  EXPECT_EQ(handled.frames[0].name, "wh.Api.probe()V");
  ExpectFrame(handled, 1, "interpDeepThenProbe", 5);
}

TEST_F(QueueFrames, WhereTheWholeStackReturnedThereIsNoFrame) {
  Register(4);
  live_.on_probe = [&] { EXPECT_EQ(EnqueueHere(7), ASGST_JAVA_TRACE); };
  CallQueued("interpLeaf");
  Process();
  const auto all = collector_.Get();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].state, ASGST_ELEMENT_LOST);
  EXPECT_TRUE(all[0].frames.empty());
  EXPECT_EQ(all[0].end, ASGST_NO_FRAME);
}

TEST_F(QueueFrames, CompiledFramesAreShownWithWhatIsInlined) {
  const Handled handled = EnqueueThenProcess("warmC2Twice", 2 * 20'001);
  EXPECT_EQ(handled.state, ASGST_ELEMENT_MOVED);
  ASSERT_EQ(handled.frames.size(), 3u);
  EXPECT_EQ(handled.frames[0].level, 4);
  EXPECT_EQ(handled.frames[0].type, ASGST_FRAME2_JAVA_INLINED);
  ExpectFrame(handled, 0, "inlinedFirst", 0);
  ExpectFrame(handled, 1, "c2Twice", 0);
  EXPECT_EQ(handled.frames[2].name, "wh.Queued.warmC2Twice()V");
}

TEST_F(QueueFrames, ACompiledFrameThatReturnedLeavesItsCompiledCaller) {
  const Handled handled = EnqueueThenProcess("warmC2LeafThenProbe", 2 * 20'001);
  EXPECT_EQ(handled.state, ASGST_ELEMENT_RETURNED);
  EXPECT_EQ(handled.returned, 1);
  ASSERT_EQ(handled.frames.size(), 2u);
  ExpectFrame(handled, 0, "c2LeafThenProbe", 0);
  EXPECT_EQ(handled.frames[0].level, 4);
}

TEST_F(QueueFrames, AFrameThatWasCompiledMeanwhileIsStillThere) {
  const Handled handled = EnqueueThenProcess("interpOsrTwice", 10);
  EXPECT_EQ(handled.state, ASGST_ELEMENT_MOVED);
  ASSERT_EQ(handled.frames.size(), 2u);
  EXPECT_EQ(handled.frames[0].level, 4);
  EXPECT_EQ(handled.frames[0].name, "wh.Queued.osrTwice()V");
}

TEST_F(QueueFrames, AFrameThatWasCompiledAndAlignedMeanwhileIsStillThere) {
  const Handled handled = EnqueueThenProcess("interpOsrDeeper", 10);
  EXPECT_EQ(handled.state, ASGST_ELEMENT_MOVED);
  ASSERT_EQ(handled.frames.size(), 2u);
  EXPECT_EQ(handled.frames[0].name, "wh.Queued.osrValue()I");
  EXPECT_EQ(handled.frames[0].level, 4);
}

// All virtual threads run at the same place of their carrier's stack.
TEST_F(QueueFrames, AnotherVirtualThreadIsNotTakenForTheOneThatWasThere) {
  JNIEnv* env = live_.env();
  const bool has_virtual = env->FindClass("java/lang/VirtualThread") != nullptr;
  env->ExceptionClear();
  if (!has_virtual) GTEST_SKIP() << "no virtual threads";
  JNIEnv* carrier = nullptr;
  live_.on_probe = [&] {
    if (carrier == nullptr) {
      carrier = live_.env();
      queue_ = ASGST_RegisterQueue(carrier, 4, 0, Collector::Handle, &collector_);
      EXPECT_EQ(EnqueueHere(1), ASGST_JAVA_TRACE);
    } else if (carrier == live_.env() && collector_.count() == 0) {
      EXPECT_EQ(EnqueueHere(2), ASGST_JAVA_TRACE);
      Process();
    }
  };
  CallQueued("virtualLeaves");
  EXPECT_TRUE(ASGST_DeregisterQueue(carrier, queue_));
  queue_ = nullptr;
  const auto all = collector_.Get();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].state, ASGST_ELEMENT_LOST);
  EXPECT_TRUE(all[0].frames.empty());
  EXPECT_EQ(all[1].state, ASGST_ELEMENT_EXACT);
  EXPECT_EQ(all[1].frames[0].name, "wh.Queued.interpLeaf()V");
}

}  // namespace
}  // namespace walkhammer::asgst
