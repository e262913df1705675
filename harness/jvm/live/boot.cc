// SPDX-License-Identifier: Apache-2.0
#include "harness/jvm/live/boot.h"

#include <dlfcn.h>

#include <cstdarg>
#include <cstdlib>
#include <cstring>

#include "harness/base/mappings.h"
#include "harness/jvm/live/jvmti_env.h"

namespace walkhammer {
namespace {

constexpr char kVmStructs[] = "gHotSpotVMStructs";

Jvm* the_jvm = nullptr;

// AsyncGetCallTrace always returns -1 unless some environment has this event enabled.
void JNICALL OnClassLoad(jvmtiEnv*, JNIEnv*, jthread, jclass) {}

// HotSpot's extension event com.sun.hotspot.events.ClassUnload, whose arguments are a JNIEnv* and
// the name of the class.
void JNICALL OnClassUnload(jvmtiEnv* jvmti, ...) {
  va_list arguments;
  va_start(arguments, jvmti);
  (void)va_arg(arguments, JNIEnv*);
  const char* name = va_arg(arguments, const char*);
  va_end(arguments);
  if (name != nullptr && the_jvm != nullptr) the_jvm->methods().MarkUnloaded(name);
}

// Enables the event only if it passes a name: older JDKs pass a class.
void EnableClassUnload(jvmtiEnv* jvmti) {
  jint count = 0;
  jvmtiExtensionEventInfo* events = nullptr;
  if (jvmti->GetExtensionEvents(&count, &events) != JVMTI_ERROR_NONE) return;
  for (jint i = 0; i < count; i++) {
    const jvmtiExtensionEventInfo& event = events[i];
    if (std::strcmp(event.id, "com.sun.hotspot.events.ClassUnload") == 0 &&
        event.param_count == 2 && event.params[1].base_type == JVMTI_TYPE_CCHAR)
      jvmti->SetExtensionEventCallback(event.extension_event_index, OnClassUnload);
  }
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(events));
}

// Receives the stubs while this thread lists them (Jvm::Stubs). Events on other threads report new
// stubs.
thread_local std::vector<NamedCode>* stub_sink = nullptr;

void JNICALL OnDynamicCode(jvmtiEnv*, const char* name, const void* address, jint length) {
  auto begin = reinterpret_cast<uint64_t>(address);
  const uint64_t end = begin + static_cast<uint64_t>(length);
  if (stub_sink != nullptr)
    stub_sink->push_back({name, begin, end});
  else if (the_jvm != nullptr && the_jvm->on_stub != nullptr)
    the_jvm->on_stub(name, begin, end);
}

// The library in which the JVM's functions are. OpenJ9 has them in libj9vm29.so, apart from the
// libjvm.so that exports AsyncGetCallTrace (runtime/j9vm/asgct.cpp): then that libjvm.so. Null if
// there is none.
void* LibraryOf(JavaVM* vm) {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(vm->functions->GetEnv), &info) == 0) return nullptr;
  void* library = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  if (library != nullptr && dlsym(library, "AsyncGetCallTrace") != nullptr) return library;
  for (const Mapping& mapping : ReadMappings()) {
    if (!mapping.path.ends_with("/libjvm.so")) continue;
    void* other = dlopen(mapping.path.c_str(), RTLD_NOW | RTLD_NOLOAD);
    if (other != nullptr && dlsym(other, "AsyncGetCallTrace") != nullptr) return other;
  }
  return library;
}

// Those of the wanted capabilities that the JVM can still give: OpenJ9 gives some of them only
// while it starts.
jvmtiCapabilities Potential(jvmtiEnv* jvmti, const jvmtiCapabilities& wanted) {
  jvmtiCapabilities potential{}, both{};
  if (jvmti->GetPotentialCapabilities(&potential) != JVMTI_ERROR_NONE) return both;
  auto* to = reinterpret_cast<unsigned char*>(&both);
  const auto* a = reinterpret_cast<const unsigned char*>(&wanted);
  const auto* b = reinterpret_cast<const unsigned char*>(&potential);
  for (size_t i = 0; i < sizeof both; i++) to[i] = a[i] & b[i];
  return both;
}

bool IsOfCompiledMethods(jvmtiEvent event) {
  return event == JVMTI_EVENT_COMPILED_METHOD_LOAD || event == JVMTI_EVENT_COMPILED_METHOD_UNLOAD;
}

struct SafepointCall {
  void (*body)(void*);
  void* argument;
  bool ran;
};

jint JNICALL OnReference(jvmtiHeapReferenceKind, const jvmtiHeapReferenceInfo*, jlong, jlong, jlong,
                         jlong*, jlong*, jint, void* data) {
  auto* call = static_cast<SafepointCall*>(data);
  if (!call->ran) {
    call->ran = true;
    call->body(call->argument);
  }
  return JVMTI_VISIT_ABORT;
}

}  // namespace

