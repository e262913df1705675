// SPDX-License-Identifier: Apache-2.0
// Jvm: the HotSpot in this process, prepared for walkers: class-load events enabled, jmethodIDs
// primed, vmStructs read. One per process, never destroyed. Signal-safe: no, except Jvm::Keeps.
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

// A range of generated code with the name that JVMTI reports: stub routines, runtime stubs,
// adapters.
struct NamedCode {
  std::string name;
  uint64_t begin, end;
};

class Jvm {
 public:
  // Loads the file `libjvm` and creates a JVM with `flags`. The calling thread becomes the JVM's
  // main thread.
  static Result<Jvm*> Boot(const std::string& libjvm, const std::vector<std::string>& flags);

  // Prepares the JVM that already runs in this process, for an agent. The calling thread must be
  // attached. Method names are stored in `names`. `more` and `events` are the callbacks and events
  // of the agent itself; the Jvm replaces those of ClassLoad, ClassPrepare and
  // DynamicCodeGenerated. The JVM may lack vmStructs; see has_structs.
  static Result<Jvm*> Adopt(JavaVM* vm, NameArena names, const jvmtiEventCallbacks& more,
                            const std::vector<jvmtiEvent>& events);

  // Called for each stub that the JVM generates from now on, on any thread. May be null.
  void (*on_stub)(const char* name, uint64_t begin, uint64_t end) = nullptr;

  void* library() const { return library_; }
  JavaVM* vm() const { return vm_; }
  jvmtiEnv* jvmti() const { return jvmti_; }
  // False for a JVM without vmStructs, as OpenJ9: then structs() is empty, the layout and each
  // thread are those of UndescribedThread, MethodOf finds no method, and code_cache() must not be
  // called. Only a JVM that was adopted may be such.
  bool has_structs() const { return code_cache_ != nullptr; }
  const VmStructs& structs() const { return structs_; }
  const JvmLayout& layout() const { return layout_; }
  const CodeCache& code_cache() const { return *code_cache_; }
  MethodRegistry& methods() { return methods_; }
  int feature() const { return feature_; }       // 8, 17, ...
  bool is_openj9() const { return is_openj9_; }  // or IBM's J9, from which it comes
  // True from JDK 26 on: a jmethodID is a number, not the address of a word with a Method*.
  bool ids_are_numbers() const { return feature_ >= kFirstFeatureWithNumbers; }

  // The environment of the calling thread, which must be attached.
  JNIEnv* env() const;
  // The JavaThread whose environment is `env`.
  JavaThreadView ThreadOf(JNIEnv* env) const;
  // The environment of a JavaThread of a JVM with vmStructs.
  JNIEnv* EnvOf(const JavaThreadView& thread) const;
  // The Method* of a jmethodID that the JVM has handed out; 0 if the method is unloaded or unknown.
  uint64_t MethodOf(jmethodID id) const;
  // True if the JVM's own tables hold this jmethodID. `methods` may lack an id that the JVM holds,
  // as JVMTI posts no events while a virtual thread mounts or unmounts. Always false if ids are
  // numbers, as a number leads to no table. Signal-safe: yes.
  bool Keeps(jmethodID id) const;
  // Adds the methods of classes that were loaded without an event.
  void AddLoadedClasses(JNIEnv* env);
  // The stubs that JVMTI lists now.
  std::vector<NamedCode> Stubs() const;
  std::string Property(const char* name) const;

  // Sets the callbacks of MonitorContendedEnter and MonitorWait. Does not enable these events.
  void SetMonitorCallbacks(jvmtiEventMonitorContendedEnter enter, jvmtiEventMonitorWait wait);

  // Stops all Java threads at a safepoint, runs body(argument) on the VM thread, and resumes the
  // threads. While the body runs, no VM operation, GC or compilation can interfere with threads in
  // native. True if the body ran.
  bool RunAtSafepoint(void (*body)(void*), void* argument);

 private:
  explicit Jvm(NameArena names = {}) : methods_(names) {}
  Status SetUp(const jvmtiCapabilities& wanted, const std::vector<jvmtiEvent>& events);
  Status ReadStructs();
  Status Enable(const jvmtiCapabilities& wanted, const std::vector<jvmtiEvent>& events);
  Status FindThreads(JNIEnv* jni);
  Status FindMethods(JNIEnv* env);
  static void JNICALL OnClassPrepare(jvmtiEnv* jvmti, JNIEnv* env, jthread thread, jclass klass);

  void* library_ = nullptr;
  JavaVM* vm_ = nullptr;
  jvmtiEnv* jvmti_ = nullptr;
  VmStructs structs_;
  JvmLayout layout_{};
  std::unique_ptr<CodeCache> code_cache_;
  MethodRegistry methods_;
  KlassReader klasses_;  // open only if ids are numbers
  MethodTable table_{};
  int feature_ = 0;
  bool is_openj9_ = false;
  int64_t env_offset_ = 0;  // byte offset of JavaThread::_jni_environment
  jobject safepoint_anchor_ = nullptr;
  jvmtiEventCallbacks callbacks_{};
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_LIVE_BOOT_H_
