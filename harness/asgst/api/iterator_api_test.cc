// SPDX-License-Identifier: Apache-2.0
// The ASGST iterator, thread states and jmethodIDs on a live JVM, as profilers call them.
#include <gmock/gmock.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <cstring>

#include "harness/asgst/include/asgst.h"
#include "harness/asgst/testing/ids_testing.h"
#include "harness/asgst/testing/live_jvm.h"
#include "harness/guard/arch.h"

namespace walkhammer::asgst {
namespace {

constexpr int kMost = 64;

// What an iterator gave, and how it ended.
struct Iterated {
  ASGST_Frame frames[kMost];
  int count = 0, end = 99, result = 99, why = -1;
  bool guessed = false;

  void All(ASGST_Iterator* iterator) {
    why = asgst_iterator_end(iterator);
    for (count = 0; count < kMost; count++) {
      if ((end = ASGST_NextFrame(iterator, &frames[count])) != 1) break;
      guessed |= asgst_frame_is_guess(iterator);
    }
    if (why == ASGST_WALK_END_UNTOLD) why = asgst_iterator_end(iterator);
  }
  static void Collect(ASGST_Iterator* iterator, void* self) {
    static_cast<Iterated*>(self)->All(iterator);
  }
  void Here(ucontext_t* context, int32_t options = 0) {
    result = ASGST_RunWithIterator(context, options, Collect, this);
  }
  std::string Types() const {
    std::string types;
    for (int i = 0; i < count; i++) types += static_cast<char>('0' + frames[i].type);
    return types;
  }
};

class IteratorApi : public LiveTest {
 protected:
  Iterated seen_;
};

TEST_F(IteratorApi, FramesFromAUcontext) {
  InProbe("interpProbe", [&](ucontext_t* context) { seen_.Here(context); });
  EXPECT_EQ(seen_.result, ASGST_JAVA_TRACE);
  EXPECT_EQ(seen_.end, ASGST_NO_FRAME);
  ASSERT_EQ(seen_.Types(), "31");
  EXPECT_EQ(seen_.frames[0].bci, -1);
  EXPECT_EQ(NameOf(seen_.frames[0].method), "wh.Api.probe()V");
  const ASGST_Frame& java = seen_.frames[1];
  EXPECT_EQ(java.bci, 0);
  EXPECT_EQ(java.comp_level, 0);
  EXPECT_EQ(NameOf(java.method), "wh.Api.interpProbe()V");
  EXPECT_GT(java.sp, seen_.frames[0].sp);
  EXPECT_GT(java.fp, java.sp);
  EXPECT_NE(java.pc, nullptr);
  EXPECT_EQ(seen_.why, ASGST_WALK_END_WHOLE);
  EXPECT_FALSE(seen_.guessed);
  EXPECT_EQ(asgst_iterator_end(nullptr), ASGST_WALK_END_UNTOLD);
  EXPECT_FALSE(asgst_frame_is_guess(nullptr));
}

TEST_F(IteratorApi, InlinedFramesAreOfOneActivation) {
  InProbe("c2Chain", [&](ucontext_t* context) { seen_.Here(context); });
  ASSERT_EQ(seen_.Types(), "3211");
  EXPECT_EQ(seen_.frames[1].sp, seen_.frames[2].sp);
  EXPECT_EQ(seen_.frames[1].comp_level, 4);
  EXPECT_EQ(seen_.frames[2].comp_level, 4);
  EXPECT_EQ(NameOf(seen_.frames[1].method), "wh.Api.inlinedProbe()V");
  EXPECT_EQ(NameOf(seen_.frames[2].method), "wh.Api.c2Probe()V");
}

TEST_F(IteratorApi, FromPcSpAndFp) {
  Iterated first;
  InProbe("c2Chain", [&](ucontext_t* context) {
    first.Here(context);
    if (first.count != 4) return;
    const ASGST_Frame& from = first.frames[2];
    seen_.result =
        ASGST_RunWithIteratorFromFrame(from.sp, from.fp, from.pc, 0, Iterated::Collect, &seen_);
  });
  EXPECT_EQ(seen_.result, ASGST_JAVA_TRACE);
  ASSERT_EQ(seen_.Types(), "211") << "the activation that it was given, and its caller's";
  for (int i = 0; i < 3; i++) EXPECT_EQ(seen_.frames[i].method, first.frames[i + 1].method);
}

TEST_F(IteratorApi, AnyPcSpAndFp) {
  for (const uint64_t any : {uint64_t{0}, uint64_t{1}, uint64_t{4096}, ~uint64_t{0}}) {
    auto* at = reinterpret_cast<void*>(any);
    RaiseHere([&](ucontext_t*) {
      seen_.result = ASGST_RunWithIteratorFromFrame(at, at, at, 0, Iterated::Collect, &seen_);
    });
    EXPECT_EQ(seen_.result, ASGST_NO_TOP_JAVA_FRAME);
  }
}

TEST_F(IteratorApi, Rewind) {
  Iterated first, second;
  InProbe("c2Chain", [&](ucontext_t* context) {
    Iterate(context, [&](ASGST_Iterator* iterator) {
      first.All(iterator);
      ASGST_RewindIterator(iterator);
      second.All(iterator);
    });
  });
  ASSERT_EQ(first.Types(), "3211");
  EXPECT_EQ(std::memcmp(first.frames, second.frames, 4 * sizeof(ASGST_Frame)), 0);
}

TEST_F(IteratorApi, NoIteratorHasNoFrame) {
  ASGST_RewindIterator(nullptr);
  EXPECT_EQ(ASGST_State(nullptr), ASGST_NO_FRAME);
}

TEST_F(IteratorApi, StateIsWhatComesNext) {
  std::vector<int> states;
  states.reserve(8);
  InProbe("interpProbe", [&](ucontext_t* context) {
    Iterate(context, [&](ASGST_Iterator* iterator) {
      ASGST_Frame frame;
      for (int i = 0; i < 4; i++) {
        states.push_back(ASGST_State(iterator));
        ASGST_NextFrame(iterator, &frame);
      }
    });
  });
  EXPECT_THAT(states, testing::ElementsAre(1, 1, 0, 0));
}

TEST_F(IteratorApi, EndOnFirstJavaFrame) {
  RunningMethod running("interpSpin");
  ASSERT_TRUE(running.Raise(
      [&](ucontext_t* context) { seen_.Here(context, ASGST_END_ON_FIRST_JAVA_FRAME); }));
  EXPECT_EQ(seen_.result, ASGST_JAVA_TRACE);
  EXPECT_EQ(seen_.count, 0);
  EXPECT_EQ(seen_.end, 0);
  const ASGST_Frame& frame = seen_.frames[0];
  EXPECT_EQ(frame.type, ASGST_FRAME2_JAVA);
  EXPECT_NE(frame.pc, nullptr);
  EXPECT_NE(frame.sp, nullptr);
  EXPECT_NE(frame.fp, nullptr);
  EXPECT_EQ(frame.method, nullptr);
  EXPECT_EQ(frame.bci, -1);
  EXPECT_EQ(seen_.why, ASGST_WALK_END_OPTION);
}

TEST_F(IteratorApi, NonJavaFrames) {
  ASSERT_EQ(asgst_wait_for_c_frames(10'000), 0);
  InProbe("interpProbe",
          [&](ucontext_t* context) { seen_.Here(context, ASGST_INCLUDE_NON_JAVA_FRAMES); });
  EXPECT_EQ(seen_.result, ASGST_JAVA_TRACE);
  EXPECT_THAT(seen_.Types(), testing::MatchesRegex("4+314+"));
  for (int i = 1; i < seen_.count; i++) EXPECT_GT(seen_.frames[i].sp, seen_.frames[i - 1].sp) << i;
}

TEST_F(IteratorApi, NonJavaTrace) {
  RaiseHere([&](ucontext_t* context) { seen_.Here(context, ASGST_INCLUDE_NON_JAVA_FRAMES); });
  EXPECT_EQ(seen_.result, ASGST_NON_JAVA_TRACE);
  EXPECT_THAT(seen_.Types(), testing::MatchesRegex("4+"));
}

TEST_F(IteratorApi, ErrorsLeaveAnEmptyFrame) {
  ASGST_Frame frame;
  std::memset(&frame, 0x55, sizeof frame);
  EXPECT_EQ(ASGST_NextFrame(nullptr, &frame), ASGST_NO_FRAME);
  EXPECT_EQ(frame.type, 0);
  EXPECT_EQ(frame.pc, nullptr);
  EXPECT_EQ(frame.sp, nullptr);
  EXPECT_EQ(frame.fp, nullptr);
  EXPECT_EQ(frame.method, nullptr);
}

// --- errors ---

TEST_F(IteratorApi, NoThread) {
  std::thread([&] { RaiseHere([&](ucontext_t* context) { seen_.Here(context); }); }).join();
  EXPECT_EQ(seen_.result, ASGST_NO_THREAD);
}

TEST_F(IteratorApi, CFramesOfAThreadOfNoJvm) {
  ASSERT_EQ(asgst_wait_for_c_frames(10'000), 0);
  Iterated from_frame;
  int state = 99;
  std::thread([&] {
    RaiseHere([&](ucontext_t* context) {
      seen_.Here(context, ASGST_INCLUDE_NON_JAVA_FRAMES);
      state = ASGST_RunWithIterator(nullptr, ASGST_INCLUDE_NON_JAVA_FRAMES, Iterated::Collect,
                                    &from_frame);
      if (seen_.count < 3) return;
      const ASGST_Frame& at = seen_.frames[0];
      from_frame.result = ASGST_RunWithIteratorFromFrame(
          at.sp, at.fp, at.pc, ASGST_INCLUDE_NON_JAVA_FRAMES, Iterated::Collect, &from_frame);
    });
  }).join();
  EXPECT_EQ(seen_.result, ASGST_NON_JAVA_TRACE);
  EXPECT_THAT(seen_.Types(), testing::MatchesRegex("44+"));
  EXPECT_EQ(seen_.end, ASGST_NO_FRAME);
  for (int i = 1; i < seen_.count; i++) EXPECT_GT(seen_.frames[i].sp, seen_.frames[i - 1].sp) << i;
  EXPECT_EQ(from_frame.result, ASGST_NON_JAVA_TRACE);
  EXPECT_EQ(from_frame.Types(), seen_.Types());
  EXPECT_EQ(state, ASGST_NO_TOP_JAVA_FRAME) << "a walk without registers has no first frame";
}

TEST_F(IteratorApi, ThreadIsExiting) {
  constexpr int kTerminated = 2;
  jthread thread = nullptr;
  TestJvmti()->GetCurrentThread(&thread);
  const ThreadStatusField status(live_.env(), thread);
  const jint before = status.Get();
  status.Set(kTerminated);
  RaiseHere([&](ucontext_t* context) { seen_.Here(context); });
  status.Set(before);
  EXPECT_EQ(seen_.result, ASGST_THREAD_IS_EXITING);
}

TEST_F(IteratorApi, UnsafeState) {
  volatile int32_t* state = Thread().state();
  const int32_t before = *state;
  RaiseHere([&](ucontext_t* context) {
    *state = 57;
    seen_.Here(context);
    *state = before;
  });
  EXPECT_EQ(seen_.result, ASGST_UNSAFE_STATE);
}

TEST_F(IteratorApi, NoTopJavaFrame) {
  RaiseHere([&](ucontext_t* context) { seen_.Here(context); });
  EXPECT_EQ(seen_.result, ASGST_NO_TOP_JAVA_FRAME);
}

// A return address that leads nowhere, two frames up.
TEST_F(IteratorApi, BrokenStack) {
  Iterated whole;
  InProbe("c2Chain", [&](ucontext_t* context) {
    whole.Here(context);
    if (whole.count != 4) return;
    auto* slot = static_cast<uint64_t*>(whole.frames[3].sp) - 1;
    const uint64_t before = std::exchange(*slot, 4096);
    seen_.Here(context);
    *slot = before;
  });
  EXPECT_EQ(seen_.result, ASGST_JAVA_TRACE);
  EXPECT_EQ(seen_.Types(), "321");
  EXPECT_EQ(seen_.end, ASGST_BROKEN_STACK);
  EXPECT_EQ(seen_.why, ASGST_WALK_END_NO_CALLER);
}

TEST(IteratorApiDeathTest, NotAttached) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        Iterated seen;
        seen.Here(nullptr);
        _exit(seen.result == ASGST_NOT_ATTACHED && ASGST_ThreadState() == 0 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "^libasgst: walks fail, .* -agentpath:");
}

// --- threads, methods ---

TEST_F(IteratorApi, QueueSizeByItsOldNameIsThatOfTheSizeInfo) {
  ASGST_Queue* queue = asgst_unbound_queue(4);
  EXPECT_EQ(ASGST_QueueSize(queue), 0);
  InProbe("interpProbe", [&](ucontext_t* context) {
    for (int i = 0; i < 3; i++) ASGST_Enqueue(queue, context, nullptr);
  });
  EXPECT_EQ(ASGST_QueueSize(queue), 3);
  EXPECT_EQ(ASGST_QueueSize(nullptr), 0);
}

TEST_F(IteratorApi, GarbageIsNoMethodAndNoId) {
  for (const uint64_t garbage : {uint64_t{0}, uint64_t{3}, uint64_t{4096}, ~uint64_t{7}}) {
    EXPECT_EQ(ASGST_MethodToJMethodID(reinterpret_cast<ASGST_Method>(garbage)), nullptr);
    // Where ids are numbers, small ones are of methods.
    const bool is_id = live_.jvm().ids_are_numbers() && (garbage == 3 || garbage == 4096);
    const auto made_up = reinterpret_cast<jmethodID>(garbage);
    const ASGST_Method found = ASGST_JMethodIDToMethod(made_up);
    if (is_id && found != nullptr)
      EXPECT_EQ(ASGST_MethodToJMethodID(found), made_up);
    else
      EXPECT_EQ(found, nullptr);
  }
}

// What the second of two signals found.
struct FoundNested {
  std::atomic<int> result{0};
  bool at_handler = false;
  ASGST_Frame newest{};
} found_nested;

void BeginFirst(int) {}
void WalkInSecond(int, siginfo_t*, void* raw_context) {
  const auto* context = static_cast<ucontext_t*>(raw_context);
  found_nested.at_handler = ReadContext(*context).pc == reinterpret_cast<uint64_t>(BeginFirst);
  found_nested.result = ASGST_RunWithIterator(
      raw_context, 0,
      [](ASGST_Iterator* iterator, void*) { ASGST_NextFrame(iterator, &found_nested.newest); },
      nullptr);
}

// Two signals come at once: the second finds the thread where the first one's handler begins.
TEST_F(IteratorApi, ASignalBeforeAnothersHandlerHasBegun) {
  if (kElfMachine != 62) GTEST_SKIP() << "x86_64 alone";
  const int first = SIGRTMIN + 1, second = SIGRTMIN + 2;
  struct sigaction begin {
  }, walk{};
  begin.sa_handler = BeginFirst;
  walk.sa_sigaction = WalkInSecond;
  walk.sa_flags = SA_SIGINFO;
  sigaction(first, &begin, nullptr);
  sigaction(second, &walk, nullptr);
  for (const char* method : {"interpSpin", "c2Spin"}) {
    RunningMethod running(method);
    found_nested.result = 0;
    // A signal that the handler blocks and sends is delivered when the handler returns.
    EXPECT_TRUE(running.Raise([&](ucontext_t*) {
      sigset_t both;
      sigemptyset(&both);
      sigaddset(&both, first);
      sigaddset(&both, second);
      pthread_sigmask(SIG_BLOCK, &both, nullptr);
      pthread_kill(pthread_self(), first);
      pthread_kill(pthread_self(), second);
    }));
    EXPECT_TRUE(WaitFor([] { return found_nested.result != 0; }));
    EXPECT_TRUE(found_nested.at_handler);
    EXPECT_EQ(found_nested.result, ASGST_JAVA_TRACE);
    EXPECT_EQ(NameOf(found_nested.newest.method), "wh.Api." + std::string(method) + "()V");
  }
}

}  // namespace
}  // namespace walkhammer::asgst
