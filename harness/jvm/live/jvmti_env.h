// SPDX-License-Identifier: Apache-2.0
// Makes JVMTI environments. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_JVM_LIVE_JVMTI_ENV_H_
#define WALKHAMMER_HARNESS_JVM_LIVE_JVMTI_ENV_H_

#include <jvmti.h>

#include <initializer_list>

namespace walkhammer {

// A new JVMTI environment of version 11, or else 1.2; null if this JVM has no JVMTI.
inline jvmtiEnv* NewJvmti(JavaVM* vm) {
  void* found = nullptr;
  for (const jint version : {JVMTI_VERSION_11, JVMTI_VERSION_1_2})  // JDK 11 and later; 8
    if (vm->GetEnv(&found, version) == JNI_OK) return static_cast<jvmtiEnv*>(found);
  return nullptr;
}

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_LIVE_JVMTI_ENV_H_
