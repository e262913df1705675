// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/process/java_fields.h"

#include <string>

namespace walkhammer::asgst {
namespace {

// Offset of an instance field, by the JDK's own Unsafe, whose class has this name; -1: there is no
// such class or field.
int OffsetBy(JNIEnv* env, const std::string& unsafe, jclass klass, const char* name,
             const char* type) {
  const auto failed = [env] {
    if (env->ExceptionCheck() == JNI_FALSE) return false;
    env->ExceptionClear();
    return true;
  };
  jfieldID field = env->GetFieldID(klass, name, type);
  if (failed()) return -1;
  jclass by = env->FindClass(unsafe.c_str());
  if (failed()) return -1;
  jfieldID only = env->GetStaticFieldID(by, "theUnsafe", ("L" + unsafe + ";").c_str());
  if (failed()) return -1;
  jmethodID ask = env->GetMethodID(by, "objectFieldOffset", "(Ljava/lang/reflect/Field;)J");
  if (failed()) return -1;
  const jlong offset = env->CallLongMethod(env->GetStaticObjectField(by, only), ask,
                                           env->ToReflectedField(klass, field, JNI_FALSE));
  return failed() ? -1 : static_cast<int>(offset);
}

}  // namespace

// JDK 8 has the second class alone.
int OffsetOfField(JNIEnv* env, jclass klass, const char* name, const char* type) {
  const int offset = OffsetBy(env, "jdk/internal/misc/Unsafe", klass, name, type);
  return offset >= 0 ? offset : OffsetBy(env, "sun/misc/Unsafe", klass, name, type);
}

// Universe::_narrow_oop (JDK 8 and 11), CompressedOops::_narrow_oop (to 24), CompressedOops.
bool FindNarrowReferences(const VmStructs& structs, NarrowReferences& found) {
  for (const char* type : {"CompressedOops", "Universe"})
    for (const char* prefix : {"_narrow_oop.", ""}) {
      const auto* base =
          static_cast<uint64_t*>(structs.Static(type, std::string(prefix) + "_base"));
      const auto* shift = static_cast<int*>(structs.Static(type, std::string(prefix) + "_shift"));
      if (base == nullptr || shift == nullptr) continue;
      found = {*base, *shift};
      return true;
    }
  return false;
}

}  // namespace walkhammer::asgst
