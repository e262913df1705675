// SPDX-License-Identifier: Apache-2.0
// What has become of an element's frames when the element is handled, on a live JVM: see
// asgst_element_state.
#include "harness/asgst/testing/queue_testing.h"

namespace walkhammer::asgst {
namespace {

using QueueFrames = QueueTest;

// Expects these frames, as METHOD@BCI, newest first; "?" stands for any frame. The first `gone` of
// them have returned: they stand nowhere.
void ExpectShown(const Handled& handled, int state, int returned,
                 const std::vector<std::string>& frames, size_t gone) {
  EXPECT_EQ(handled.state, state);
  EXPECT_EQ(handled.returned, returned);
  ASSERT_EQ(handled.frames.size(), frames.size());
  for (size_t n = 0; n < frames.size(); n++) {
    const SeenFrame& frame = handled.frames[n];
    if (frames[n] != "?") {
      EXPECT_EQ(frame.name + "@" + std::to_string(frame.bci), "wh.Queued." + frames[n]) << n;
    }
    EXPECT_EQ(frame.sp == nullptr, n < gone) << n;
    EXPECT_EQ(frame.fp == nullptr, n < gone) << n;
  }
}

// What the newest frames are.
void ExpectLevels(const Handled& handled, const std::vector<int>& levels) {
  for (size_t n = 0; n < levels.size(); n++) EXPECT_EQ(handled.frames.at(n).level, levels[n]) << n;
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
  EXPECT_EQ(all[0].arg, 7);
  EXPECT_EQ(all[0].end, ASGST_NO_FRAME);
  ExpectShown(all[0], ASGST_ELEMENT_EXACT, 0, {"interpLeaf()V@0", "interpLeafThenProbe()V@0"}, 0);
  EXPECT_EQ(all[0].frames.at(0).sp, all[0].element.sp);
  EXPECT_EQ(all[0].frames[0].fp, all[0].element.fp);
  EXPECT_EQ(all[0].frames[0].type, ASGST_FRAME2_JAVA) << "the native method's is left out";
}

TEST_F(QueueFrames, OneThatHasGoneOnIsShownWhereItStood) {
  ExpectShown(EnqueueThenProcess("interpTwice"), ASGST_ELEMENT_MOVED, 0, {"interpTwice()V@0"}, 0);
}

TEST_F(QueueFrames, OneThatReturnedIsReportedAsReturned) {
  const Handled handled = EnqueueThenProcess("interpLeafThenProbe");
  ExpectShown(handled, ASGST_ELEMENT_RETURNED, 1, {"interpLeaf()V@0", "interpLeafThenProbe()V@0"},
              1);
  EXPECT_EQ(handled.end, ASGST_NO_FRAME);
}

TEST_F(QueueFrames, OneThatWasCalledAnewFromElsewhereHasReturned) {
  ExpectShown(EnqueueThenProcess("interpLeafFromTwoPlaces"), ASGST_ELEMENT_RETURNED, 1,
              {"interpLeaf()V@0", "interpLeafFromTwoPlaces()V@0"}, 1);
}

TEST_F(QueueFrames, OneThatWasCalledAnewFromAMethodInlinedElsewhereHasReturned) {
  ExpectShown(EnqueueThenProcess("warmC2FromTwoPlaces", 2 * 20'001), ASGST_ELEMENT_RETURNED, 1,
              {"c2Leaf()V@0", "inlinedCall()V@0", "c2FromTwoPlaces()V@0", "?"}, 1);
}

// The limit that asgst_iterator.h documents.
TEST_F(QueueFrames, OneThatWasCalledAnewFromTheSamePlaceCannotBeTold) {
  EXPECT_EQ(EnqueueThenProcess("interpLeafFromOnePlace").state, ASGST_ELEMENT_EXACT);
}

// Eight frames are recorded, and where their caller stood.
std::vector<std::string> EightDeep(const std::string& others) {
  std::vector<std::string> frames(8, others);
  frames[0] = "interpDeep(I)V@4";
  return frames;
}

TEST_F(QueueFrames, WhereAllThatWereRecordedReturnedTheElementIsLost) {
  const Handled handled = EnqueueThenProcess("interpDeepThenProbe");
  ExpectShown(handled, ASGST_ELEMENT_LOST, 8, EightDeep("interpDeep(I)V@13"), 8);
  EXPECT_EQ(handled.end, ASGST_BROKEN_STACK) << "what is there now need not be their caller";
}

TEST_F(QueueFrames, EightThatWereCalledAnewFromElsewhereAreLost) {
  const Handled handled = EnqueueThenProcess("interpEightFromTwoPlaces");
  ExpectShown(handled, ASGST_ELEMENT_LOST, 8, EightDeep("?"), 8);
  EXPECT_EQ(handled.end, ASGST_BROKEN_STACK);
}

// Those whose whole stack has returned when they are processed.
class QueueFramesOfAWholeStack : public QueueTest {
 protected:
  Handled CallThenProcess(const char* method) {
    Register(4);
    live_.on_probe = [&] { EXPECT_EQ(EnqueueHere(7), ASGST_JAVA_TRACE); };
    CallQueued(method);
    Process();
    const auto all = collector_.Get();
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? Handled{} : all[0];
  }
};

TEST_F(QueueFramesOfAWholeStack, EightAreShownToTheEnd) {
  const Handled handled = CallThenProcess("interpEight");
  EXPECT_EQ(handled.state, ASGST_ELEMENT_LOST);
  ASSERT_EQ(handled.frames.size(), 8u);
  EXPECT_EQ(handled.frames.back().name, "wh.Queued.interpEight()V");
  EXPECT_EQ(handled.end, ASGST_NO_FRAME);
}

TEST_F(QueueFramesOfAWholeStack, IsShownAsItWas) {
  const Handled handled = CallThenProcess("interpLeaf");
  ExpectShown(handled, ASGST_ELEMENT_LOST, 1, {"interpLeaf()V@0"}, 1);
  EXPECT_EQ(handled.end, ASGST_NO_FRAME) << "that was all";
}

TEST_F(QueueFrames, CompiledFramesAreShownWithWhatIsInlined) {
  const Handled handled = EnqueueThenProcess("warmC2Twice", 2 * 20'001);
  ExpectShown(handled, ASGST_ELEMENT_MOVED, 0, {"inlinedFirst()V@0", "c2Twice()V@0", "?"}, 0);
  ExpectLevels(handled, {4});
  EXPECT_EQ(handled.frames[0].type, ASGST_FRAME2_JAVA_INLINED);
  EXPECT_EQ(handled.frames[2].name, "wh.Queued.warmC2Twice()V");
}

TEST_F(QueueFrames, CompiledFramesThatReturnedAreShownWithWhatWasInlined) {
  const Handled handled = EnqueueThenProcess("warmC2InlinedThenProbe", 2 * 20'001);
  ExpectShown(
      handled, ASGST_ELEMENT_RETURNED, 1,
      {"inlinedFirst()V@0", "inlinedThird()V@0", "c2Inlined()V@0", "c2InlinedThenProbe()V@0", "?"},
      3);
  EXPECT_EQ(handled.frames[0].type, ASGST_FRAME2_JAVA_INLINED);
  EXPECT_EQ(handled.frames[1].type, ASGST_FRAME2_JAVA_INLINED);
  EXPECT_EQ(handled.frames[2].type, ASGST_FRAME2_JAVA);
  ExpectLevels(handled, {4, 4, 4, 4});
}

TEST_F(QueueFrames, ACompiledFrameThatReturnedLeavesItsCompiledCaller) {
  const Handled handled = EnqueueThenProcess("warmC2LeafThenProbe", 2 * 20'001);
  ExpectShown(handled, ASGST_ELEMENT_RETURNED, 1, {"c2Leaf()V@0", "c2LeafThenProbe()V@0", "?"}, 1);
  ExpectLevels(handled, {4, 4});
}

void ExpectCompiledMeanwhile(const Handled& handled, int level_at_end, const std::string& loop,
                             const std::string& caller) {
  ExpectShown(handled, ASGST_ELEMENT_EXACT, 0, {"?", "?"}, 1);  // at the same call
  EXPECT_EQ(level_at_end, 4);
  ExpectLevels(handled, {0});  // as it was
  EXPECT_EQ(handled.frames[0].name, "wh.Queued." + loop);
  EXPECT_EQ(handled.frames[1].name, "wh.Queued." + caller);
}

TEST_F(QueueFrames, AFrameThatWasCompiledMeanwhileIsStillThere) {
  const Handled handled = EnqueueThenProcess("interpOsr", 200, 199);
  ExpectCompiledMeanwhile(handled, level_at_end_, "osrLoop()V", "interpOsr()V");
}

TEST_F(QueueFrames, AFrameThatWasCompiledAndAlignedMeanwhileIsStillThere) {
  const Handled handled = EnqueueThenProcess("interpOsrDeeper", 200, 199);
  ExpectCompiledMeanwhile(handled, level_at_end_, "osrValue()I", "interpOsrDeeper()V");
}

TEST_F(QueueFrames, AFrameThatWasDeoptimisedMeanwhileIsStillThere) {
  const Handled handled = EnqueueThenProcess("warmC2ThenTrap", 2 * 20'001);
  ExpectShown(handled, ASGST_ELEMENT_MOVED, 0, {"c2ThenTrap(Z)V@0", "?"}, 1);
  EXPECT_EQ(level_at_end_, 0);
  ExpectLevels(handled, {4});  // as it was
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
  ASSERT_FALSE(all[0].frames.empty());
  std::vector<std::string> gone(all[0].frames.size(), "?");
  gone[0] = "interpLeaf()V@0";
  ExpectShown(all[0], ASGST_ELEMENT_LOST, all[0].returned, gone, gone.size());
  EXPECT_EQ(all[1].state, ASGST_ELEMENT_EXACT);
  EXPECT_EQ(all[1].frames[0].name, "wh.Queued.interpLeaf()V");
}

}  // namespace
}  // namespace walkhammer::asgst
