// SPDX-License-Identifier: Apache-2.0
#include "harness/walkers/from_java.h"

#include <cstdint>
#include <cstring>
#include <string>

#include "harness/guard/guard.h"
#include "harness/walkers/class_file.h"

namespace walkhammer {
namespace {

constexpr char kClass[] = "walkhammer/FromJava", kCaller[] = "run", kNative[] = "call",
               kSignature[] = "(J)V";
constexpr int kCallBci = 4;

struct Errand {
  KnownFrames frames;
  FunctionRef<void(const KnownFrames&)> probe;
};

void JNICALL Call(JNIEnv*, jclass, jlong errand) {
  const auto* asked = reinterpret_cast<const Errand*>(errand);
  asked->probe(asked->frames);
}

// class walkhammer.FromJava {
//   public static native void call(long errand);
//   public static void run(long errand) { call(errand); }   // after three nops
// }
std::string ClassOfProbe() {
  ClassFile file;
  file.Add(0xcafebabe0000, 6);
  file.Add(52, 2);  // of Java 8: all JDKs read it
  file.Add(11, 2);
  file.AddUtf8(kClass);              // 1
  file.Add(0x070001, 3);             // 2: class 1
  file.AddUtf8("java/lang/Object");  // 3
  file.Add(0x070003, 3);             // 4: class 3
  file.AddUtf8(kCaller);             // 5
  file.AddUtf8(kSignature);          // 6
  file.AddUtf8("Code");              // 7
  file.AddUtf8(kNative);             // 8
  file.Add(0x0c00080006, 5);         // 9: name 8, type 6
  file.Add(0x0a00020009, 5);         // 10: method 9 of class 2
  file.Add(0x002100020004, 6);       // public, class 2, of class 4
  file.Add(0, 4);                    // no interfaces, no fields
  file.Add(2, 2);
  file.Add(0x0109000800060000, 8);  // public static native, no attributes
  file.Add(0x0009000500060001, 8);  // public static, one attribute:
  file.Add(0x0007, 2);
  file.Add(20, 4);
  file.Add(0x00020002, 4);          // stack, locals
  file.Add(8, 4);                   // nop nop nop lload_0 invokestatic 10 return
  file.Add(0x0000001eb8000ab1, 8);  // invokestatic is at kCallBci
  file.Add(0, 4);                   // no handlers, no attributes
  file.Add(0, 2);                   // no attributes of the class
  return file.bytes();
}

}  // namespace

Status CallFromJava(JavaVM* vm, FunctionRef<void(const KnownFrames&)> probe) {
  JNIEnv* env = nullptr;
  if (vm->GetEnv(reinterpret_cast<void**>(&env), JNI_VERSION_1_8) != JNI_OK)
    return ToolFailed("a walker is probed on a thread that is not attached to the JVM");
  jclass own = env->FindClass(kClass);  // defined by an earlier call
  if (own == nullptr) {
    env->ExceptionClear();
    const std::string file = ClassOfProbe();
    own = env->DefineClass(kClass, nullptr, reinterpret_cast<const jbyte*>(file.data()),
                           static_cast<jsize>(file.size()));
  }
  const JNINativeMethod method{const_cast<char*>(kNative), const_cast<char*>(kSignature),
                               reinterpret_cast<void*>(Call)};
  Errand errand{{nullptr, nullptr, kCallBci}, probe};
  if (own != nullptr && env->RegisterNatives(own, &method, 1) == JNI_OK) {
    errand.frames.native = env->GetStaticMethodID(own, kNative, kSignature);
    errand.frames.caller = env->GetStaticMethodID(own, kCaller, kSignature);
  }
  if (errand.frames.native != nullptr && errand.frames.caller != nullptr)
    env->CallStaticVoidMethod(own, errand.frames.caller, reinterpret_cast<jlong>(&errand));
  const bool failed = errand.frames.caller == nullptr || env->ExceptionCheck() != JNI_FALSE;
  if (failed) {
    env->ExceptionDescribe();
    env->ExceptionClear();
    return ToolFailed("this JVM does not run the class that walkers are probed with");
  }
  return Ok();
}

Status CallUnknown(FunctionRef<void()> call) {
  if (!GuardInPlace()) {
    call();
    return Ok();
  }
  static GuardSlot slot;
  EnterGuardedThread(slot);
  const Ending ending = GuardedCall(slot, call);
  LeaveGuardedThread();
  if (ending == Ending::kReturned) return Ok();
  if (ending == Ending::kHung) return Unable("its first call did not come back");
  return Unable(std::string("its first call crashed: ") + strsignal(slot.fault.signal));
}

}  // namespace walkhammer
