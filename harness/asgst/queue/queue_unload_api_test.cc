// SPDX-License-Identifier: Apache-2.0
// Queues while classes are unloaded, on a live JVM.
#include "harness/asgst/testing/ids_testing.h"
#include "harness/asgst/testing/queue_testing.h"

namespace walkhammer::asgst {
namespace {

// What a queue's handler could tell of the methods that it was given.
struct NamesInHandler {
  int elements = 0, of_gone = 0, unknown = 0;

  static void Count(ASGST_Iterator* iterator, void* self, void*) {
    auto* names = static_cast<NamesInHandler*>(self);
    names->elements++;
    for (ASGST_Frame frame; ASGST_NextFrame(iterator, &frame) == 1;) {
      const std::string name = Ask(frame.method).name.value_or("");
      if (name.empty()) names->unknown++;
      if (name == "call" && Ask(ASGST_GetClass(frame.method)).name == "wh/Gone") names->of_gone++;
    }
  }
};

class QueueUnload : public QueueTest {
 protected:
  void Call(jclass klass, const char* name, const char* signature, jobject argument = nullptr) {
    env_->CallStaticVoidMethod(klass, StaticMethod(klass, name, signature), argument);
    ASSERT_FALSE(env_->ExceptionCheck()) << name;
  }
  jobject Make(const char* name, const char* signature) {
    return env_->CallStaticObjectMethod(gone_, StaticMethod(gone_, name, signature));
  }
  // Takes a sample in a method of a new wh.Gone, and collects garbage until that class is no more.
  void SampleAndUnload() {
    auto* mirror = static_cast<jclass>(Make("load", "()Ljava/lang/Class;"));
    const ASGST_Class klass = ASGST_JClassToClass(mirror);
    jobject probe = Make("probe", "()Ljava/lang/Runnable;");
    live_.on_probe = [&] { EXPECT_EQ(EnqueueHere(1), ASGST_JAVA_TRACE); };
    Call(mirror, "call", "(Ljava/lang/Runnable;)V", probe);
    env_->DeleteLocalRef(probe);
    env_->DeleteLocalRef(mirror);
    EXPECT_TRUE(WaitFor([&] {
      Call(FindTestClass("java/lang/System"), "gc", "()V");
      return ASGST_GetClassIdNum(klass) < 0;
    }));
  }

  JNIEnv* env_ = live_.env();
  jclass gone_ = FindTestClass("wh/Gone");
};

// Also while elements are held: a collection does not wait.
TEST_F(QueueUnload, NoMethodOfAnUnloadedClassReachesAHandler) {
  constexpr int kRounds = 20;
  NamesInHandler names;
  queue_ = ASGST_RegisterQueue(env_, kRounds, 0, NamesInHandler::Count, &names);
  ASSERT_NE(queue_, nullptr);
  for (int i = 0; i < kRounds; i++) SampleAndUnload();
  Process();
  EXPECT_EQ(names.elements, kRounds);
  EXPECT_EQ(names.of_gone, kRounds) << "the sampled class is still there";
  EXPECT_EQ(names.unknown, 0);
}

}  // namespace
}  // namespace walkhammer::asgst
