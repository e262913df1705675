// SPDX-License-Identifier: Apache-2.0
#include "harness/walkers/java_rounds.h"

#include <string>

#include "harness/walkers/class_file.h"
#include "harness/walkers/from_java.h"

namespace walkhammer {
namespace {

constexpr char kInside[] = "inside", kAfter[] = "after", kOuter[] = "outer";

struct Rounds {
  RoundMethods methods;
  FunctionRef<void(const RoundMethods&)> inside;
  FunctionRef<void()> after;
  bool guarded = true;
  Status first = Ok();
};

void JNICALL Inside(JNIEnv*, jclass, jlong rounds) {
  auto& played = *reinterpret_cast<Rounds*>(rounds);
  if (!played.guarded) return played.inside(played.methods);
  played.guarded = false;
  played.first = CallUnknown([&] { played.inside(played.methods); });
}

void JNICALL After(JNIEnv*, jclass, jlong rounds) { reinterpret_cast<Rounds*>(rounds)->after(); }

// A method's bytecode, without handlers. `lines`: two entries of a line number table.
void AddCode(ClassFile& file, uint64_t code, int size, bool lines) {
  constexpr int kFixed = 12, kLines = 16;
  file.Add(5, 2);
  file.Add(static_cast<uint64_t>(kFixed + size + (lines ? kLines : 0)), 4);
  file.Add(0x00020002, 4);  // stack, locals
  file.Add(static_cast<uint64_t>(size), 4);
  file.Add(code, size > 8 ? 8 : size);
  if (size > 8) file.Add(0xb1, 1);  // return
  file.Add(0, 2);                   // no handlers
  file.Add(lines ? 1 : 0, 2);
  if (!lines) return;
  file.Add(6, 2);
  file.Add(10, 4);
  file.Add(2, 2);
  file.Add(0, 2);
  file.Add(RoundMethods::kFirstLine, 2);
  file.Add(RoundMethods::kInnerBci, 2);
  file.Add(RoundMethods::kCallLine, 2);
}

// Methodref constants of methods of class 2 with type 7: the NameAndType, then the reference.
void AddMethod(ClassFile& file, uint64_t name, uint64_t pair) {
  file.Add(0x0c, 1);
  file.Add(name, 2);
  file.Add(7, 2);
  file.Add(0x0a0002, 3);
  file.Add(pair, 2);
}

std::string ClassOfRounds() {
  ClassFile file;
  file.Add(0xcafebabe0000, 6);
  file.Add(52, 2);  // of Java 8: all JDKs read it
  file.Add(18, 2);
  file.AddUtf8(RoundMethods::kClass);      // 1
  file.Add(0x070001, 3);                   // 2: class 1
  file.AddUtf8("java/lang/Object");        // 3
  file.Add(0x070003, 3);                   // 4: class 3
  file.AddUtf8("Code");                    // 5
  file.AddUtf8("LineNumberTable");         // 6
  file.AddUtf8(RoundMethods::kSignature);  // 7
  file.AddUtf8(kInside);                   // 8
  file.AddUtf8(kAfter);                    // 9
  file.AddUtf8(RoundMethods::kInner);      // 10
  file.AddUtf8(kOuter);                    // 11
  AddMethod(file, 8, 12);                  // 13: inside
  AddMethod(file, 9, 14);                  // 15: after
  AddMethod(file, 10, 16);                 // 17: inner
  file.Add(0x002100020004, 6);             // public, class 2, of class 4
  file.Add(0, 4);                          // no interfaces, no fields
  file.Add(4, 2);
  file.Add(0x0109000800070000, 8);  // public static native inside(J)V, no attributes
  file.Add(0x0109000900070000, 8);  // after
  file.Add(0x0009000a00070001, 8);  // public static inner(J)V, one attribute:
  // nop nop nop lload_0 invokestatic 13 return
  AddCode(file, 0x0000001eb8000db1, 8, true);
  file.Add(0x0009000b00070001, 8);  // outer:
  // lload_0 invokestatic 17 lload_0 invokestatic 15 return
  AddCode(file, 0x1eb800111eb8000f, 9, false);
  file.Add(0, 2);  // no attributes of the class
  return file.bytes();
}

jclass DefineRounds(JNIEnv* env) {
  jclass own = env->FindClass(RoundMethods::kClass);  // defined by an earlier call
  if (own != nullptr) return own;
  env->ExceptionClear();
  const std::string file = ClassOfRounds();
  return env->DefineClass(RoundMethods::kClass, nullptr,
                          reinterpret_cast<const jbyte*>(file.data()),
                          static_cast<jsize>(file.size()));
}

}  // namespace

Status CallRounds(JavaVM* vm, int rounds, FunctionRef<void(const RoundMethods&)> inside,
                  FunctionRef<void()> after) {
  JNIEnv* env = nullptr;
  if (vm->GetEnv(reinterpret_cast<void**>(&env), JNI_VERSION_1_8) != JNI_OK)
    return ToolFailed("a walker is examined on a thread that is not attached to the JVM");
  Rounds played{{}, inside, after};
  RoundMethods& methods = played.methods;
  methods.klass = DefineRounds(env);
  const auto signature = const_cast<char*>(RoundMethods::kSignature);
  const JNINativeMethod natives[] = {
      {const_cast<char*>(kInside), signature, reinterpret_cast<void*>(Inside)},
      {const_cast<char*>(kAfter), signature, reinterpret_cast<void*>(After)}};
  if (methods.klass != nullptr && env->RegisterNatives(methods.klass, natives, 2) == JNI_OK) {
    methods.inside = env->GetStaticMethodID(methods.klass, kInside, signature);
    methods.inner = env->GetStaticMethodID(methods.klass, RoundMethods::kInner, signature);
    methods.outer = env->GetStaticMethodID(methods.klass, kOuter, signature);
  }
  for (int i = 0; i < rounds && methods.outer != nullptr && played.first.ok(); i++)
    env->CallStaticVoidMethod(methods.klass, methods.outer, reinterpret_cast<jlong>(&played));
  const bool failed = methods.outer == nullptr || env->ExceptionCheck() != JNI_FALSE;
  if (failed) {
    env->ExceptionDescribe();
    env->ExceptionClear();
    return ToolFailed("this JVM does not run the class that walkers are examined with");
  }
  return played.first;
}

}  // namespace walkhammer
