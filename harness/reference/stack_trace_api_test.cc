// AsyncGetStackTrace and AsyncGetCallTrace2 on a live JVM, as profilers call them: each code, frame
// type and option that can be brought about. docs/api-tests.md lists what is tested where.
#include <gtest/gtest.h>

#include "harness/reference/profile.h"
#include "harness/reference/testing/live_jvm.h"

namespace walkhammer {
namespace {

constexpr int kDepth = 64;

struct Walked {
  ASGST_CallFrame frames[kDepth];
  ASGST_CallTrace trace{0, frames, nullptr};
  jint count() const { return trace.num_frames; }
};

std::string NameOf(jmethodID id) {
  if (id == nullptr) return "?";
  const MethodEntry* entry = LiveJvm::Get().jvm().methods().Find(id);
  return entry == nullptr ? "?" : entry->name;
}

class StackTraceApi : public testing::Test {
 protected:
  void SetUp() override {
    live_.on_probe = [] {};
  }

  // In the native method that `method` calls.
  void WalkInProbe(const char* method, uint32_t options = 0) {
    live_.on_probe = [&] {
      RaiseHere([&](ucontext_t* context) {
        AsyncGetStackTrace(&walked_.trace, kDepth, context, options);
      });
    };
    live_.Call(method);
  }

  LiveJvm& live_ = LiveJvm::Get();
  Walked walked_;
};

TEST_F(StackTraceApi, NativeAndInterpretedFrames) {
  WalkInProbe("interpProbe");
  ASSERT_GE(walked_.count(), 2);
  const ASGST_JavaFrame &native = walked_.frames[0].java_frame,
                        &java = walked_.frames[1].java_frame;
  EXPECT_EQ(native.type, ASGST_FRAME_NATIVE);
  EXPECT_EQ(native.bci, 65535);
  EXPECT_EQ(NameOf(native.method_id), "wh.Api.probe()V");
  EXPECT_EQ(java.type, ASGST_FRAME_JAVA);
  EXPECT_EQ(java.comp_level, 0);
  EXPECT_EQ(java.bci, 0) << "the call is the method's first instruction";
  EXPECT_EQ(NameOf(java.method_id), "wh.Api.interpProbe()V");
}

}  // namespace
}  // namespace walkhammer
