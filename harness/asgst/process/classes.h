// SPDX-License-Identifier: Apache-2.0
// Classes of the JVM of this process, each with a number that no other class of the process ever
// has. A JVMTI environment of our own finds them: it lists the classes that are loaded already, and
// ClassPrepare reports later ones. A class without that event gets its number at the first
// ClassPrepare or ThreadStart after a call of IsClass for it, or of MethodOfNumber for an id of no
// known class. The tag of its java.lang.Class holds a class's number; ObjectFree reports that the
// java.lang.Class is gone. Signal-safe: IdMetadata, IdNumOfClass, IsClass, IsMethod, MethodOfNumber
// yes; the rest no.
#ifndef WALKHAMMER_HARNESS_ASGST_PROCESS_CLASSES_H_
#define WALKHAMMER_HARNESS_ASGST_PROCESS_CLASSES_H_

#include <jvmti.h>

#include <cstdint>
#include <vector>

#include "harness/asgst/walk/metadata.h"
#include "harness/asgst/walk/virtual_tables.h"
#include "harness/base/result.h"
#include "harness/jvm/structs/method_table.h"
#include "harness/jvm/structs/vm_structs.h"

namespace walkhammer::asgst {

// Begins to track classes; for Attach alone. `env`: of the current thread; `feature`: the JDK's
// version, as in 17. No class is known until TrackClasses has succeeded.
Status TrackClasses(JavaVM* vm, JNIEnv* env, const VmStructs& structs, int feature);

// First words of the Methods of known classes.
const VirtualTables& MethodTables();
// Layout of HotSpot's metadata; null until TrackClasses has succeeded.
const MetadataLayout* IdMetadata();
// The JVMTI environment that tags the classes; null until TrackClasses has succeeded.
jvmtiEnv* ClassEnvironment();
// Number of the live class at this address, from 1 on; 0: there is none, or the JVM has not
// reported it.
int64_t IdNumOfClass(uint64_t klass);
// True for a class that was reported and is not gone, and for an address that was never reported
// but looks like a class.
bool IsClass(const Metadata& metadata, uint64_t klass);
// True if `method`, as Metadata::Open has found it, is a method of a class for which IsClass is
// true.
bool IsMethod(const Metadata& metadata, const MethodView& method);

// Method* whose jmethodID is the number `id` (JDK 26 and later), among the known classes; 0: none.
// Searches all of them. Signal-safe: yes, if `memory` is.
uint64_t MethodOfNumber(const MethodTable& table, const MemoryReader& memory, uint64_t id);

// InstanceKlass* of a class, which is known from then on; 0 for null, arrays and primitive types,
// or if JVMTI fails.
uint64_t KlassOf(JNIEnv* env, jclass mirror);
// New local reference to the class's java.lang.Class; null if there is no such class.
jclass MirrorOf(uint64_t klass);

// The Methods that an unloaded class had, or that a redefined class had before.
struct GoneMethods {
  uint64_t klass;
  std::vector<uint64_t> methods;
};
// Sets what is called for each class that was unloaded without a TakeUnloading, on a thread of the
// JVM that may not call JVMTI. Within the call, the class and its Methods must not be read, as
// their memory may be in other use; the class keeps its number. Null: no listener.
void SetUnloadListener(void (*listener)(const GoneMethods&));
// Announces that TakeUnloading is called for each class that is unloaded. From now on, ObjectFree
// of a java.lang.Class is ignored: ZGC and Shenandoah report it before they unload the class
// itself.
void ExpectUnloading();
// For a class that is about to be unloaded. True if it has a number: `gone` gets the Methods that
// it still has. After what must be done with them, call Forget.
bool TakeUnloading(uint64_t klass, GoneMethods& gone);
void Forget(uint64_t klass);
// The Methods that a class has now; false if it has no number.
bool TakeCurrent(uint64_t klass, GoneMethods& gone);
// True if the class has other Methods than when they were last read: when the class was added or
// prepared, by TakeRedefined or by RefreshMethods. `gone` then gets the old ones.
bool TakeRedefined(uint64_t klass, GoneMethods& gone);
// Reads all classes' Methods as they are now.
void RefreshMethods();

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_PROCESS_CLASSES_H_
