// SPDX-License-Identifier: Apache-2.0
// Native methods of the torture programs: shadow stacks, calls from Java to native code and back,
// critical sections. The JVM looks for them in agent libraries. Signal-safe: no.
#include <jni.h>

#include "stress/agent.h"

namespace walkhammer::stress {
namespace {

jboolean Register(JNIEnv* env, jobject buffer) {
  SampledThread* thread = CurrentSampledThread();
  void* memory = env->GetDirectBufferAddress(buffer);
  if (thread == nullptr || memory == nullptr ||
      env->GetDirectBufferCapacity(buffer) < static_cast<jlong>(sizeof(ShadowStack)))
    return JNI_FALSE;
  thread->shadow.store(static_cast<const ShadowStack*>(memory));
  return JNI_TRUE;
}

}  // namespace
}  // namespace walkhammer::stress

using walkhammer::stress::Agent;

extern "C" {

JNIEXPORT jboolean JNICALL Java_wh_torture_Shadow_register0(JNIEnv* env, jclass, jobject buffer) {
  return walkhammer::stress::Register(env, buffer);
}

JNIEXPORT void JNICALL Java_wh_torture_Shadow_unregister0(JNIEnv*, jclass) {
  if (walkhammer::stress::SampledThread* thread = walkhammer::stress::CurrentSampledThread())
    thread->shadow.store(nullptr);
}

JNIEXPORT void JNICALL Java_wh_torture_Shadow_method0(JNIEnv* env, jclass, jint id,
                                                      jobject method) {
  Agent* agent = Agent::Get();
  if (agent != nullptr && id >= 0 && id < 65535)
    agent->methods().SetShadowId(env->FromReflectedMethod(method), static_cast<uint16_t>(id + 1));
}

// target.call(depth - 1), which may call this function again.
JNIEXPORT jint JNICALL Java_wh_torture_Native_upDown(JNIEnv* env, jclass, jobject target,
                                                     jint depth) {
  if (depth <= 0) return 0;
  jclass type = env->GetObjectClass(target);
  jmethodID call = env->GetMethodID(type, "call", "(I)I");
  return call == nullptr ? 0 : env->CallIntMethod(target, call, depth - 1);
}

JNIEXPORT jlong JNICALL Java_wh_torture_Native_critical(JNIEnv* env, jclass, jbyteArray data) {
  const jsize length = env->GetArrayLength(data);
  auto* bytes = static_cast<jbyte*>(env->GetPrimitiveArrayCritical(data, nullptr));
  if (bytes == nullptr) return 0;
  jlong sum = 0;
  for (jsize i = 0; i < length; i++) sum += bytes[i];
  env->ReleasePrimitiveArrayCritical(data, bytes, JNI_ABORT);
  return sum;
}

}  // extern "C"
