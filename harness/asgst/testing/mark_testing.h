// SPDX-License-Identifier: Apache-2.0
// Helpers of the tests of frame marks: a mark that notes what its handler sees. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_ASGST_TESTING_MARK_TESTING_H_
#define WALKHAMMER_HARNESS_ASGST_TESTING_MARK_TESTING_H_

#include <sys/syscall.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "harness/asgst/testing/live_jvm.h"

namespace walkhammer::asgst {

inline int64_t mark_steps = 0;  // wh.Marked counts here how often callers of marked frames resumed

inline jclass MarkedClass() {
  static const auto found = [] {
    JNIEnv* env = LiveJvm::Get().env();
    const auto made = static_cast<jclass>(env->NewGlobalRef(env->FindClass("wh/Marked")));
    jmethodID open = env->GetStaticMethodID(made, "open", "(Ljava/nio/ByteBuffer;)V");
    env->CallStaticVoidMethod(made, open, env->NewDirectByteBuffer(&mark_steps, sizeof mark_steps));
    return made;
  }();
  return found;
}

// Runs a static method of wh.Marked.
inline void CallMarked(const char* method, int times) {
  JNIEnv* env = LiveJvm::Get().env();
  env->CallStaticVoidMethod(MarkedClass(), env->GetStaticMethodID(MarkedClass(), method, "(I)V"),
                            times);
  ASSERT_FALSE(env->ExceptionCheck()) << method;
}

struct MarkFrame {
  std::string name;
  void *sp, *pc;
};

// The physical frames that the iterator returns, each with its own method, not an inlined one.
inline std::vector<MarkFrame> PhysicalFramesOf(ASGST_Iterator* iterator) {
  std::vector<MarkFrame> frames;
  for (ASGST_Frame frame; ASGST_NextFrame(iterator, &frame) == 1;)
    if (frame.type != ASGST_FRAME2_JAVA_INLINED)
      frames.push_back({NameOf(frame.method), frame.sp, frame.pc});
  return frames;
}

// The current thread's physical frames, from the anchor on: the first is probe().
inline std::vector<MarkFrame> PhysicalFramesHere() {
  std::vector<MarkFrame> frames;
  Iterate(nullptr, [&](ASGST_Iterator* iterator) { frames = PhysicalFramesOf(iterator); });
  return frames;
}

// What a mark's handler was called with.
struct SeenMark {
  int state, os_thread;
  int64_t steps;
  void* sp;  // of the marked frame
  std::vector<MarkFrame> frames;
};

// A mark of the thread with this JNIEnv.
class NotingMark {
 public:
  explicit NotingMark(JNIEnv* env) : mark_(ASGST_RegisterFrameMark(env, OnLeft, 0, this)) {}
  ~NotingMark() { ASGST_RemoveFrameMark(mark_); }
  NotingMark(const NotingMark&) = delete;
  NotingMark& operator=(const NotingMark&) = delete;

  ASGST_FrameMark* get() const { return mark_; }
  void* sp() const { return ASGST_GetFrameMarkStackPointer(mark_); }
  void MoveTo(const MarkFrame& frame) { ASGST_MoveFrameMark(mark_, frame.sp); }

  // Called in the handler, after the handler has noted the call. Signal-safe: no.
  std::function<void(const SeenMark&)> and_then = [](const SeenMark&) {};
  std::vector<SeenMark> seen;  // by the mark's own thread
  std::atomic<int> count{0};   // of `seen`, for other threads

 private:
  static void OnLeft(ASGST_FrameMark* mark, ASGST_Iterator* iterator, void* self) {
    auto* noting = static_cast<NotingMark*>(self);
    EXPECT_EQ(mark, noting->mark_);
    noting->seen.push_back({asgst_mark_state(iterator), static_cast<int>(syscall(SYS_gettid)),
                            mark_steps, ASGST_GetFrameMarkStackPointer(mark),
                            PhysicalFramesOf(iterator)});
    noting->count++;
    noting->and_then(noting->seen.back());
  }

  ASGST_FrameMark* const mark_;
};

inline bool HasMarksHere() { return (ASGST_Capabilities() & ASGST_MARK_FRAME) != 0; }

class FrameMarksTest : public LiveTest {
 protected:
  void SetUp() override {
    if (!HasMarksHere()) GTEST_SKIP() << "this JVM cannot be hooked";
  }
};

// Runs `body` in probe() of each of `times` calls of interpMarked, with the frames there.
inline void InMarked(int times, const std::function<void(const std::vector<MarkFrame>&)>& body) {
  LiveJvm::Get().on_probe = [&] { body(PhysicalFramesHere()); };
  CallMarked("interpCallsInterp", times);
}

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_TESTING_MARK_TESTING_H_