Result<Jvm*> Jvm::Boot(const std::string& libjvm, const std::vector<std::string>& flags) {
  auto jvm = std::unique_ptr<Jvm>(new Jvm);
  jvm->library_ = dlopen(libjvm.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (jvm->library_ == nullptr) return BadInput("cannot load " + libjvm + ": " + dlerror());
  auto create =
      reinterpret_cast<decltype(&JNI_CreateJavaVM)>(dlsym(jvm->library_, "JNI_CreateJavaVM"));
  if (create == nullptr) return Unable(libjvm + " exports no JNI_CreateJavaVM: it is not a JVM");
  if (dlsym(jvm->library_, kVmStructs) == nullptr)
    return Unable(libjvm + " exports no " + kVmStructs);
  std::vector<JavaVMOption> options;
  for (const std::string& flag : flags)
    options.push_back({const_cast<char*>(flag.c_str()), nullptr});
  JavaVMInitArgs arguments{};
  arguments.version = JNI_VERSION_1_8;
  arguments.nOptions = static_cast<jint>(options.size());
  arguments.options = options.data();
  arguments.ignoreUnrecognized = JNI_FALSE;
  void* env = nullptr;
  jint error = create(&jvm->vm_, &env, &arguments);
  if (error != JNI_OK)
    return BadInput("the JVM does not start with these flags (JNI_CreateJavaVM answered " +
                    std::to_string(error) + ")");
  the_jvm = jvm.release();
  jvmtiCapabilities wanted{};
  wanted.can_tag_objects = 1;
  wanted.can_generate_monitor_events = 1;
  RETURN_IF_ERROR(the_jvm->SetUp(wanted, {}));
  EnableClassUnload(the_jvm->jvmti_);
  return the_jvm;
}

Result<Jvm*> Jvm::Adopt(JavaVM* vm, NameArena names, const jvmtiEventCallbacks& more,
                        const std::vector<jvmtiEvent>& events) {
  auto jvm = std::unique_ptr<Jvm>(new Jvm(names));
  jvm->vm_ = vm;
  jvm->library_ = LibraryOf(vm);
  if (jvm->library_ == nullptr) return Unable("this process holds no shared library with a JVM");
  jvm->callbacks_ = more;
  the_jvm = jvm.release();
  jvmtiCapabilities wanted{};
  wanted.can_tag_objects = 1;
  wanted.can_generate_compiled_method_load_events = 1;
  RETURN_IF_ERROR(the_jvm->SetUp(wanted, events));
  return the_jvm;
}

Status Jvm::SetUp(const jvmtiCapabilities& wanted, const std::vector<jvmtiEvent>& events) {
  jvmti_ = NewJvmti(vm_);
  if (jvmti_ == nullptr) return Unable("this JVM has no JVMTI");
  const std::string version = Property("java.vm.specification.version");
  feature_ = std::atoi(version.c_str() + (version.starts_with("1.") ? 2 : 0));  // JDK 8: "1.8"
  is_openj9_ = Property("java.vm.name").find("J9") != std::string::npos;
  layout_ = UndescribedLayout();
  if (dlsym(library_, kVmStructs) != nullptr) RETURN_IF_ERROR(ReadStructs());
  RETURN_IF_ERROR(Enable(wanted, events));
  AddLoadedClasses(env());
  return has_structs() ? FindThreads(env()) : Ok();
}

Status Jvm::ReadStructs() {
  ASSIGN_OR_RETURN(structs_, VmStructs::Load(library_));
  ASSIGN_OR_RETURN(layout_, ReadLayout(structs_));
  ASSIGN_OR_RETURN(auto cache, CodeCache::Open(structs_));
  code_cache_ = std::make_unique<CodeCache>(cache);
  return FindMethods(env());
}

Status Jvm::Enable(const jvmtiCapabilities& wanted, const std::vector<jvmtiEvent>& events) {
  jvmtiCapabilities had = wanted;
  if (!has_structs()) had = Potential(jvmti_, wanted);
  if (jvmti_->AddCapabilities(&had) != JVMTI_ERROR_NONE)
    return Unable(
        "this JVM refuses JVMTI capabilities that walkhammer needs: tagging objects, and "
        "monitor or compiled method events");
  callbacks_.ClassLoad = OnClassLoad;
  callbacks_.ClassPrepare = OnClassPrepare;
  callbacks_.DynamicCodeGenerated = OnDynamicCode;
  jvmti_->SetEventCallbacks(&callbacks_, sizeof callbacks_);
  std::vector<jvmtiEvent> all = {JVMTI_EVENT_CLASS_LOAD, JVMTI_EVENT_CLASS_PREPARE,
                                 JVMTI_EVENT_DYNAMIC_CODE_GENERATED};
  all.insert(all.end(), events.begin(), events.end());
  for (jvmtiEvent event : all) {
    if (had.can_generate_compiled_method_load_events == 0 && IsOfCompiledMethods(event)) continue;
    if (jvmti_->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr) != JVMTI_ERROR_NONE)
      return Unable("this JVM refuses a JVMTI event that walkers need");
  }
  return Ok();
}

