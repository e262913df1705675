// SPDX-License-Identifier: Apache-2.0
// The fake providers' walk: HotSpot's own AsyncGetCallTrace, found in the process that loads the
// provider. Signal-safe: yes, except asgst_attach.
#ifndef WALKHAMMER_HARNESS_WALKERS_TESTING_HOTSPOT_WALK_H_
#define WALKHAMMER_HARNESS_WALKERS_TESTING_HOTSPOT_WALK_H_

#include <dlfcn.h>
#include <jni.h>

#include <cstdint>

#include "harness/asgst/include/asgst.h"
#include "harness/walkers/agct.h"

namespace walkhammer {

inline AgctFunction hotspot_walk = nullptr;
inline JavaVM* hotspot_vm = nullptr;

// Walks the current thread. Returns the number of frames, or a code <= 0; kNotJava if the thread is
// not attached to the JVM.
inline constexpr jint kNotJava = -100;
inline jint HotspotWalk(AgctFrame* frames, jint depth, void* context) {
  JNIEnv* env = nullptr;
  if (hotspot_vm == nullptr ||
      hotspot_vm->GetEnv(reinterpret_cast<void**>(&env), JNI_VERSION_1_8) != JNI_OK)
    return kNotJava;
  AgctTrace trace{env, 0, frames};
  hotspot_walk(&trace, depth, context);
  return trace.num_frames;
}

}  // namespace walkhammer

// Of both profilers, in whose symbols these names are.
struct ASGCT_CallFrame {
  jint bci;
  const void* method_id;
};
static_assert(sizeof(ASGCT_CallFrame) == sizeof(walkhammer::AgctFrame));
struct StackContext {
  const void* pc;
  uintptr_t sp, fp;
};
// A function that a profiler calls itself, and that walkhammer finds by its symbol.
#define WALKHAMMER_OF_PROFILER __attribute__((used, noinline))

// HotspotWalk with a profiler's frames. FAKE_WRONG: the second one is never at an even bytecode.
inline jint ProfilersWalk(ASGCT_CallFrame* frames, jint depth, void* context) {
  const jint count =
      walkhammer::HotspotWalk(reinterpret_cast<walkhammer::AgctFrame*>(frames), depth, context);
#ifdef FAKE_WRONG
  if (count > 1 && frames[1].bci % 2 == 0) frames[1].bci++;
#endif
  return count;
}

// Gives the bci of a Java frame its kind, as vmEntry.h of the profilers does.
inline void Encode(ASGCT_CallFrame& frame) {
  const bool native = frame.bci == walkhammer::kAgctNativeBci;
  frame.bci = 1 << 24 | (native ? 1 << 25 : frame.bci & 0xffffff);
}

// walkhammer passes its JVM: JNI_GetCreatedJavaVMs would not list a JVM that is still starting.
jint asgst_attach(JavaVM* vm) {
  using namespace walkhammer;  // NOLINT(google-build-using-namespace)
  void* libjvm = dlopen("libjvm.so", RTLD_NOW | RTLD_NOLOAD);
  if (libjvm == nullptr) return -1;
  hotspot_walk = reinterpret_cast<AgctFunction>(dlsym(libjvm, "AsyncGetCallTrace"));
  hotspot_vm = hotspot_walk == nullptr ? nullptr : vm;
  return hotspot_vm == nullptr ? -1 : 0;
}

#endif  // WALKHAMMER_HARNESS_WALKERS_TESTING_HOTSPOT_WALK_H_
