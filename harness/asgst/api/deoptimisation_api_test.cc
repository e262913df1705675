// SPDX-License-Identifier: Apache-2.0
// AsyncGetStackTrace at each instruction of a deoptimisation, from where the JVM has taken the
// compiled frame's contents until the interpreted frames that replace it are complete. The Java
// frames are the same all the time, at the same bytecodes: Api.java says which.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <csignal>

#include "harness/asgst/testing/live_jvm.h"
#include "harness/elf/elf_functions.h"
#include "harness/guard/arch.h"

namespace walkhammer::asgst {
namespace {

constexpr int kMostSteps = 2'000'000;

// Steps the current thread from the first call of a function on, for as long as the thread has
// frames to lay out. Its handler is signal-safe.
class SteppedDeoptimisation {
 public:
  // `function`: its entry. `head`: the thread's field that holds these frames.
  SteppedDeoptimisation(uint64_t function, const volatile uint64_t* head)
      : function_(function), head_(head), memory_(open("/proc/self/mem", O_RDWR | O_CLOEXEC)) {
    current_ = this;
    struct sigaction action {};
    action.sa_sigaction = [](int, siginfo_t*, void* context) {
      current_->OnTrap(*static_cast<ucontext_t*>(context));
    };
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    sigaction(SIGTRAP, &action, &before_);
  }
  ~SteppedDeoptimisation() {
    if (is_armed_) Write(code_);
    sigaction(SIGTRAP, &before_, nullptr);
    close(memory_);
  }
  // False: the function's code cannot be read or written.
  bool Arm() {
    is_armed_ = pread(memory_, &code_, sizeof code_, Offset()) == sizeof code_ && Write(kTrapCode);
    return is_armed_;
  }

  int compiled = 0,
      laid_out = 0;     // walks while the JVM had frames to lay out, by the newest's form
  Answer first, other;  // the first of these walks; the first one unlike it
  jint other_end = 0;
  bool differs = false;

 private:
  off_t Offset() const { return static_cast<off_t>(function_); }
  bool Write(CodeUnit code) const {
    return pwrite(memory_, &code, sizeof code, Offset()) == sizeof code;
  }
  void OnTrap(ucontext_t& context) {
    if (is_armed_) {
      is_armed_ = false;
      Registers at = ReadContext(context);
      at.pc = function_;
      WriteContext(at, context);
      Write(code_);
    } else if (*head_ != 0) {
      Walk(context);
    }
    const bool is_over = compiled + laid_out > 0 && *head_ == 0;
    SetSingleStep(context, !is_over && !AtCallThatEndsSteps(context) && steps_++ < kMostSteps);
  }
  void Walk(ucontext_t& context) {
    Answer& now = compiled + laid_out == 0 ? first : walked_;
    AsyncGetStackTrace(&now.trace, Answer::kDepth, &context, 0);
    const jint end = asgst_walk_end();
    (now.count() > 0 && now.frames[0].java_frame.comp_level > 0 ? compiled : laid_out)++;
    if (differs || (IsLikeFirst(now) && end == ASGST_WALK_END_WHOLE)) return;
    differs = true;
    other_end = end;
    other.trace.num_frames = now.count();
    for (int i = 0; i < now.count(); i++) other.frames[i] = now.frames[i];
  }
  bool IsLikeFirst(const Answer& now) const {
    if (now.count() != first.count()) return false;
    for (int i = 0; i < now.count(); i++)
      if (now.frames[i].java_frame.method_id != first.frames[i].java_frame.method_id ||
          now.frames[i].java_frame.bci != first.frames[i].java_frame.bci)
        return false;
    return true;
  }

  static inline SteppedDeoptimisation* current_;
  const uint64_t function_;
  const volatile uint64_t* const head_;
  const int memory_;
  struct sigaction before_ {};
  CodeUnit code_{};
  bool is_armed_ = false;
  int steps_ = 0;
  Answer walked_;
};

class DeoptimisationApi : public LiveTest {};

TEST_F(DeoptimisationApi, FramesAreTheSameAtEachInstruction) {
  if (!kHasTrapFlag) GTEST_SKIP() << "this architecture has no trap flag to single-step with";
  const auto field = live_.jvm().structs().Offset("JavaThread", "_vframe_array_head");
  ASSERT_TRUE(field);
  Dl_info libjvm{};
  ASSERT_NE(dladdr(dlsym(RTLD_DEFAULT, "JNI_GetCreatedJavaVMs"), &libjvm), 0);
  const auto found = FindFunctionsLike(
      libjvm.dli_fname, "_ZN14Deoptimization24fetch_unroll_info_helperEP10JavaThread");
  if (found.empty()) GTEST_SKIP() << "this libjvm has no symbols";
  const auto* head = reinterpret_cast<const volatile uint64_t*>(
      static_cast<const char*>(Thread().address()) + *field);
  SteppedDeoptimisation steps(reinterpret_cast<uint64_t>(libjvm.dli_fbase) + found[0].address,
                              head);
  live_.on_probe = [&] { ASSERT_TRUE(steps.Arm()); };
  live_.Call("c2Deopt");
  EXPECT_GT(steps.compiled, 100);
  EXPECT_GT(steps.laid_out, 100);
  ASSERT_EQ(steps.first.count(), 3);
  EXPECT_EQ(steps.first.NameAt(0), "wh.Api.inlinedTrapped()V");
  EXPECT_EQ(steps.first.NameAt(1), "wh.Api.c2Trapped()V");
  EXPECT_EQ(steps.first.NameAt(2), "wh.Api.c2Deopt()V");
  EXPECT_FALSE(steps.differs) << steps.other.count() << " frames, end " << steps.other_end << ": "
                              << steps.other.NameAt(0) << ", " << steps.other.NameAt(1);
}

}  // namespace
}  // namespace walkhammer::asgst