Status Jvm::FindThreads(JNIEnv* jni) {
  // java.lang.Thread.eetop holds the JavaThread's address.
  jclass thread_class = jni->FindClass("java/lang/Thread");
  jmethodID current = jni->GetStaticMethodID(thread_class, "currentThread", "()Ljava/lang/Thread;");
  jfieldID eetop = jni->GetFieldID(thread_class, "eetop", "J");
  if (current == nullptr || eetop == nullptr)
    return Unable("java.lang.Thread has no field eetop in this JDK");
  jobject thread = jni->CallStaticObjectMethod(thread_class, current);
  env_offset_ = reinterpret_cast<int64_t>(jni) - jni->GetLongField(thread, eetop);

  jobjectArray anchor = jni->NewObjectArray(1, jni->FindClass("java/lang/Object"), nullptr);
  jni->SetObjectArrayElement(anchor, 0, jni->NewStringUTF("walkhammer"));
  safepoint_anchor_ = jni->NewGlobalRef(anchor);
  return Ok();
}

Status Jvm::FindMethods(JNIEnv* env) {
  ASSIGN_OR_RETURN(table_, ReadMethodTable(structs_));
  if (!ids_are_numbers()) return Ok();
  ASSIGN_OR_RETURN(klasses_, KlassReader::Open(env, structs_));
  return Ok();
}

void JNICALL Jvm::OnClassPrepare(jvmtiEnv* jvmti, JNIEnv* env, jthread, jclass klass) {
  if (the_jvm != nullptr)
    the_jvm->methods_.AddClass(jvmti, klass, the_jvm->klasses_.Read(env, klass));
}

void Jvm::AddLoadedClasses(JNIEnv* env) {
  jint count = 0;
  jclass* classes = nullptr;
  if (jvmti_->GetLoadedClasses(&count, &classes) != JVMTI_ERROR_NONE) return;
  for (jint i = 0; i < count; i++) {
    methods_.AddClass(jvmti_, classes[i], klasses_.Read(env, classes[i]));
    env->DeleteLocalRef(classes[i]);
  }
  jvmti_->Deallocate(reinterpret_cast<unsigned char*>(classes));
}

void Jvm::SetMonitorCallbacks(jvmtiEventMonitorContendedEnter enter, jvmtiEventMonitorWait wait) {
  callbacks_.MonitorContendedEnter = enter;
  callbacks_.MonitorWait = wait;
  jvmti_->SetEventCallbacks(&callbacks_, sizeof callbacks_);
}

JNIEnv* Jvm::env() const {
  void* env = nullptr;
  vm_->GetEnv(&env, JNI_VERSION_1_8);
  return static_cast<JNIEnv*>(env);
}

JavaThreadView Jvm::ThreadOf(JNIEnv* env) const {
  if (!has_structs()) return UndescribedThread();
  return {reinterpret_cast<char*>(env) - env_offset_, layout_};
}

JNIEnv* Jvm::EnvOf(const JavaThreadView& thread) const {
  return reinterpret_cast<JNIEnv*>(static_cast<char*>(thread.address()) + env_offset_);
}

uint64_t Jvm::MethodOf(jmethodID id) const {
  if (id == nullptr || !has_structs()) return 0;
  if (!ids_are_numbers()) return *reinterpret_cast<uint64_t*>(id);
  const MethodEntry* entry = methods_.Find(id);
  if (entry == nullptr || entry->unloaded.load()) return 0;
  return MethodOfId(table_, PlainMemory(), entry->holder, reinterpret_cast<uint64_t>(id));
}

bool Jvm::Keeps(jmethodID id) const {
  return has_structs() && !ids_are_numbers() &&
         IsKeptId(table_, KernelMemory(), reinterpret_cast<uint64_t>(id));
}

std::vector<NamedCode> Jvm::Stubs() const {
  std::vector<NamedCode> out;
  stub_sink = &out;
  jvmti_->GenerateEvents(JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
  stub_sink = nullptr;
  return out;
}

std::string Jvm::Property(const char* name) const {
  char* value = nullptr;
  if (jvmti_->GetSystemProperty(name, &value) != JVMTI_ERROR_NONE || value == nullptr) return "";
  std::string out(value);
  jvmti_->Deallocate(reinterpret_cast<unsigned char*>(value));
  return out;
}

bool Jvm::RunAtSafepoint(void (*body)(void*), void* argument) {
  SafepointCall call{body, argument, false};
  jvmtiHeapCallbacks callbacks{};
  callbacks.heap_reference_callback = OnReference;
  jvmtiError error = jvmti_->FollowReferences(0, nullptr, safepoint_anchor_, &callbacks, &call);
  return error == JVMTI_ERROR_NONE && call.ran;
}

}  // namespace walkhammer
