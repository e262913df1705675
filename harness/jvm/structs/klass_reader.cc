// SPDX-License-Identifier: Apache-2.0
#include "harness/jvm/structs/klass_reader.h"

#include <string>

namespace walkhammer {
namespace {

jclass FindOrNull(JNIEnv* env, const char* name) {
  jclass found = env->FindClass(name);
  if (found == nullptr) env->ExceptionClear();
  return found;
}

}  // namespace

Result<KlassReader> KlassReader::Open(JNIEnv* env, const VmStructs& structs) {
  KlassReader reader;
  const auto* offset = static_cast<int*>(structs.Static("java_lang_Class", "_klass_offset"));
  if (offset == nullptr)
    return Unable("this libjvm's vmStructs lack java_lang_Class::_klass_offset");
  reader.offset_ = *offset;
  std::string name = "jdk/internal/misc/Unsafe";
  jclass type = FindOrNull(env, name.c_str());
  if (type == nullptr) type = FindOrNull(env, (name = "sun/misc/Unsafe").c_str());
  // Not getUnsafe(), which checks its caller in JDK 8.
  jfieldID field = type == nullptr
                       ? nullptr
                       : env->GetStaticFieldID(type, "theUnsafe", ("L" + name + ";").c_str());
  if (field != nullptr)
    reader.get_long_ = env->GetMethodID(type, "getLong", "(Ljava/lang/Object;J)J");
  jobject unsafe = reader.get_long_ == nullptr ? nullptr : env->GetStaticObjectField(type, field);
  if (env->ExceptionCheck() == JNI_TRUE) env->ExceptionClear();
  if (unsafe == nullptr) return Unable("this JDK has no jdk.internal.misc.Unsafe as it used to be");
  reader.unsafe_ = env->NewGlobalRef(unsafe);
  env->DeleteLocalRef(unsafe);
  env->DeleteLocalRef(type);
  return reader;
}

uint64_t KlassReader::Read(JNIEnv* env, jclass mirror) const {
  if (unsafe_ == nullptr) return 0;
  const jlong klass = env->CallLongMethod(unsafe_, get_long_, mirror, offset_);
  if (env->ExceptionCheck() == JNI_TRUE) {
    env->ExceptionClear();
    return 0;
  }
  return static_cast<uint64_t>(klass);
}

}  // namespace walkhammer
