// SPDX-License-Identifier: Apache-2.0
// AsyncGetStackTrace and AsyncGetCallTrace2 on a live JVM, as profilers call them: each code, frame
// type and option that can be brought about. docs/maintainers/api-tests.md lists what is tested
// where.
#include <dlfcn.h>
#include <execinfo.h>

#include <algorithm>
#include <span>

#include "harness/asgst/testing/ids_testing.h"
#include "harness/asgst/testing/live_jvm.h"
#include "harness/guard/arch.h"

namespace walkhammer::asgst {
namespace {

constexpr int kDepth = Answer::kDepth;

struct Walked : Answer {
  jint end = -1, guessed_from = -2;

  void Here(ucontext_t* context, uint32_t options = 0, jint depth = kDepth) {
    AsyncGetStackTrace(&trace, depth, context, options);
    end = asgst_walk_end();
    guessed_from = asgst_guessed_from();
  }
  std::span<const ASGST_CallFrame> all() const {
    return {frames, count() > 0 ? static_cast<size_t>(count()) : 0};
  }
  // The digits of the frames' types, each once for consecutive frames of that type.
  std::string Order() const {
    std::string order;
    for (const ASGST_CallFrame& frame : all())
      if (order.empty() || order.back() != '0' + frame.type)
        order += static_cast<char>('0' + frame.type);
    return order;
  }
  std::vector<void*> PcsOf(uint8_t type) const {
    std::vector<void*> pcs;
    for (const ASGST_CallFrame& frame : all())
      if (frame.type == type) pcs.push_back(frame.non_java_frame.pc);
    return pcs;
  }
};

// One Java frame as text: type, level, bytecode, method.
std::string TextOf(const ASGST_CallFrame& frame) {
  const ASGST_JavaFrame& java = frame.java_frame;
  return std::to_string(java.type) + " level " + std::to_string(java.comp_level) + " bci " +
         std::to_string(java.bci) + " " + NameOf(java.method_id);
}

// Return addresses in the caller and in older frames, newest first, from backtrace(3).
std::vector<void*> NativeCallers() {
  void* pcs[kDepth];
  const int count = backtrace(pcs, kDepth);
  return std::vector<void*>(pcs + 1, pcs + count);
}

// True if `whole` ends as `other` does, in at least three entries; the newest entry of `other` may
// differ.
bool EndsAlike(const std::vector<void*>& whole, const std::vector<void*>& other) {
  const auto same =
      std::mismatch(whole.rbegin(), whole.rend(), other.rbegin(), other.rend()).first -
      whole.rbegin();
  return same >= 3 && same + 1 >= std::ssize(other);
}

class StackTraceApi : public LiveTest {
 protected:
  // Walks in the native method that `method` calls; walked_ keeps the last walk.
  void WalkInProbe(const char* method, uint32_t options = 0) {
    InProbe(method, [&](ucontext_t* context) { walked_.Here(context, options); });
  }
  void WalkHere(uint32_t options = 0) {
    RaiseHere([&](ucontext_t* context) { walked_.Here(context, options); });
  }
  // Walks in a handler of `running` in Java code, with registers that `change` has changed. At
  // times the interpreter has called into the JVM, for its counters.
  void WalkChanged(RunningMethod& running, const std::function<void(Registers&)>& change) {
    constexpr uint8_t kInJava = 8;
    bool in_java = false;
    for (int i = 0; i < 100 && !in_java; i++) {
      ASSERT_TRUE(running.Raise([&](ucontext_t* context) {
        in_java = live_.jvm().ThreadOf(running.env()).State() == kInJava;
        Registers at = ReadContext(*context);
        change(at);
        ucontext_t changed = *context;
        WriteContext(at, changed);
        walked_.Here(&changed);
      }));
    }
    ASSERT_TRUE(in_java);
  }

