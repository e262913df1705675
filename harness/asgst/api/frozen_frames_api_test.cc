// SPDX-License-Identifier: Apache-2.0
// AsyncGetStackTrace in virtual threads that have parked at depth: most of their frames are in the
// heap. What JVMTI's GetStackTrace returns for the virtual thread is true.
#include <signal.h>
#include <sys/time.h>

#include <algorithm>
#include <utility>

#include "harness/asgst/testing/live_jvm.h"

namespace walkhammer::asgst {
namespace {

constexpr int kDepth = 512;
constexpr jint kJdk21 = 0x00150000;
int64_t frozen_depth = 0;  // wh.Frozen keeps its depth here

jclass FrozenClass() {
  static const jclass klass = [] {
    JNIEnv* env = LiveJvm::Get().env();
    const auto made = static_cast<jclass>(env->NewGlobalRef(env->FindClass("wh/Frozen")));
    jmethodID open = env->GetStaticMethodID(made, "open", "(Ljava/nio/ByteBuffer;)V");
    env->CallStaticVoidMethod(made, open,
                              env->NewDirectByteBuffer(&frozen_depth, sizeof frozen_depth));
    return made;
  }();
  return klass;
}

class FrozenFramesApi : public LiveTest {
 protected:
  void SetUp() override {
    if (live_.env()->GetVersion() < kJdk21) GTEST_SKIP() << "no virtual threads";
  }
  // Runs a static method of wh.Frozen.
  void Run(const char* method, int times) {
    JNIEnv* env = live_.env();
    env->CallStaticVoidMethod(FrozenClass(), env->GetStaticMethodID(FrozenClass(), method, "(I)V"),
                              times);
    if (env->ExceptionCheck()) {
      env->ExceptionDescribe();
      env->ExceptionClear();
      ADD_FAILURE() << method << " threw";
    }
  }
  // Compares walks in probe() with what JVMTI says of the virtual thread.
  void Compare(const char* method);
  void CompareHere();

