// SPDX-License-Identifier: Apache-2.0
// KlassReader: reads the Klass* of a java.lang.Class object. It calls Unsafe.getLong, because no
// collector can move the object while Java code reads it. Signal-safe: no.
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
  // Fails with kUnable if vmStructs lack java_lang_Class::_klass_offset, or the JDK has no Unsafe.
  // The reader and its copies share a global reference, which is never deleted.
  static Result<KlassReader> Open(JNIEnv* env, const VmStructs& structs);

  // Returns the Klass* of a class; 0 for a primitive type or a default-constructed reader. Returns
  // 0 also if Java code throws, for example on stack overflow. No exception may be pending before
  // the call; none is pending after it.
  uint64_t Read(JNIEnv* env, jclass mirror) const;

 private:
  jobject unsafe_ = nullptr;  // jdk.internal.misc.Unsafe; JDK 8: sun.misc.Unsafe
  jmethodID get_long_ = nullptr;
  jlong offset_ = 0;  // java_lang_Class::_klass_offset
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_STRUCTS_KLASS_READER_H_
