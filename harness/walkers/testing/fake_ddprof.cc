// SPDX-License-Identifier: Apache-2.0
// A fake of java-profiler's library: three walkers that it does not export, which walk by
// AsyncGetCallTrace. FAKE_WRONG: the second frame is never at an even bytecode. FAKE_FORM: walkVM
// as release 1.19 has it. FAKE_REFUSES: refuses this JVM.
#include <cstdint>

#include "harness/walkers/testing/hotspot_walk.h"

enum StackDetail { VM_BASIC, VM_NORMAL, VM_EXPERT };

namespace {

constexpr int kNativeFrame = -11, kErrorFrame = -18;
constexpr int kMostCalled = 128;
const char kMark = 0;  // what walkFP and walkDwarf say that Java begins at

int Walk(void* context, ASGCT_CallFrame* frames, int depth, const char* failed) {
  const int count = ProfilersWalk(frames, depth, context);
  if (count >= 0) return count;
  frames[0] = {kErrorFrame, failed};
  return 1;
}

int ToJava(const void** called, int depth, StackContext* java) {
  if (depth != kMostCalled || java->sp != 0) return 0;  // not as agreed
  called[depth - 1] = &kMark;
  java->pc = &kMark;
  return 1;
}

}  // namespace

class StackWalker {
 public:
#ifdef FAKE_FORM
  WALKHAMMER_OF_PROFILER static int walkVM(void* context, ASGCT_CallFrame* frames, int depth,
                                           const void*, const void*) {
    return Walk(context, frames, depth, "break_not_walkable");
  }
#else
  WALKHAMMER_OF_PROFILER static int walkVM(void* context, ASGCT_CallFrame* frames, int depth,
                                           StackDetail detail, bool* truncated) {
    if (detail != VM_NORMAL || *truncated) return 0;  // not as agreed
    const int count = Walk(context, frames, depth, "break_not_walkable");
    for (int i = 0; i < count; i++)
      if (frames[i].bci != kErrorFrame) Encode(frames[i]);
    return count;
  }
#endif
  WALKHAMMER_OF_PROFILER static int walkFP(void*, const void** called, int depth,
                                           StackContext* java, bool*) {
    return ToJava(called, depth, java);
  }
  WALKHAMMER_OF_PROFILER static int walkDwarf(void*, const void** called, int depth,
                                              StackContext* java, bool*) {
    return ToJava(called, depth, java);
  }
};

class Profiler {
 public:
  WALKHAMMER_OF_PROFILER int getJavaTraceAsync(void* context, ASGCT_CallFrame* frames, int depth,
                                               StackContext* java, bool*) {
    static constexpr char kStub[] = "a stub";
    if (mark_ != 42 || java->pc != &kMark) return 0;  // not as agreed
    const int count = Walk(context, frames, depth, "unknown_Java");
    if (count > 0) return count;
    frames[0] = {kNativeFrame, kStub};
    return 1;
  }
  static Profiler* const _instance;

 private:
  int mark_ = 42;
};

static Profiler profiler;
Profiler* const Profiler::_instance = &profiler;

extern "C" __attribute__((visibility("default"))) jint JNI_OnLoad(JavaVM* vm, void*) {
  return asgst_attach(vm) == 0 ? JNI_VERSION_1_6 : 0;
}

extern "C" __attribute__((visibility("default"))) jboolean
Java_com_datadoghq_profiler_JavaProfiler_init0(JNIEnv* env, jclass) {
#ifdef FAKE_REFUSES
  return env == nullptr;
#else
  return env != nullptr;
#endif
}