  Walked walked_;
};

TEST_F(StackTraceApi, NativeAndInterpretedFrames) {
  WalkInProbe("interpProbe");
  ASSERT_EQ(walked_.count(), 2);
  EXPECT_EQ(TextOf(walked_.frames[0]), "3 level 0 bci 65535 wh.Api.probe()V");
  EXPECT_EQ(TextOf(walked_.frames[1]), "1 level 0 bci 0 wh.Api.interpProbe()V");
  EXPECT_EQ(walked_.end, ASGST_WALK_END_WHOLE);
  EXPECT_EQ(walked_.guessed_from, -1);
}

TEST_F(StackTraceApi, FramesOfC1) {
  WalkInProbe("c1Chain");
  ASSERT_EQ(walked_.count(), 3);
  const ASGST_JavaFrame& frame = walked_.frames[1].java_frame;
  EXPECT_EQ(frame.type, ASGST_FRAME_JAVA);
  EXPECT_GE(frame.comp_level, 1);
  EXPECT_LE(frame.comp_level, 3);
  EXPECT_EQ(frame.bci, 6) << "the call";
  EXPECT_EQ(NameOf(frame.method_id), "wh.Api.c1Probe()V");
}

TEST_F(StackTraceApi, FramesOfC2AndInlinedOnes) {
  WalkInProbe("c2Chain");
  ASSERT_EQ(walked_.count(), 4);
  EXPECT_EQ(TextOf(walked_.frames[1]), "2 level 4 bci 6 wh.Api.inlinedProbe()V");
  EXPECT_EQ(TextOf(walked_.frames[2]), "1 level 4 bci 0 wh.Api.c2Probe()V");
}

TEST_F(StackTraceApi, InterruptedInJavaCode) {
  for (const char* method : {"interpSpin", "c2Spin"}) {
    RunningMethod running(method);
    ASSERT_TRUE(running.Raise([&](ucontext_t* context) { walked_.Here(context); }));
    EXPECT_EQ(walked_.NameAt(-1), std::string("wh.Api.") + method + "()V");
  }
}

TEST_F(StackTraceApi, BlockedInTheJvm) {
  RunningMethod running("interpSleep");
  ASSERT_TRUE(running.Raise([&](ucontext_t* context) { walked_.Here(context); }));
  ASSERT_GE(walked_.count(), 2);
  EXPECT_EQ(walked_.frames[0].type, ASGST_FRAME_NATIVE);
  EXPECT_EQ(walked_.NameAt(-1), "wh.Api.interpSleep()V");
}

TEST_F(StackTraceApi, DepthEndsTheWalk) {
  InProbe("interpProbe", [&](ucontext_t* context) {
    walked_.frames[1].type = 99;
    walked_.Here(context, 0, 1);
  });
  EXPECT_EQ(walked_.count(), 1);
  EXPECT_EQ(walked_.frames[1].type, 99) << "not written";
  EXPECT_EQ(walked_.end, ASGST_WALK_END_DEPTH);
  RaiseHere([&](ucontext_t* context) { walked_.Here(context, 0, 0); });
  EXPECT_EQ(walked_.count(), 0);
}

TEST_F(StackTraceApi, FrameInfoBecomesNull) {
  int mark = 0;
  walked_.trace.frame_info = &mark;
  WalkInProbe("interpProbe");
  EXPECT_EQ(walked_.trace.frame_info, nullptr);
}

TEST_F(StackTraceApi, UnderItsFirstName) {
  InProbe("interpProbe",
          [&](ucontext_t* context) { AsyncGetCallTrace2(&walked_.trace, kDepth, context, 0); });
  EXPECT_EQ(walked_.count(), 2);
}

// --- C and C++ frames, stubs ---

TEST_F(StackTraceApi, CFramesAroundJava) {
  ASSERT_EQ(asgst_wait_for_c_frames(10'000), 0);
  const std::vector<void*> callers = NativeCallers();
  WalkInProbe("interpProbe", ASGST_INCLUDE_C_FRAMES);
  EXPECT_EQ(walked_.Order(), "53145") << "C++, native, Java, the stub that calls Java, C++";
  EXPECT_TRUE(EndsAlike(walked_.PcsOf(ASGST_FRAME_CPP), callers));
}

TEST_F(StackTraceApi, CFramesBetweenTwoJavaCalls) {
  ASSERT_EQ(asgst_wait_for_c_frames(10'000), 0);
  bool nested = false;
  live_.on_probe = [&] {
    if (std::exchange(nested, true))
      RaiseHere([&](ucontext_t* c) { walked_.Here(c, ASGST_INCLUDE_C_FRAMES); });
    else
      live_.Call("interpProbe");
  };
  live_.Call("interpProbe");
  EXPECT_EQ(walked_.Order(), "531453145");
}

TEST_F(StackTraceApi, CFramesWithoutJava) {
  ASSERT_EQ(asgst_wait_for_c_frames(10'000), 0);
  const std::vector<void*> callers = NativeCallers();
  WalkHere(ASGST_INCLUDE_C_FRAMES);
  EXPECT_EQ(walked_.PcsOf(ASGST_FRAME_CPP).size(), static_cast<size_t>(walked_.count()));
  EXPECT_TRUE(EndsAlike(walked_.PcsOf(ASGST_FRAME_CPP), callers));
}

// --- codes ---

TEST_F(StackTraceApi, NoJavaFrame) {
  WalkHere();
  EXPECT_EQ(walked_.count(), ASGST_NO_JAVA_FRAME);
  EXPECT_EQ(walked_.end, ASGST_WALK_END_NO_JAVA);
}

// The newest walk is that of the thread itself.
TEST_F(StackTraceApi, WhyAWalkEndedIsKeptByThread) {
  WalkInProbe("interpProbe");
  std::thread([] {
    EXPECT_EQ(asgst_walk_end(), ASGST_WALK_END_UNTOLD);
    EXPECT_EQ(asgst_guessed_from(), -1);
  }).join();
  EXPECT_EQ(asgst_walk_end(), ASGST_WALK_END_WHOLE);
}

// In C code that no table describes, called by the one Java frame: the frame pointer leads beyond
// that frame, to the native code that called it.
TEST_F(StackTraceApi, WhatIsSearchedForIsAGuess) {
  RunningMethod running("interpSpin");
  // While the JVM works for the thread, as to compile the loop, the anchor leads to the Java frame.
  for (int tries = 0; tries == 0 || (tries < 5 && walked_.count() == 1); tries++)
    WalkChanged(running, [](Registers& at) {
      at.pc = 4096;
      at.lr = 0;
    });
  EXPECT_EQ(walked_.count(), 0);
  EXPECT_EQ(walked_.end, ASGST_WALK_END_GUESSED);
  EXPECT_EQ(walked_.guessed_from, -1) << "no frame is left";
}

// SafeFetch is found by its symbol, by its code or, on 17.0.7 and before, as a stub. In these JDKs
// it works on any thread.
TEST_F(StackTraceApi, ReadsThroughSafeFetch) {
  EXPECT_EQ(asgst_reads(), ASGST_READS_SAFEFETCH);
  jint elsewhere = ASGST_READS_NOT_ATTACHED;
  std::thread([&] { elsewhere = asgst_reads(); }).join();
  EXPECT_EQ(elsewhere, ASGST_READS_SAFEFETCH);
}

TEST(StackTraceApiDeathTest, NoClassLoadBeforeItIsAttached) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        Walked walked;
        errno = 77;
        walked.Here(nullptr);
        _exit(walked.count() == ASGST_NO_CLASS_LOAD && errno == 77 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "^libasgst: walks fail, .* -agentpath:");
}

TEST_F(StackTraceApi, AnAttachThatSucceedsLeavesNoErrorOfEarlierOnes) {
  EXPECT_NE(LiveJvm::Get().attach_error(), "");
  EXPECT_STREQ(asgst_error(), "");
}

TEST_F(StackTraceApi, NotWalkableNotJava) {
  volatile uint64_t* sp = Thread().last_sp();
  RaiseHere([&](ucontext_t* context) {
    *sp = 4096;
    walked_.Here(context);
    *sp = 0;
  });
  EXPECT_EQ(walked_.count(), ASGST_NOT_WALKABLE_NOT_JAVA);
  EXPECT_EQ(walked_.end, ASGST_WALK_END_ANCHOR);
}

TEST_F(StackTraceApi, UnknownJava) {
  RunningMethod running("interpSpin");
  for (const Registers bad : {Registers{4096, 4096, 4096, 0}, Registers{0, 0, 0, 0}}) {
    WalkChanged(running, [&](Registers& at) { at = bad; });
    EXPECT_EQ(walked_.count(), ASGST_UNKNOWN_JAVA);
    EXPECT_EQ(walked_.end, ASGST_WALK_END_NO_TOP);
  }
}

TEST_F(StackTraceApi, UnknownState) {
  volatile int32_t* state = Thread().state();
  const int32_t before = *state;
  RaiseHere([&](ucontext_t* context) {
    *state = 57;
    walked_.Here(context);
    *state = before;
  });
  EXPECT_EQ(walked_.count(), ASGST_UNKNOWN_STATE);
  EXPECT_EQ(walked_.end, ASGST_WALK_END_STATE);
}

// As if the JVM were laying out interpreted frames in place of a compiled one.
TEST_F(StackTraceApi, Deopt) {
  const auto field = live_.jvm().structs().Offset("JavaThread", "_vframe_array_head");
  ASSERT_TRUE(field);
  auto* unpacked =
      reinterpret_cast<volatile uint64_t*>(static_cast<char*>(Thread().address()) + *field);
  ASSERT_EQ(*unpacked, 0U);
  RaiseHere([&](ucontext_t* context) {
    *unpacked = 0x1000;
    walked_.Here(context);
    *unpacked = 0;
  });
  EXPECT_EQ(walked_.count(), ASGST_DEOPT);
  EXPECT_EQ(walked_.end, ASGST_WALK_END_DEOPT);
  RaiseHere([&](ucontext_t* context) { walked_.Here(context); });
  EXPECT_NE(walked_.count(), ASGST_DEOPT);
}

TEST_F(StackTraceApi, ThreadNotJava) {
  std::thread([&] { WalkHere(); }).join();
  EXPECT_EQ(walked_.count(), ASGST_THREAD_NOT_JAVA);
}

// Whether `walk` has frames of both functions of late_library.cc, one after the other.
bool HasLateFrames(const Walked& walk, void* library) {
  const auto in = [&](void* pc, const char* name) {
    const auto* function = static_cast<const char*>(dlsym(library, name));
    const auto* at = static_cast<const char*>(pc);
    return at > function && at < function + 64;
  };
  const std::vector<void*> pcs = walk.PcsOf(ASGST_FRAME_CPP);
  for (size_t i = 1; i < pcs.size(); i++)
    if (in(pcs[i - 1], "late_inner") && in(pcs[i], "late_outer")) return true;
  return false;
}

TEST_F(StackTraceApi, CFramesOfALibraryThatWasLoadedLate) {
  ASSERT_EQ(asgst_wait_for_c_frames(10'000), 0);
  WalkInProbe("interpProbe", ASGST_INCLUDE_C_FRAMES);
  EXPECT_EQ(asgst_guessed_c_frame(), -1) << "all that is loaded has tables";
  void* library = dlopen(WALKHAMMER_LATE_LIBRARY, RTLD_NOW);
  ASSERT_NE(library, nullptr);
  auto* outer = reinterpret_cast<int (*)(void (*)())>(dlsym(library, "late_outer"));
  static Walked* walk = &walked_;
  jint guessed = -1;
  const auto walk_below = [&] {
    live_.on_probe = [&] {
      outer([] {
        static const InHandler in_handler = [](ucontext_t* context) {
          walk->Here(context, ASGST_INCLUDE_C_FRAMES);
        };
        RaiseHere(in_handler);
      });
      guessed = asgst_guessed_c_frame();
    };
    live_.Call("interpProbe");
  };
  walk = &walked_;
  walk_below();
  EXPECT_TRUE(HasLateFrames(walked_, library) || guessed >= 0) << "neither there nor flagged";
  EXPECT_EQ(walked_.guessed_from, -1) << "Java frames are as certain as ever";
  EXPECT_EQ(walked_.Order().find("531"), 0U);
  ASSERT_EQ(asgst_wait_for_c_frames(10'000), 0);
  walk_below();
  EXPECT_TRUE(HasLateFrames(walked_, library));
  EXPECT_EQ(guessed, -1);
  dlclose(library);
}

constexpr uint32_t kAlsoC = ASGST_INCLUDE_C_FRAMES | ASGST_INCLUDE_NON_JAVA_THREADS;

TEST_F(StackTraceApi, CFramesOfAThreadOfNoJvm) {
  ASSERT_EQ(asgst_wait_for_c_frames(10'000), 0);
  std::vector<void*> callers;
  std::thread([&] {
    RaiseHere([&](ucontext_t* context) { walked_.Here(context, kAlsoC); });
    callers = NativeCallers();
  }).join();
  EXPECT_EQ(walked_.Order(), "5");
  EXPECT_TRUE(EndsAlike(walked_.PcsOf(ASGST_FRAME_CPP), callers));
  EXPECT_EQ(walked_.end, ASGST_WALK_END_NO_JAVA);
}

TEST_F(StackTraceApi, AThreadOfNoJvmHasNoFramesWithoutRegistersOrWithoutTheOption) {
  jint none = 99, no_context = 99, no_c_frames = 99, few = 99;
  std::thread([&] {
    RaiseHere([&](ucontext_t* context) {
      walked_.Here(context, ASGST_INCLUDE_C_FRAMES);
      none = walked_.count();
      walked_.Here(nullptr, kAlsoC);
      no_context = walked_.count();
      walked_.Here(context, ASGST_INCLUDE_NON_JAVA_THREADS);
      no_c_frames = walked_.count();
      walked_.Here(context, kAlsoC, 2);
      few = walked_.count();
    });
  }).join();
  EXPECT_EQ(none, ASGST_THREAD_NOT_JAVA);
  EXPECT_EQ(no_context, ASGST_NO_JAVA_FRAME);
  EXPECT_EQ(no_c_frames, ASGST_NO_JAVA_FRAME);
  EXPECT_EQ(few, 2);
}

TEST_F(StackTraceApi, OptionsThatAreNoneHaveNoEffect) {
  WalkInProbe("interpProbe", ~kAlsoC);
  EXPECT_EQ(walked_.Order(), "31");
}

// The second walk finds results of the first in the caches.
TEST_F(StackTraceApi, WithoutCachesItIsTheSame) {
  for (const char* method : {"interpProbe", "c1Chain", "c2Chain"}) {
    InProbe(method, [&](ucontext_t* context) {
      Walked first, fresh;
      first.Here(context);
      walked_.Here(context);
      fresh.Here(context, ASGST_WITHOUT_CACHES);
      EXPECT_EQ(walked_.count(), first.count()) << method;
      ASSERT_EQ(walked_.count(), fresh.count()) << method;
      for (int i = 0; i < fresh.count(); i++)
        EXPECT_EQ(TextOf(walked_.frames[i]), TextOf(fresh.frames[i])) << method;
    });
  }
}

// As between a thread's last method and its end.
TEST_F(StackTraceApi, ThreadExit) {
  constexpr int kTerminated = 2;
  JNIEnv* env = live_.env();
  jthread thread = nullptr;
  TestJvmti()->GetCurrentThread(&thread);
  const ThreadStatusField status(env, thread);
  const jint before = status.Get();
  status.Set(kTerminated);
  WalkHere();
  status.Set(before);
  EXPECT_EQ(walked_.count(), ASGST_THREAD_EXIT);
  WalkHere();
  EXPECT_EQ(walked_.count(), ASGST_NO_JAVA_FRAME);
}

TEST_F(StackTraceApi, ThreadThatHasLeft) {
  std::thread([&] {
    void* env = nullptr;
    live_.jvm().vm()->AttachCurrentThread(&env, nullptr);
    WalkHere();
    EXPECT_EQ(walked_.count(), ASGST_NO_JAVA_FRAME);
    live_.jvm().vm()->DetachCurrentThread();
    WalkHere();
  }).join();
  EXPECT_EQ(walked_.count(), ASGST_THREAD_NOT_JAVA);
}

// GC_ACTIVE of the documents: here threads are also walked while the JVM is at a safepoint.
TEST_F(StackTraceApi, AtASafepoint) {
  RunningMethod running("interpSpin");
  struct Call {
    RunningMethod& running;
    Walked& walked;
    bool raised = false;
  } call{running, walked_};
  ASSERT_TRUE(live_.jvm().RunAtSafepoint(
      [](void* argument) {
        auto* c = static_cast<Call*>(argument);
        c->raised = c->running.Raise([&](ucontext_t* context) { c->walked.Here(context); });
      },
      &call));
  EXPECT_TRUE(call.raised);
  EXPECT_EQ(walked_.NameAt(0), "wh.Api.interpSpin()V");
}

TEST_F(StackTraceApi, ErrnoIsKept) {
  int after = 0;
  InProbe("interpProbe", [&](ucontext_t* context) {
    errno = 77;
    walked_.Here(context, ASGST_INCLUDE_C_FRAMES);
    after = errno;
  });
  EXPECT_EQ(after, 77);
}

TEST_F(StackTraceApi, AttachingAgainDoesNoHarm) {
  EXPECT_EQ(asgst_attach(live_.jvm().vm()), 0);
  WalkInProbe("interpProbe");
  EXPECT_EQ(walked_.count(), 2);
}

}  // namespace
}  // namespace walkhammer::asgst
