// SPDX-License-Identifier: Apache-2.0
// KlassReader: reads the Klass* of a java.lang.Class. The JDK's own Unsafe reads the field in Java
// code, where no collector can move the object during the read. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_JVM_STRUCTS_KLASS_READER_H_
#define WALKHAMMER_HARNESS_JVM_STRUCTS_KLASS_READER_H_

#include <jni.h>

#include <cstdint>

#include "harness/base/result.h"
#include "harness/jvm/structs/vm_structs.h"

namespace walkhammer {

class KlassReader {
 public:
  KlassReader() = default;
  // kUnable if vmStructs lack java_lang_Class::_klass_offset, or the JDK has no Unsafe.
  static Result<KlassReader> Open(JNIEnv* env, const VmStructs& structs);

  // The Klass* of a class; 0 for a primitive type, for a reader that is not open, or if the call
  // fails because no stack is left or the thread is being stopped. No exception may be pending
  // before the call; none is pending after it.
  uint64_t Read(JNIEnv* env, jclass mirror) const;

 private:
  jobject unsafe_ = nullptr;  // jdk.internal.misc.Unsafe; JDK 8: sun.misc.Unsafe
  jmethodID get_long_ = nullptr;
  jlong offset_ = 0;  // java_lang_Class::_klass_offset
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_STRUCTS_KLASS_READER_H_
