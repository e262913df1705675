// SPDX-License-Identifier: Apache-2.0
// Where Java objects keep their fields. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_ASGST_PROCESS_JAVA_FIELDS_H_
#define WALKHAMMER_HARNESS_ASGST_PROCESS_JAVA_FIELDS_H_

#include <jni.h>

#include <cstdint>

#include "harness/jvm/structs/vm_structs.h"

namespace walkhammer::asgst {

// Byte offset of an instance field of this JNI type, by the JDK's own Unsafe; -1: there is no such
// field. Leaves local references behind, and no exception.
int OffsetOfField(JNIEnv* env, jclass klass, const char* name, const char* type);

// A reference of 4 bytes is the address base + (reference << shift), and 0 is null.
struct NarrowReferences {
  uint64_t base = 0;
  int shift = 0;
};
// False if vmStructs do not tell.
bool FindNarrowReferences(const VmStructs& structs, NarrowReferences& found);

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_PROCESS_JAVA_FIELDS_H_
