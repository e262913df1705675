// SPDX-License-Identifier: Apache-2.0
// The frame marks of asgst_iterator.h on a live JVM.
#include "harness/asgst/include/asgst_hooks.h"
#include "harness/asgst/testing/mark_testing.h"

namespace walkhammer::asgst {
namespace {

using FrameMarks = FrameMarksTest;
using MarksOffered = LiveTest;

TEST_F(MarksOffered, WhereTheJvmCanBeHooked) {
  EXPECT_NE(ASGST_Capabilities() & ASGST_REGISTER_QUEUE, 0);
  ASGST_FrameMark* mark = ASGST_RegisterFrameMark(
      live_.env(), [](ASGST_FrameMark*, ASGST_Iterator*, void*) {}, 0, nullptr);
  EXPECT_EQ(mark != nullptr, HasMarksHere());
  EXPECT_EQ((asgst_hooks() & ASGST_HOOKS_MARKS) != 0, HasMarksHere());
  // Where threads can handle their own queues, they can call their own marks.
  ASGST_Queue* queue = ASGST_RegisterQueue(
      live_.env(), 1, 0, [](ASGST_Iterator*, void*, void*) {}, nullptr);
  EXPECT_EQ((asgst_hooks() & ASGST_HOOKS_POLLS) != 0, HasMarksHere());
  EXPECT_TRUE(ASGST_DeregisterQueue(live_.env(), queue));
  ASGST_RemoveFrameMark(mark);
}

// What the calls of a marked method were.
struct Share {
  int called = 0, left = 0, at_caller = 0;
};

// Marks the frame `depth` above probe() in each call, and counts what the handlers see.
Share MarkEachCall(const char* method, int times, size_t depth) {
  Share share;
  NotingMark mark(LiveJvm::Get().env());
  std::vector<MarkFrame> before;
  int64_t steps = 0;
  LiveJvm::Get().on_probe = [&] {
    before = PhysicalFramesHere();
    steps = mark_steps;
    mark.MoveTo(before[depth]);
  };
  mark.and_then = [&](const SeenMark& seen) {
    EXPECT_EQ(seen.sp, before[depth].sp);
    EXPECT_EQ(seen.os_thread, syscall(SYS_gettid));
    if (seen.state == ASGST_MARK_LEFT) share.left++;
    if (seen.steps == steps && !seen.frames.empty() && seen.frames[0].pc == before[depth + 1].pc)
      share.at_caller++;
  };
  CallMarked(method, times);
  share.called = mark.count;
  EXPECT_EQ(mark.sp(), nullptr) << "a mark that was left marks nothing";
  printf("%s: %d called, %d left, %d at caller\n", method, share.called, share.left,
         share.at_caller);
  return share;
}

struct MarkedCall {
  const char *name, *method;
  size_t depth;  // of the marked frame, above probe()
};

class FrameMarksOf : public FrameMarks, public testing::WithParamInterface<MarkedCall> {};

TEST_P(FrameMarksOf, AreLeftBeforeTheCallerGoesOn) {
  constexpr int kTimes = 2'000;
  const Share share = MarkEachCall(GetParam().method, kTimes, GetParam().depth);
  EXPECT_EQ(share.called, kTimes);
  EXPECT_GE(share.at_caller, kTimes * 99 / 100);
  EXPECT_GE(share.left, kTimes * 99 / 100);
}

INSTANTIATE_TEST_SUITE_P(
    All, FrameMarksOf,
    testing::Values(MarkedCall{"InterpretedByInterpreted", "interpCallsInterp", 1},
                    MarkedCall{"Client", "c1Calls", 1},
                    MarkedCall{"CompiledByCompiled", "c2CallsC2", 1},
                    MarkedCall{"InterpretedByCompiled", "c2CallsInterp", 1},
                    MarkedCall{"CompiledByInterpreted", "interpCallsC2", 1},
                    MarkedCall{"NativeByInterpreted", "interpCallsNative", 0},
                    MarkedCall{"NativeByCompiled", "c2CallsNative", 0},
                    MarkedCall{"InterpretedThatPops", "interpCallsDeepThenFlat", 2}),
    [](const auto& info) { return std::string(info.param.name); });

// On-stack replacement goes by the JVM's way out of a frame, while the method goes on.
TEST_F(FrameMarks, AFrameThatIsReplacedWhileItLoopsIsNotLeft) {
  NotingMark mark(live_.env());
  int64_t steps = 0;
  std::vector<MarkFrame> before;
  live_.on_probe = [&] {
    if (!before.empty()) return;
    before = PhysicalFramesHere();
    steps = mark_steps;
    mark.MoveTo(before[1]);
  };
  CallMarked("replacedCalls", 1);
  ASSERT_EQ(mark.count, 1);
  EXPECT_EQ(mark.seen[0].steps, steps + 1) << "left after its loop, before its caller goes on";
  ASSERT_FALSE(mark.seen[0].frames.empty());
  EXPECT_EQ(mark.seen[0].frames[0].pc, before[2].pc);
}

// --- registering, moving, removing ---

TEST_F(FrameMarks, RegisterRefusesWhatItCannotServe) {
  const auto fun = [](ASGST_FrameMark*, ASGST_Iterator*, void*) {};
  EXPECT_EQ(ASGST_RegisterFrameMark(live_.env(), nullptr, 0, nullptr), nullptr);
  EXPECT_EQ(ASGST_RegisterFrameMark(live_.env() + 1, fun, 0, nullptr), nullptr);
  std::thread([&] {
    EXPECT_EQ(ASGST_RegisterFrameMark(nullptr, fun, 0, nullptr), nullptr) << "no Java thread";
  }).join();
}

TEST_F(FrameMarks, AMarkThatWasNotMovedMarksNothing) {
  NotingMark mark(nullptr);
  ASSERT_NE(mark.get(), nullptr);
  EXPECT_EQ(mark.sp(), nullptr);
  InMarked(100, [](const auto&) {});
  EXPECT_EQ(mark.count, 0);
  ASGST_MoveFrameMark(nullptr, &mark);
  EXPECT_EQ(ASGST_GetFrameMarkStackPointer(nullptr), nullptr);
  ASGST_RemoveFrameMark(nullptr);
}

TEST_F(FrameMarks, OneThatIsMovedToNullMarksNothing) {
  NotingMark mark(live_.env());
  InMarked(100, [&](const auto& frames) {
    mark.MoveTo(frames[1]);
    EXPECT_EQ(mark.sp(), frames[1].sp);
    ASGST_MoveFrameMark(mark.get(), nullptr);
    EXPECT_EQ(mark.sp(), nullptr);
  });
  EXPECT_EQ(mark.count, 0);
}

TEST_F(FrameMarks, OneThatIsMovedToAnOlderFrameIsLeftThere) {
  NotingMark mark(live_.env());
  std::vector<MarkFrame> before;
  InMarked(100, [&](const auto& frames) {
    before = frames;
    if (mark.sp() != nullptr) return;
    mark.MoveTo(frames[1]);
    mark.MoveTo(frames[2]);
  });
  ASSERT_EQ(mark.count, 1);
  EXPECT_EQ(mark.seen[0].sp, before[2].sp);
  EXPECT_EQ(mark.seen[0].state, ASGST_MARK_LEFT);
  EXPECT_TRUE(mark.seen[0].frames.empty()) << "the oldest Java frame was left";
}

TEST_F(FrameMarks, OneThatWasRemovedIsNeverCalled) {
  NotingMark stays(live_.env());
  int calls = 0;
  InMarked(300, [&](const auto& frames) {
    NotingMark mark(live_.env());
    mark.and_then = [&](const SeenMark&) { calls++; };
    mark.MoveTo(frames[1]);
    stays.MoveTo(frames[1]);
    ASGST_RemoveFrameMark(mark.get());
    mark.MoveTo(frames[1]);
    EXPECT_EQ(mark.sp(), nullptr);
  });
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(stays.count, 300);
}

TEST_F(FrameMarks, AHandlerMayRemoveMarksOfTheSameFrame) {
  NotingMark first(live_.env()), second(live_.env());
  first.and_then = [&](const SeenMark&) {
    ASGST_RemoveFrameMark(first.get());
    ASGST_RemoveFrameMark(second.get());
  };
  second.and_then = first.and_then;
  InMarked(2, [&](const auto& frames) {
    first.MoveTo(frames[1]);
    second.MoveTo(frames[1]);
  });
  EXPECT_EQ(first.count + second.count, 1);
}

TEST_F(FrameMarks, OfSeveralFramesAreCalledInTheirOrder) {
  std::vector<void*> order;
  NotingMark oldest(live_.env()), youngest(live_.env());
  oldest.and_then = youngest.and_then = [&](const SeenMark& seen) { order.push_back(seen.sp); };
  std::vector<MarkFrame> before;
  live_.on_probe = [&] {
    before = PhysicalFramesHere();
    oldest.MoveTo(before[3]);
    youngest.MoveTo(before[1]);
  };
  CallMarked("interpDown", 8);
  EXPECT_EQ(order, (std::vector<void*>{before[1].sp, before[3].sp}));
}

// --- handlers ---

// A handler that moves its mark to the frame that goes on sees all frames of a recursion.
void ExpectEachFrameIsSeen(const char* method, int depth) {
  NotingMark mark(LiveJvm::Get().env());
  std::vector<MarkFrame> before;
  mark.and_then = [&](const SeenMark& seen) {
    ASSERT_EQ(seen.frames.size(), before.size() - mark.seen.size());
    if (!seen.frames.empty()) mark.MoveTo(seen.frames[0]);
  };
  LiveJvm::Get().on_probe = [&] {
    before = PhysicalFramesHere();
    mark.MoveTo(before[0]);
  };
  CallMarked(method, depth);
  ASSERT_EQ(mark.count, depth + 2) << "with probe() itself";
  for (size_t i = 0; i < mark.seen.size(); i++) {
    EXPECT_EQ(mark.seen[i].sp, before[i].sp);
    EXPECT_EQ(mark.seen[i].state, ASGST_MARK_LEFT);
  }
  EXPECT_EQ(mark.sp(), nullptr);
}

TEST_F(FrameMarks, AHandlerMayMoveItsMarkFromFrameToFrame) {
  ExpectEachFrameIsSeen("interpDown", 12);
  live_.on_probe = [] {};
  for (int i = 0; i < 5'000; i++) CallMarked("c2Down", 12);
  ExpectEachFrameIsSeen("c2Down", 12);
}

TEST_F(FrameMarks, TheIteratorOfAHandlerIsThatOfAMark) {
  NotingMark mark(live_.env());
  int state = -1;
  InMarked(1, [&](const auto& frames) {
    Iterate(nullptr, [&](ASGST_Iterator* iterator) { state = asgst_mark_state(iterator); });
    mark.MoveTo(frames[1]);
  });
  EXPECT_EQ(state, ASGST_MARK_NONE);
  EXPECT_EQ(asgst_mark_state(nullptr), ASGST_MARK_NONE);
  ASSERT_EQ(mark.count, 1);
  EXPECT_EQ(mark.seen[0].frames[0].name, "wh.Marked.interpCallsInterp(I)V");
}

// The queue is handled after the marks were looked for, while the marked frame is left.
TEST_F(FrameMarks, AQueuesHandlerMayMarkTheFrameThatIsLeft) {
  constexpr int kTimes = 100;
  NotingMark first(live_.env()), second(live_.env());
  ASGST_Queue* queue = ASGST_RegisterQueue(
      nullptr, 4, 0,
      [](ASGST_Iterator* iterator, void* mark, void*) {
        static_cast<NotingMark*>(mark)->MoveTo(PhysicalFramesOf(iterator)[0]);
      },
      &second);
  first.and_then = [&](const SeenMark&) {
    EXPECT_EQ(ASGST_Enqueue(queue, nullptr, nullptr), ASGST_JAVA_TRACE);
  };
  InMarked(kTimes, [&](const auto& frames) { first.MoveTo(frames[1]); });
  EXPECT_TRUE(ASGST_DeregisterQueue(nullptr, queue));
  EXPECT_EQ(first.count, kTimes);
  ASSERT_EQ(second.count, kTimes);
  for (int i = 0; i < kTimes; i++) {
    EXPECT_EQ(second.seen[i].state, ASGST_MARK_LEFT);
    EXPECT_EQ(second.seen[i].steps, first.seen[i].steps);
  }
}

TEST_F(FrameMarks, AHandlerRegistersNoMark) {
  NotingMark mark(live_.env());
  ASGST_FrameMark* made = nullptr;
  mark.and_then = [&](const SeenMark&) {
    made = ASGST_RegisterFrameMark(
        nullptr, [](ASGST_FrameMark*, ASGST_Iterator*, void*) {}, 0, nullptr);
  };
  InMarked(1, [&](const auto& frames) { mark.MoveTo(frames[1]); });
  EXPECT_EQ(mark.count, 1);
  EXPECT_EQ(made, nullptr);
}

// --- frames that do not return ---

void ExpectOneCallForEachThrow(const char* method, size_t depth) {
  constexpr int kTimes = 3'000;
  const Share share = MarkEachCall(method, kTimes, depth);
  EXPECT_EQ(share.called, kTimes);
}

TEST_F(FrameMarks, ExceptionsLeaveThemBeforeTheyAreCaught) {
  // The one that throws, the one in between.
  for (const size_t depth : {size_t{1}, size_t{2}})
    for (const char* method : {"interpCatches", "c2Catches"}) {
      ExpectOneCallForEachThrow(method, depth);
      NotingMark mark(live_.env());
      int64_t steps = 0;
      live_.on_probe = [&] {
        steps = mark_steps;
        mark.MoveTo(PhysicalFramesHere()[depth]);
      };
      mark.and_then = [&](const SeenMark& seen) { EXPECT_EQ(seen.steps, steps) << method; };
      CallMarked(method, 100);
      EXPECT_EQ(mark.count, 100);
    }
}

// C2 has seen no trap before; in the last call it has compiled the marked method.
TEST_F(FrameMarks, AFrameThatIsDeoptimisedIsLeftOnce) {
  constexpr int kTimes = 5'000;
  NotingMark mark(live_.env());
  int probes = 0;
  std::vector<MarkFrame> before;
  live_.on_probe = [&] {
    if (++probes != kTimes) return;
    before = PhysicalFramesHere();
    mark.MoveTo(before[1]);
  };
  CallMarked("c2CallsTrap", kTimes);
  ASSERT_EQ(mark.count, 1);
  ASSERT_FALSE(mark.seen[0].frames.empty());
  EXPECT_EQ(mark.seen[0].frames[0].pc, before[2].pc) << mark.seen[0].frames[0].name;
  EXPECT_EQ(mark.seen[0].state, ASGST_MARK_LEFT);
}

TEST_F(FrameMarks, ResultsOfMarkedMethodsAreKept) {
  NotingMark mark(live_.env());
  RunningMethod collector([] {
    JNIEnv* env = LiveJvm::Get().env();
    env->CallStaticVoidMethod(MarkedClass(),
                              env->GetStaticMethodID(MarkedClass(), "collect", "()V"));
  });
  live_.on_probe = [&] { mark.MoveTo(PhysicalFramesHere()[1]); };
  JNIEnv* env = live_.env();
  jmethodID method = env->GetStaticMethodID(MarkedClass(), "c2CallsForObjects", "(I)I");
  EXPECT_EQ(env->CallStaticIntMethod(MarkedClass(), method, 5'000), 0);
  EXPECT_FALSE(env->ExceptionCheck());
  EXPECT_EQ(mark.count, 5'000);
}

}  // namespace
}  // namespace walkhammer::asgst
