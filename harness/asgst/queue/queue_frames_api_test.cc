// SPDX-License-Identifier: Apache-2.0
// What has become of an element's frames when the element is handled, on a live JVM: see
// asgst_element_state.
#include "harness/asgst/testing/queue_testing.h"

namespace walkhammer::asgst {
namespace {

using QueueFrames = QueueTest;

void ExpectFrame(const Handled& handled, size_t n, const std::string& name, int bci) {
  ASSERT_GT(handled.frames.size(), n);
  EXPECT_EQ(handled.frames[n].name,
            "wh.Queued." + name + (name.find('(') == name.npos ? "()V" : ""));
  EXPECT_EQ(handled.frames[n].bci, bci);
}

// Frames that have returned stand nowhere; those that have not do.
void ExpectPlaces(const Handled& handled, size_t gone) {
  for (size_t n = 0; n < handled.frames.size(); n++) {
    EXPECT_EQ(handled.frames[n].sp == nullptr, n < gone) << n;
    EXPECT_EQ(handled.frames[n].fp == nullptr, n < gone) << n;
  }
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
  ExpectPlaces(all[0], 0);
  EXPECT_EQ(all[0].frames[0].sp, all[0].element.sp);
  EXPECT_EQ(all[0].frames[0].fp, all[0].element.fp);
  EXPECT_EQ(all[0].frames[0].type, ASGST_FRAME2_JAVA) << "the native method's is left out";
}

TEST_F(QueueFrames, OneThatHasGoneOnIsShownWhereItStood) {
  const Handled handled = EnqueueThenProcess("interpTwice");
  EXPECT_EQ(handled.state, ASGST_ELEMENT_MOVED);
  EXPECT_EQ(handled.frames.size(), 1u);
  ExpectFrame(handled, 0, "interpTwice", 0);
  ExpectPlaces(handled, 0);
}

TEST_F(QueueFrames, OneThatReturnedIsReportedAsReturned) {
  const Handled handled = EnqueueThenProcess("interpLeafThenProbe");
  EXPECT_EQ(handled.state, ASGST_ELEMENT_RETURNED);
  EXPECT_EQ(handled.returned, 1);
  EXPECT_EQ(handled.frames.size(), 2u);
  ExpectFrame(handled, 0, "interpLeaf", 0);
  ExpectFrame(handled, 1, "interpLeafThenProbe", 0);
  ExpectPlaces(handled, 1);
  EXPECT_EQ(handled.end, ASGST_NO_FRAME);
}

TEST_F(QueueFrames, OneThatWasCalledAnewFromElsewhereHasReturned) {
  const Handled handled = EnqueueThenProcess("interpLeafFromTwoPlaces");
  EXPECT_EQ(handled.state, ASGST_ELEMENT_RETURNED);
  EXPECT_EQ(handled.frames.size(), 2u);
  ExpectFrame(handled, 0, "interpLeaf", 0);
  ExpectFrame(handled, 1, "interpLeafFromTwoPlaces", 0);
  ExpectPlaces(handled, 1);
}

TEST_F(QueueFrames, OneThatWasCalledAnewFromAMethodInlinedElsewhereHasReturned) {
  const Handled handled = EnqueueThenProcess("warmC2FromTwoPlaces", 2 * 20'001);
  EXPECT_EQ(handled.state, ASGST_ELEMENT_RETURNED);
  EXPECT_EQ(handled.returned, 1);
  ASSERT_EQ(handled.frames.size(), 4u);
  ExpectFrame(handled, 0, "c2Leaf", 0);
  ExpectFrame(handled, 1, "inlinedCall", 0);
  ExpectFrame(handled, 2, "c2FromTwoPlaces", 0);
  ExpectPlaces(handled, 1);
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
  ASSERT_EQ(handled.frames.size(), 8u);
  ExpectFrame(handled, 0, "interpDeep(I)V", 4);
  for (size_t n = 1; n < 8; n++) ExpectFrame(handled, n, "interpDeep(I)V", 13);
  ExpectPlaces(handled, 8);
  EXPECT_EQ(handled.end, ASGST_BROKEN_STACK) << "what is there now need not be their caller";
}

// Eight frames are recorded, and where their caller stood.
TEST_F(QueueFrames, EightThatWereCalledAnewFromElsewhereAreLost) {
  const Handled handled = EnqueueThenProcess("interpEightFromTwoPlaces");
  EXPECT_EQ(handled.state, ASGST_ELEMENT_LOST);
  EXPECT_EQ(handled.returned, 8);
  ASSERT_EQ(handled.frames.size(), 8u);
  ExpectFrame(handled, 0, "interpDeep(I)V", 4);
  EXPECT_EQ(handled.end, ASGST_BROKEN_STACK);
}

TEST_F(QueueFrames, EightThatAreTheWholeStackAreShownToItsEnd) {
  Register(4);
  live_.on_probe = [&] { EXPECT_EQ(EnqueueHere(7), ASGST_JAVA_TRACE); };
  CallQueued("interpEight");
  Process();
  const auto all = collector_.Get();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].state, ASGST_ELEMENT_LOST);
  ASSERT_EQ(all[0].frames.size(), 8u);
  EXPECT_EQ(all[0].frames.back().name, "wh.Queued.interpEight()V");
  EXPECT_EQ(all[0].end, ASGST_NO_FRAME);
}

TEST_F(QueueFrames, WhereTheWholeStackReturnedItIsShownAsItWas) {
  Register(4);
  live_.on_probe = [&] { EXPECT_EQ(EnqueueHere(7), ASGST_JAVA_TRACE); };
  CallQueued("interpLeaf");
  Process();
  const auto all = collector_.Get();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].state, ASGST_ELEMENT_LOST);
  EXPECT_EQ(all[0].frames.size(), 1u);
  ExpectFrame(all[0], 0, "interpLeaf", 0);
  ExpectPlaces(all[0], 1);
  EXPECT_EQ(all[0].end, ASGST_NO_FRAME) << "that was all";
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
  ExpectPlaces(handled, 0);
}