  ASGST_CallFrame frames_[kDepth];
  jvmtiFrameInfo truth_[kDepth];
  int walks_ = 0, with_frozen_ = 0, same_ = 0, guesses_ = 0;
  bool levels_[5] = {}, inlined_ = false;  // of frozen frames
  std::string first_difference_;
};

void FrozenFramesApi::CompareHere() {
  jint wanted = 0;
  ASGST_CallTrace trace{0, frames_, nullptr};
  ASSERT_EQ(live_.jvm().jvmti()->GetStackTrace(nullptr, 0, kDepth, truth_, &wanted), 0);
  RaiseHere([&](ucontext_t* context) { AsyncGetStackTrace(&trace, kDepth, context, 0); });
  walks_++;
  const int count = trace.num_frames;
  const bool some = std::any_of(frames_, frames_ + std::max(count, 0),
                                [](const auto& frame) { return frame.java_frame.is_frozen != 0; });
  if (some) with_frozen_++;
  int n = 0;
  for (; n < std::min<int>(count, wanted); n++) {
    const ASGST_JavaFrame& frame = frames_[n].java_frame;
    if (frame.method_id != truth_[n].method) break;
    if (frame.type != ASGST_FRAME_NATIVE && frame.bci != truth_[n].location) break;
    if (frame.is_frozen == 0) continue;
    levels_[frame.comp_level] = true;
    inlined_ |= frame.type == ASGST_FRAME_JAVA_INLINED;
  }
  if (asgst_guessed_from() >= 0)
    guesses_++;
  else if (n == wanted)
    same_++;
  else if (first_difference_.empty())
    first_difference_ = "frame " + std::to_string(n) + " of " + std::to_string(wanted) + " and " +
                        std::to_string(count) + ": " +
                        (n < count ? NameOf(frames_[n].java_frame.method_id) : "none") + " for " +
                        (n < wanted ? NameOf(truth_[n].method) : "none") + ", end " +
                        std::to_string(asgst_walk_end()) + ", guess from " +
                        std::to_string(asgst_guessed_from());
}

void FrozenFramesApi::Compare(const char* method) {
  live_.on_probe = [this] { CompareHere(); };
  Run(method, 20);
  EXPECT_GE(walks_, 100);
  EXPECT_GT(with_frozen_, 20);
  EXPECT_EQ(same_, walks_) << first_difference_;
  EXPECT_TRUE(levels_[4] && inlined_);
}

TEST_F(FrozenFramesApi, AreThoseOfJvmtiWhereAllAreCompiled) { Compare("probeCompiled"); }

TEST_F(FrozenFramesApi, AreThoseOfJvmtiWhereSomeAreInterpreted) {
  Compare("probeMixed");
  EXPECT_TRUE(levels_[0]);
}

// In native code, the thread does not hold up collectors.
TEST_F(FrozenFramesApi, AreTrueOrLeftOutWhileGarbageIsCollected) {
  RunningMethod collecting([] {
    JNIEnv* env = LiveJvm::Get().env();
    jclass marked = env->FindClass("wh/Marked");
    env->CallStaticVoidMethod(marked, env->GetStaticMethodID(marked, "collect", "()V"));
  });
  live_.on_probe = [this] { CompareHere(); };
  Run("probeMixed", 100);
  printf("%d walks: %d true, %d with guesses\n", walks_, same_, guesses_);
  EXPECT_EQ(same_ + guesses_, walks_) << first_difference_;
  EXPECT_GT(same_, 100);
}

// The methods of a walk's frames.
std::vector<jmethodID> MethodsOf(const ASGST_CallFrame* frames, int count, bool with_frozen) {
  std::vector<jmethodID> methods;
  for (int i = 0; i < count; i++)
    if (with_frozen || frames[i].java_frame.is_frozen == 0)
      methods.push_back(frames[i].java_frame.method_id);
  return methods;
}

TEST_F(FrozenFramesApi, AreLeftOutOnDemand) {
  ASGST_CallFrame all[kDepth];
  int with_frozen = 0;
  live_.on_probe = [&] {
    ASGST_CallTrace whole{0, all, nullptr}, other{0, frames_, nullptr};
    RaiseHere([&](ucontext_t* context) {
      AsyncGetStackTrace(&whole, kDepth, context, 0);
      AsyncGetStackTrace(&other, kDepth, context, ASGST_WITHOUT_FROZEN_FRAMES);
    });
    if (other.num_frames < whole.num_frames) with_frozen++;
    EXPECT_EQ(MethodsOf(frames_, other.num_frames, true), MethodsOf(all, whole.num_frames, false));
  };
  Run("probeMixed", 2);
  EXPECT_GT(with_frozen, 2);
}

TEST_F(FrozenFramesApi, AnIteratorReturnsThemOnDemand) {
  static std::vector<jmethodID> seen;
  static int without_sp;
  int with_frozen = 0;
  const auto collect = [](ASGST_Iterator* iterator, void*) {
    seen.clear();
    without_sp = 0;
    for (ASGST_Frame frame; ASGST_NextFrame(iterator, &frame) == 1;) {
      seen.push_back(ASGST_MethodToJMethodID(frame.method));
      if (frame.sp == nullptr && frame.fp == nullptr) without_sp++;
    }
  };
  live_.on_probe = [&] {
    ASGST_CallTrace whole{0, frames_, nullptr};
    RaiseHere([&](ucontext_t* context) {
      AsyncGetStackTrace(&whole, kDepth, context, 0);
      ASGST_RunWithIterator(context, ASGST_INCLUDE_FROZEN_FRAMES, collect, nullptr);
    });
    const auto all = MethodsOf(frames_, whole.num_frames, true);
    const auto others = MethodsOf(frames_, whole.num_frames, false);
    EXPECT_EQ(seen, all);
    EXPECT_EQ(without_sp, std::ssize(all) - std::ssize(others));
    if (without_sp > 0) with_frozen++;
    RaiseHere([&](ucontext_t* context) { ASGST_RunWithIterator(context, 0, collect, nullptr); });
    EXPECT_EQ(seen, others);
    EXPECT_EQ(without_sp, 0);
  };
  Run("probeMixed", 2);
  EXPECT_GT(with_frozen, 2);
}

// What handlers count at random moments. A handler knows the true number of activations of
// interpStep, c1Step, c2Step and c2Throw but for one, which is just called or left, and which
// method calls which.
struct AtRandom {
  enum Step { kInterp, kC1, kC2, kThrow, kInlined, kSteps };
  jmethodID steps[kSteps] = {}, entered = nullptr, newest = nullptr;
  int64_t wrong_depth = 0, wrong_found = 0;  // of the first wrong walk, as is `newest`
  std::atomic<int> mounted{0}, with_frozen{0}, guessed{0}, complete{0}, wrong{0};

