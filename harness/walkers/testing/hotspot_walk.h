// SPDX-License-Identifier: Apache-2.0
// What the fake providers are made of: a walk by HotSpot's own AsyncGetCallTrace, found in the
// process that loads them. Signal-safe: yes, but for the attaching.
#ifndef WALKHAMMER_HARNESS_WALKERS_TESTING_HOTSPOT_WALK_H_
#define WALKHAMMER_HARNESS_WALKERS_TESTING_HOTSPOT_WALK_H_

#include <dlfcn.h>
#include <jni.h>

#include "harness/asgst/include/asgst.h"
#include "harness/walkers/agct.h"

namespace walkhammer {

inline AgctFunction hotspot_walk = nullptr;
inline JavaVM* hotspot_vm = nullptr;

// Its answer for the current thread: frames, or a code <= 0; kNotJava for a thread that is not
// attached to the JVM.
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

// As walkhammer calls it. JNI_GetCreatedJavaVMs would not tell of a JVM that still comes up.
jint asgst_attach(JavaVM* vm) {
  using namespace walkhammer;
  void* libjvm = dlopen("libjvm.so", RTLD_NOW | RTLD_NOLOAD);
  if (libjvm == nullptr) return -1;
  hotspot_walk = reinterpret_cast<AgctFunction>(dlsym(libjvm, "AsyncGetCallTrace"));
  hotspot_vm = hotspot_walk == nullptr ? nullptr : vm;
  return hotspot_vm == nullptr ? -1 : 0;
}

#endif  // WALKHAMMER_HARNESS_WALKERS_TESTING_HOTSPOT_WALK_H_
