// SPDX-License-Identifier: Apache-2.0
// KlassReader: from a java.lang.Class to its InstanceKlass. The JDK's own Unsafe reads it in Java
// code, where no collector can move the object meanwhile. Signal-safe: no.
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
  // kUnable where vmStructs lack java_lang_Class::_klass_offset, or the JDK has no Unsafe.
  static Result<KlassReader> Open(JNIEnv* env, const VmStructs& structs);

  // The Klass* of a class; 0 for a primitive type, or where the call failed: no stack left, or the
  // thread is being stopped. No exception may be pending; none is after.
  uint64_t Read(JNIEnv* env, jclass mirror) const;

 private:
  jobject unsafe_ = nullptr;  // jdk.internal.misc.Unsafe; JDK 8: sun.misc.Unsafe
  jmethodID get_long_ = nullptr;
  jlong offset_ = 0;  // java_lang_Class::_klass_offset
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_STRUCTS_KLASS_READER_H_
