// What the fake providers are made of: a walk by HotSpot's own AsyncGetCallTrace, found in the
// process that loads them. Signal-safe: yes, but for the first call.
#ifndef WALKHAMMER_HARNESS_WALKERS_TESTING_HOTSPOT_WALK_H_
#define WALKHAMMER_HARNESS_WALKERS_TESTING_HOTSPOT_WALK_H_

#include <dlfcn.h>
#include <jni.h>

#include "harness/walkers/agct.h"

namespace walkhammer {

struct HotspotFunctions {
  AgctFunction walk = nullptr;
  JavaVM* vm = nullptr;
};

// Looked up when the library is loaded.
inline const HotspotFunctions kHotspot = [] {
  HotspotFunctions found;
  void* libjvm = dlopen("libjvm.so", RTLD_NOW | RTLD_NOLOAD);
  if (libjvm == nullptr) return found;
  found.walk = reinterpret_cast<AgctFunction>(dlsym(libjvm, "AsyncGetCallTrace"));
  auto* vms =
      reinterpret_cast<decltype(&JNI_GetCreatedJavaVMs)>(dlsym(libjvm, "JNI_GetCreatedJavaVMs"));
  jsize count = 0;
  if (vms != nullptr) vms(&found.vm, 1, &count);
  return found;
}();

// Its answer for the current thread: frames, or a code <= 0; kNotJava for a thread that is not
// attached.
inline constexpr jint kNotJava = -100;
inline jint HotspotWalk(AgctFrame* frames, jint depth, void* context) {
  JNIEnv* env = nullptr;
  if (kHotspot.walk == nullptr || kHotspot.vm == nullptr ||
      kHotspot.vm->GetEnv(reinterpret_cast<void**>(&env), JNI_VERSION_1_8) != JNI_OK)
    return kNotJava;
  AgctTrace trace{env, 0, frames};
  kHotspot.walk(&trace, depth, context);
  return trace.num_frames;
}

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_TESTING_HOTSPOT_WALK_H_
