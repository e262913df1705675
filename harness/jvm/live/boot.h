// SPDX-License-Identifier: Apache-2.0
// Jvm: a HotSpot in this process, made ready for walkers: class-load events on, jmethodIDs primed,
// vmStructs read. One per process and never destroyed. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_JVM_LIVE_BOOT_H_
#define WALKHAMMER_HARNESS_JVM_LIVE_BOOT_H_

#include <jvmti.h>

#include <memory>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/jvm/live/methods.h"
#include "harness/jvm/structs/code_cache.h"
#include "harness/jvm/structs/klass_reader.h"
#include "harness/jvm/structs/method_table.h"
#include "harness/jvm/structs/vm_structs.h"

namespace walkhammer {

// A range of generated code that JVMTI names: stub routines, runtime stubs, adapters.
struct NamedCode {
  std::string name;
  uint64_t begin, end;
};

class Jvm {
 public:
  // Loads `libjvm` and creates the JVM with `flags`; the calling thread becomes its main thread.
  static Result<Jvm*> Boot(const std::string& libjvm, const std::vector<std::string>& flags);

  // Takes on the JVM that this process already runs, for an agent in it; the calling thread must be
  // attached. Names of methods go to `names`; `more` and `events` are what else the agent listens
  // to. ClassLoad and ClassPrepare stay the Jvm's own.
  static Result<Jvm*> Adopt(JavaVM* vm, NameArena names, const jvmtiEventCallbacks& more,
                            const std::vector<jvmtiEvent>& events);

  // Gets the stubs that the JVM generates from now on, on any thread. May be null.
  void (*on_stub)(const char* name, uint64_t begin, uint64_t end) = nullptr;

  void* library() const { return library_; }
  JavaVM* vm() const { return vm_; }
  jvmtiEnv* jvmti() const { return jvmti_; }
  const VmStructs& structs() const { return structs_; }
  const JvmLayout& layout() const { return layout_; }
  const CodeCache& code_cache() const { return *code_cache_; }
  MethodRegistry& methods() { return methods_; }
  int feature() const { return feature_; }  // 8, 17, ...
  // jmethodIDs are numbers, and lead to no Method* by themselves: JDK 26 and later.
  bool ids_are_numbers() const { return feature_ >= kFirstFeatureWithNumbers; }

  // The calling thread's environment; it must be attached.
  JNIEnv* env() const;
  // The JavaThread that runs on `env`.
  JavaThreadView ThreadOf(JNIEnv* env) const;
  // The environment of a JavaThread.
  JNIEnv* EnvOf(const JavaThreadView& thread) const;
  // Method* of a jmethodID that the JVM has handed out; 0 if its method is gone, or unknown.
  uint64_t MethodOf(jmethodID id) const;
  // True if the JVM's own tables have that jmethodID, which our registry may not have been told of:
  // JVMTI posts no events while a virtual thread mounts or unmounts. For ids that are numbers
  // always false, for those lead nowhere. Signal-safe: yes.
  bool Keeps(jmethodID id) const;
  // Adds what was loaded without an event.
  void AddLoadedClasses(JNIEnv* env);
  // Stubs as JVMTI lists them now.
  std::vector<NamedCode> Stubs() const;
  std::string Property(const char* name) const;

  // Sets what MonitorContendedEnter and MonitorWait call, once these events are enabled.
  void SetMonitorCallbacks(jvmtiEventMonitorContendedEnter enter, jvmtiEventMonitorWait wait);

  // Stops all Java threads at a safepoint, runs body(argument) on the VM thread, goes on.
  // While it runs, no VM operation, GC or compilation can interfere with threads in native.
  bool RunAtSafepoint(void (*body)(void*), void* argument);

 private:
  explicit Jvm(NameArena names = {}) : methods_(names) {}
  Status SetUp(const jvmtiCapabilities& wanted, const std::vector<jvmtiEvent>& events);
  Status FindMethods(JNIEnv* env);
  static void JNICALL OnClassPrepare(jvmtiEnv* jvmti, JNIEnv* env, jthread thread, jclass klass);

  void* library_ = nullptr;
  JavaVM* vm_ = nullptr;
  jvmtiEnv* jvmti_ = nullptr;
  VmStructs structs_;
  JvmLayout layout_{};
  std::unique_ptr<CodeCache> code_cache_;
  MethodRegistry methods_;
  KlassReader klasses_;  // where ids are numbers
  MethodTable table_{};
  int feature_ = 0;
  int64_t env_offset_ = 0;  // of JavaThread::_jni_environment
  jobject safepoint_anchor_ = nullptr;
  jvmtiEventCallbacks callbacks_{};
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_LIVE_BOOT_H_
