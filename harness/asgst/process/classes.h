// SPDX-License-Identifier: Apache-2.0
// Classes: those that the JVM of this process has, each with a number of its own for as long as the
// process lives. They come from a JVMTI environment of our own: those loaded before it, and each
// one at ClassPrepare; the tag of its java.lang.Class tells a class's number, and ObjectFree when
// that is gone. Signal-safe: IdMetadata, IdNumOfClass, IsClass, IsMethod yes; the rest no.
#ifndef WALKHAMMER_HARNESS_ASGST_PROCESS_CLASSES_H_
#define WALKHAMMER_HARNESS_ASGST_PROCESS_CLASSES_H_

#include <jvmti.h>

#include <cstdint>
#include <vector>

#include "harness/asgst/walk/metadata.h"
#include "harness/base/result.h"
#include "harness/jvm/structs/method_table.h"
#include "harness/jvm/structs/vm_structs.h"

namespace walkhammer::asgst {

// To be called by Attach. Until it has succeeded, no class is known.
Status TrackClasses(JavaVM* vm, const VmStructs& structs, int feature);

// Null until TrackClasses has succeeded.
const MetadataLayout* IdMetadata();
// The JVMTI environment that tags the classes; null until then.
jvmtiEnv* ClassEnvironment();
// 0: no live class stands at this address, or none that the JVM has told of.
int64_t IdNumOfClass(uint64_t klass);
// A class that was told of and is not gone; or looks like one and was never told of.
bool IsClass(const Metadata& metadata, uint64_t klass);
// A method of such a class, as Metadata::Open has found it.
bool IsMethod(const Metadata& metadata, const MethodView& method);

// The Method* whose jmethodID is that number (JDK 26 and later), of the classes that are known; 0:
// none. It looks through all of them. Signal-safe, where `memory` is.
uint64_t MethodOfNumber(const MethodTable& table, const MemoryReader& memory, uint64_t id);

// InstanceKlass* of a class, which is known from then on; 0 for arrays and primitive types.
uint64_t KlassOf(JNIEnv* env, jclass mirror);
// A local reference; null if there is no such class.
jclass MirrorOf(uint64_t klass);

// What an unloaded class had, or a redefined one had before.
struct GoneMethods {
  uint64_t klass;
  std::vector<uint64_t> methods;
};
// Gets each class that was unloaded, on a thread of the JVM's that may call no JVMTI. Null: nobody.
void SetUnloadListener(void (*listener)(const GoneMethods&));
// True if the class has other Methods than when this was asked last, or since it was prepared:
// `gone` gets the old ones.
bool TakeRedefined(uint64_t klass, GoneMethods& gone);
// All classes' Methods as they are now.
void RefreshMethods();

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_PROCESS_CLASSES_H_