TEST_F(QueueFrames, CompiledFramesThatReturnedAreShownWithWhatWasInlined) {
  const Handled handled = EnqueueThenProcess("warmC2InlinedThenProbe", 2 * 20'001);
  EXPECT_EQ(handled.state, ASGST_ELEMENT_RETURNED);
  EXPECT_EQ(handled.returned, 1);
  ASSERT_EQ(handled.frames.size(), 5u);
  ExpectFrame(handled, 0, "inlinedFirst", 0);
  ExpectFrame(handled, 1, "inlinedThird", 0);
  ExpectFrame(handled, 2, "c2Inlined", 0);
  ExpectFrame(handled, 3, "c2InlinedThenProbe", 0);
  ExpectPlaces(handled, 3);
  EXPECT_EQ(handled.frames[0].type, ASGST_FRAME2_JAVA_INLINED);
  EXPECT_EQ(handled.frames[1].type, ASGST_FRAME2_JAVA_INLINED);
  EXPECT_EQ(handled.frames[2].type, ASGST_FRAME2_JAVA);
  for (int n = 0; n < 4; n++) EXPECT_EQ(handled.frames[n].level, 4);
}

TEST_F(QueueFrames, ACompiledFrameThatReturnedLeavesItsCompiledCaller) {
  const Handled handled = EnqueueThenProcess("warmC2LeafThenProbe", 2 * 20'001);
  EXPECT_EQ(handled.state, ASGST_ELEMENT_RETURNED);
  EXPECT_EQ(handled.returned, 1);
  ASSERT_EQ(handled.frames.size(), 3u);
  ExpectFrame(handled, 0, "c2Leaf", 0);
  ExpectFrame(handled, 1, "c2LeafThenProbe", 0);
  EXPECT_EQ(handled.frames[0].level, 4);
  EXPECT_EQ(handled.frames[1].level, 4);
  ExpectPlaces(handled, 1);
}

TEST_F(QueueFrames, AFrameThatWasCompiledMeanwhileIsStillThere) {
  const Handled handled = EnqueueThenProcess("interpOsr", 200, 199);
  EXPECT_EQ(handled.state, ASGST_ELEMENT_EXACT) << "at the same call";
  EXPECT_EQ(handled.returned, 0);
  EXPECT_EQ(level_at_end_, 4);
  ASSERT_EQ(handled.frames.size(), 2u);
  EXPECT_EQ(handled.frames[0].level, 0) << "as it was";
  EXPECT_EQ(handled.frames[0].name, "wh.Queued.osrLoop()V");
  ExpectPlaces(handled, 1);
  EXPECT_EQ(handled.frames[1].name, "wh.Queued.interpOsr()V");
}

TEST_F(QueueFrames, AFrameThatWasCompiledAndAlignedMeanwhileIsStillThere) {
  const Handled handled = EnqueueThenProcess("interpOsrDeeper", 200, 199);
  EXPECT_EQ(handled.state, ASGST_ELEMENT_EXACT) << "at the same call";
  EXPECT_EQ(handled.returned, 0);
  EXPECT_EQ(level_at_end_, 4);
  ASSERT_EQ(handled.frames.size(), 2u);
  EXPECT_EQ(handled.frames[0].level, 0) << "as it was";
  EXPECT_EQ(handled.frames[0].name, "wh.Queued.osrValue()I");
  ExpectPlaces(handled, 1);
  EXPECT_EQ(handled.frames[1].name, "wh.Queued.interpOsrDeeper()V");
}

TEST_F(QueueFrames, AFrameThatWasDeoptimisedMeanwhileIsStillThere) {
  const Handled handled = EnqueueThenProcess("warmC2ThenTrap", 2 * 20'001);
  EXPECT_EQ(handled.state, ASGST_ELEMENT_MOVED);
  EXPECT_EQ(handled.returned, 0);
  EXPECT_EQ(level_at_end_, 0);
  ASSERT_EQ(handled.frames.size(), 2u);
  EXPECT_EQ(handled.frames[0].level, 4) << "as it was";
  ExpectFrame(handled, 0, "c2ThenTrap(Z)V", 0);
  ExpectPlaces(handled, 1);
  EXPECT_EQ(handled.frames[1].name, "wh.Queued.warmC2ThenTrap()V");
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
  ExpectFrame(all[0], 0, "interpLeaf", 0);
  ExpectPlaces(all[0], all[0].frames.size());
  EXPECT_EQ(all[1].state, ASGST_ELEMENT_EXACT);
  EXPECT_EQ(all[1].frames[0].name, "wh.Queued.interpLeaf()V");
}

}  // namespace
}  // namespace walkhammer::asgst