  // `callee`: kSteps: none.
  static bool Calls(Step caller, Step callee) {
    if (callee == kSteps) return true;
    if (callee == kThrow) return caller == kThrow;
    if (callee == kC1) return caller == kInterp || caller == kInlined;
    return caller == (callee == kInterp ? kInlined : callee == kC2 ? kC1 : kC2);
  }

  void Count(ucontext_t* context) {
    const int64_t depth = *const_cast<volatile int64_t*>(&frozen_depth);
    ASGST_CallFrame frames[kDepth];
    ASGST_CallTrace trace{0, frames, nullptr};
    AsyncGetStackTrace(&trace, kDepth, context, 0);
    const bool is_guess = asgst_guessed_from() >= 0;
    int64_t found = 0;
    bool is_mounted = false, some = false, in_order = true;
    Step callee = kSteps;
    for (int i = 0; i < trace.num_frames; i++) {
      const ASGST_JavaFrame& frame = frames[i].java_frame;
      const auto step =
          static_cast<Step>(std::find(steps, steps + kSteps, frame.method_id) - steps);
      if (step < kSteps) in_order &= Calls(step, std::exchange(callee, step));
      if (step < kInlined) found++;
      is_mounted |= frame.method_id == entered;
      some |= frame.is_frozen != 0;
    }
    if (depth == 0 || !is_mounted) return;
    mounted++;
    if (some) with_frozen++;
    if (is_guess) {
      guessed++;
    } else if (in_order && (callee == kInterp || callee == kThrow) &&
               (found == depth || found == depth + 1)) {
      complete++;
    } else if (wrong++ == 0) {
      wrong_depth = depth;
      wrong_found = found;
      newest = frames[0].java_frame.method_id;
    }
  }
};

class FrozenFramesAtRandom : public FrozenFramesApi {
 protected:
  void Park(const char* method, int times) {
    JNIEnv* env = live_.env();
    const char* const names[] = {"interpStep", "c1Step", "c2Step", "c2Throw", "inlinedStep"};
    for (int i = 0; i < AtRandom::kSteps; i++)
      counts_.steps[i] = env->GetStaticMethodID(FrozenClass(), names[i], "(I)J");
    jclass in = env->FindClass("jdk/internal/vm/Continuation");
    counts_.entered =
        env->GetStaticMethodID(in, "enterSpecial", "(Ljdk/internal/vm/Continuation;ZZ)V");
    ASSERT_NE(counts_.entered, nullptr);
    const InHandler handler = [this](ucontext_t* context) { counts_.Count(context); };
    SetHandler(&handler);
    const itimerval often = {{0, 500}, {0, 500}}, never = {};
    setitimer(ITIMER_PROF, &often, nullptr);
    Run(method, times);
    setitimer(ITIMER_PROF, &never, nullptr);
    SetHandler(nullptr);
    printf(
        "%s: %d walks of a mounted virtual thread, %d with frozen frames: %d complete, %d with "
        "guesses, %d wrong\n",
        method, counts_.mounted.load(), counts_.with_frozen.load(), counts_.complete.load(),
        counts_.guessed.load(), counts_.wrong.load());
    EXPECT_GT(counts_.with_frozen, 10);
    // A run has some 100 walks; figures.md has the share in many.
    EXPECT_LE(50 * counts_.wrong, counts_.mounted + 50)
        << counts_.wrong_found << " for " << counts_.wrong_depth << " in "
        << NameOf(counts_.newest);
  }

  AtRandom counts_;
};

TEST_F(FrozenFramesAtRandom, AreCompleteWhereAllAreCompiled) { Park("parkCompiled", 2'000); }

TEST_F(FrozenFramesAtRandom, AreCompleteWhereAnExceptionLeavesThem) { Park("parkThrown", 10'000); }

TEST_F(FrozenFramesAtRandom, AreCompleteWhereSomeAreInterpreted) { Park("parkMixed", 2'000); }

}  // namespace
}  // namespace walkhammer::asgst
