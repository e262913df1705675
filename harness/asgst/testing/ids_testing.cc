// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/testing/ids_testing.h"

#include <gtest/gtest.h>

#include "harness/jvm/live/jvmti_env.h"

namespace walkhammer::asgst {
namespace {

constexpr jint kEnough = 70'000;  // enough for any text of a class file

struct Buffer {
  Buffer() { memset(text, '#', kEnough); }
  char* const text = new char[kEnough];
  ~Buffer() { delete[] text; }
};

// A text of an answer; expects it in the buffer that was given, with its length.
Text Answered(const Buffer& given, const char* field, jint length) {
  EXPECT_EQ(field, given.text);
  EXPECT_EQ(strlen(given.text), static_cast<size_t>(length));
  if (length == 0) return {};
  return given.text;
}

}  // namespace

MethodAnswer Ask(ASGST_Method method) {
  const Buffer name, signature, generic;
  ASGST_MethodInfo info;
  memset(&info, 0x55, sizeof info);
  info.method_name = name.text;
  info.signature = signature.text;
  info.generic_signature = generic.text;
  info.method_name_length = info.signature_length = info.generic_signature_length = kEnough;
  ASGST_GetMethodInfo(method, &info);
  return {info.klass,
          Answered(name, info.method_name, info.method_name_length),
          Answered(signature, info.signature, info.signature_length),
          Answered(generic, info.generic_signature, info.generic_signature_length),
          info.modifiers,
          info.idnum,
          info.class_idnum};
}

ClassAnswer Ask(ASGST_Class klass) {
  const Buffer name, generic;
  ASGST_ClassInfo info;
  memset(&info, 0x55, sizeof info);
  info.class_name = name.text;
  info.generic_class_name = generic.text;
  info.class_name_length = info.generic_class_name_length = kEnough;
  ASGST_GetClassInfo(klass, &info);
  return {Answered(name, info.class_name, info.class_name_length),
          Answered(generic, info.generic_class_name, info.generic_class_name_length),
          info.modifiers, info.idnum};
}

void ExpectNothing(ASGST_Method method) {
  const MethodAnswer answer = Ask(method);
  EXPECT_EQ(answer.klass, nullptr) << method;
  EXPECT_FALSE(answer.name) << method << *answer.name;
  EXPECT_FALSE(answer.signature || answer.generic) << method;
  EXPECT_EQ(answer.modifiers, -1);
  EXPECT_EQ(answer.idnum, -1);
  EXPECT_EQ(answer.class_idnum, -1);
  EXPECT_EQ(ASGST_GetMethodIdNum(method), -1);
  EXPECT_EQ(ASGST_GetClass(method), nullptr);
  EXPECT_EQ(ASGST_GetMethodLineNumber(method, 0), -1);
  ASGST_MethodLineNumberEntry entries[4];
  EXPECT_EQ(ASGST_GetMethodLineNumberTable(method, entries, 4), -1);
}

void ExpectNothing(ASGST_Class klass) {
  const ClassAnswer answer = Ask(klass);
  EXPECT_FALSE(answer.name) << klass << *answer.name;
  EXPECT_FALSE(answer.generic) << klass;
  EXPECT_EQ(answer.modifiers, -1);
  EXPECT_EQ(answer.idnum, -1);
  EXPECT_EQ(ASGST_GetClassIdNum(klass), -1);
}

jvmtiEnv* TestJvmti() {
  static jvmtiEnv* jvmti = [] {
    jvmtiEnv* env = NewJvmti(LiveJvm::Get().jvm().vm());
    jvmtiCapabilities wanted{};
    wanted.can_redefine_classes = wanted.can_redefine_any_class = 1;
    wanted.can_retransform_classes = 1;
    wanted.can_get_line_numbers = 1;
    wanted.can_tag_objects = 1;
    EXPECT_EQ(env->AddCapabilities(&wanted), JVMTI_ERROR_NONE);
    return env;
  }();
  return jvmti;
}

jmethodID StaticMethod(jclass klass, const char* name, const char* signature) {
  JNIEnv* env = LiveJvm::Get().env();
  jmethodID id = env->GetStaticMethodID(klass, name, signature);
  if (id == nullptr) {
    env->ExceptionClear();
    id = env->GetMethodID(klass, name, signature);
  }
  EXPECT_NE(id, nullptr) << name << signature;
  return id;
}

jclass FindTestClass(const char* name) {
  jclass found = LiveJvm::Get().env()->FindClass(name);
  EXPECT_NE(found, nullptr) << name;
  return found;
}

ASGST_Method MethodNamed(jclass klass, const char* name, const char* signature) {
  return ASGST_JMethodIDToMethod(StaticMethod(klass, name, signature));
}

Text Take(char* text) {
  if (text == nullptr) return {};
  Text taken = text;
  TestJvmti()->Deallocate(reinterpret_cast<unsigned char*>(text));
  return taken;
}

std::vector<jmethodID> MethodIds(jclass klass) {
  jint count = 0;
  jmethodID* ids = nullptr;
  EXPECT_EQ(TestJvmti()->GetClassMethods(klass, &count, &ids), JVMTI_ERROR_NONE);
  std::vector<jmethodID> all(ids, ids + count);
  TestJvmti()->Deallocate(reinterpret_cast<unsigned char*>(ids));
  return all;
}

std::string HeldBy(const std::string& text, int size) {
  std::string held(kRoom, '#');
  if (size > 0) {
    const std::string cut = text.substr(0, static_cast<size_t>(size) - 1);
    held.replace(kBefore, cut.size() + 1, cut + '\0');
  }
  return held;
}

std::vector<jbyte> ClassFile(const char* name) {
  JNIEnv* env = LiveJvm::Get().env();
  jclass changing = FindTestClass("wh/Changing");
  auto* array = static_cast<jbyteArray>(env->CallStaticObjectMethod(
      changing, StaticMethod(changing, "bytesOf", "(Ljava/lang/String;)[B"),
      env->NewStringUTF(name)));
  if (array == nullptr) return {};
  std::vector<jbyte> bytes(static_cast<size_t>(env->GetArrayLength(array)));
  env->GetByteArrayRegion(array, 0, static_cast<jsize>(bytes.size()), bytes.data());
  return bytes;
}

void Redefine(jclass klass, const std::vector<jbyte>& bytes) {
  const jvmtiClassDefinition definition = {klass, static_cast<jint>(bytes.size()),
                                           reinterpret_cast<const unsigned char*>(bytes.data())};
  ASSERT_EQ(TestJvmti()->RedefineClasses(1, &definition), JVMTI_ERROR_NONE);
}

void Redefine(jclass changing, int8_t number) {
  std::vector<jbyte> bytes = ClassFile("Changing");
  int changes = 0;
  for (size_t i = 0; i + 2 < bytes.size(); i++) {  // bipush 41, ireturn
    if (bytes[i] != 0x10 || bytes[i + 1] != 41 || bytes[i + 2] != static_cast<jbyte>(0xac))
      continue;
    bytes[i + 1] = number;
    changes++;
  }
  ASSERT_EQ(changes, 2);
  Redefine(changing, bytes);
}

}  // namespace walkhammer::asgst
