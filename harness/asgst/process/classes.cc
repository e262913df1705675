// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/process/classes.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "harness/asgst/process/attach.h"
#include "harness/asgst/process/class_table.h"
#include "harness/asgst/process/jvm_hooks.h"
#include "harness/asgst/walk/virtual_tables.h"
#include "harness/jvm/live/jvmti_env.h"
#include "harness/jvm/structs/klass_reader.h"

namespace walkhammer::asgst {
namespace {

struct KnownClass {
  uint64_t klass = 0;
  uint64_t array = 0;  // Array<Method*>*
  std::vector<uint64_t> methods;
};

// Never destroyed: the JVM outlives static objects.
struct TrackedState {
  MetadataLayout layout{};
  jvmtiEnv* jvmti = nullptr;
  KlassReader klasses;

  // Held while a class gets its tag; guards last_number. JVMTI is called with this mutex held.
  std::mutex adding;
  // Guards `known` and writes to `table`. No JVMTI or JNI is called with this mutex held:
  // ObjectFree, which locks the mutex, may come with the JVM's lock of tags held.
  std::mutex mutex;
  ClassTable table;                               // read without the lock
  std::unordered_map<int64_t, KnownClass> known;  // by number
  int64_t last_number = 0;
};
TrackedState& Tracked() {
  static TrackedState* state = new TrackedState;
  return *state;
}

// What the current thread's listener learns of; null: nothing. initial-exec: handlers of signals
// read it.
constinit __attribute__((tls_model("initial-exec"))) thread_local const GoneMethods* told = nullptr;

std::atomic<bool> tracking{false};
std::atomic<void (*)(const GoneMethods&)> unload_listener{nullptr};
std::atomic<bool> unloading_expected{false};
// IsClass was asked for a class that has no number.
std::atomic<bool> missed{false};

// `tag = number ^ kMark`, so that our tags are known from others: a heap walk of JDK 25, unlike one
// of JDK 17, hands the freed tags of all environments to the walking environment, which may be ours
// (queue_service.cc).
constexpr jlong kMark = 0x4153475354000000;
jlong TagOf(int64_t number) { return number ^ kMark; }
int64_t NumberOf(jlong tag) { return tag ^ kMark; }

constinit VirtualTables method_tables, class_tables;  // of Methods and InstanceKlasses

void LearnTable(VirtualTables& tables, uint64_t object) {
  uint64_t word = 0;
  if (LiveMemory().ReadWord(object, word) && word != 0) tables.Learn(word);
}

// Reads the Methods that the class has now; call with TrackedState::mutex. A class that is being
// unloaded may have none any more: then its known Methods stay.
void ReadMethods(KnownClass& known) {
  const LiveMemory memory;
  const Metadata metadata(Tracked().layout, memory);
  int count = 0;
  std::vector<uint64_t> methods;
  const uint64_t array = metadata.MethodsOfClass(known.klass, count);
  for (int i = 0; i < count; i++) {
    MethodView method;
    if (metadata.Open(metadata.MethodAt(array, i), method) && method.holder == known.klass)
      methods.push_back(method.method);
  }
  if (methods.empty() && !known.methods.empty()) return;
  known.array = array;
  known.methods = std::move(methods);
}

uint64_t ReadKlass(JNIEnv* env, jclass mirror) {
  TrackedState& s = Tracked();
  const LiveMemory memory;
  const uint64_t found = s.klasses.Read(env, mirror);
  return Metadata(s.layout, memory).IsInstanceClass(found) ? found : 0;
}

// Gives the class a number unless it has one. Returns its InstanceKlass*, or 0. `prepared`: the
// class was linked just now, and may have got more methods.
uint64_t Add(JNIEnv* env, jclass mirror, bool prepared) {
  TrackedState& s = Tracked();
  const uint64_t klass = ReadKlass(env, mirror);
  if (klass == 0) return 0;
  const std::lock_guard<std::mutex> adding(s.adding);
  jlong tag = 0;
  if (s.jvmti->GetTag(mirror, &tag) != JVMTI_ERROR_NONE) return 0;
  const bool is_new = tag == 0;
  const int64_t number = is_new ? s.last_number + 1 : NumberOf(tag);
  if (is_new) {
    if (s.jvmti->SetTag(mirror, TagOf(number)) != JVMTI_ERROR_NONE) return 0;
    s.last_number = number;
  }
  const std::lock_guard<std::mutex> lock(s.mutex);
  KnownClass& known = s.known[number];
  known.klass = klass;
  if (is_new || prepared) ReadMethods(known);
  LearnTable(class_tables, klass);
  if (!known.methods.empty()) LearnTable(method_tables, known.methods[0]);
  s.table.Put(klass, number);
  return klass;
}

Status AddLoadedClasses(JNIEnv* env) {
  TrackedState& s = Tracked();
  jint count = 0;
  jclass* classes = nullptr;
  if (s.jvmti->GetLoadedClasses(&count, &classes) != JVMTI_ERROR_NONE)
    return Unable("this JVM's JVMTI does not list the classes");
  for (jint i = 0; i < count; i++) {
    Add(env, classes[i], false);
    env->DeleteLocalRef(classes[i]);
  }
  s.jvmti->Deallocate(reinterpret_cast<unsigned char*>(classes));
  return Ok();
}

void AddMissed(JNIEnv* env) {
  if (missed.load(std::memory_order_relaxed) && missed.exchange(false))
    static_cast<void>(AddLoadedClasses(env));
}

void JNICALL OnClassPrepare(jvmtiEnv*, JNIEnv* env, jthread, jclass mirror) {
  Add(env, mirror, true);
  AddMissed(env);
}

// On the new thread, which may have inherited a mask that blocks all signals.
void JNICALL OnThreadStart(jvmtiEnv*, JNIEnv* env, jthread) {
  AllowTraps();
  AddMissed(env);
}

void JNICALL OnObjectFree(jvmtiEnv*, jlong tag) {
  if (unloading_expected.load()) return;
  TrackedState& s = Tracked();
  const int64_t number = NumberOf(tag);
  GoneMethods gone{};
  {
    const std::lock_guard<std::mutex> lock(s.mutex);
    const auto found = s.known.find(number);
    if (found == s.known.end()) return;
    gone = {found->second.klass, std::move(found->second.methods)};
    s.known.erase(found);
  }
  // The listener may still ask for the number.
  const auto listener = unload_listener.load();
  told = &gone;
  if (listener != nullptr) listener(gone);
  told = nullptr;
  const std::lock_guard<std::mutex> lock(s.mutex);
  // Another class may be at the same address already.
  if (s.table.Find(gone.klass) == number) s.table.Put(gone.klass, -number);
}

Status Listen(JavaVM* vm) {
  TrackedState& s = Tracked();
  s.jvmti = NewJvmti(vm);
  if (s.jvmti == nullptr) return Unable("this JVM has no JVMTI");
  jvmtiCapabilities wanted{};
  wanted.can_tag_objects = 1;
  wanted.can_generate_object_free_events = 1;
  jvmtiEventCallbacks callbacks{};
  callbacks.ClassPrepare = OnClassPrepare;
  callbacks.ThreadStart = OnThreadStart;
  callbacks.ObjectFree = OnObjectFree;
  if (s.jvmti->AddCapabilities(&wanted) != JVMTI_ERROR_NONE ||
      s.jvmti->SetEventCallbacks(&callbacks, sizeof callbacks) != JVMTI_ERROR_NONE)
    return Unable("this JVM's JVMTI cannot tag objects");
  for (const jvmtiEvent event :
       {JVMTI_EVENT_CLASS_PREPARE, JVMTI_EVENT_THREAD_START, JVMTI_EVENT_OBJECT_FREE})
    if (s.jvmti->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr) != JVMTI_ERROR_NONE)
      return Unable("this JVM's JVMTI does not tell of classes");
  return Ok();
}

void FindOriginalIdNum(JNIEnv* env, const VmStructs& structs) {
  TrackedState& s = Tracked();
  const LiveMemory memory;
  jclass string = env->FindClass("java/lang/String");
  s.layout.original_idnum =
      Metadata(s.layout, memory).FindOriginalIdNum(structs, ReadKlass(env, string));
  env->DeleteLocalRef(string);
}

// The class, with the methods that it has now; the end of `known`: it is none of these. Call with
// the lock.
auto FindWithMethods(TrackedState& s, uint64_t klass) {
  const auto found = s.known.find(s.table.Find(klass));
  if (found != s.known.end()) ReadMethods(found->second);
  return found;
}

}  // namespace

Status TrackClasses(JavaVM* vm, JNIEnv* env, const VmStructs& structs, int feature) {
  TrackedState& s = Tracked();
  ASSIGN_OR_RETURN(s.layout, ReadMetadataLayout(structs, feature));
  ASSIGN_OR_RETURN(s.klasses, KlassReader::Open(env, structs));
  FindOriginalIdNum(env, structs);
  Status status = Listen(vm);
  // After Listen, so that no class is missed in between.
  if (status.ok()) status = AddLoadedClasses(env);
  tracking.store(status.ok());
  return status;
}

const VirtualTables& MethodTables() { return method_tables; }

const MetadataLayout* IdMetadata() {
  return tracking.load(std::memory_order_acquire) ? &Tracked().layout : nullptr;
}

jvmtiEnv* ClassEnvironment() {
  return tracking.load(std::memory_order_acquire) ? Tracked().jvmti : nullptr;
}

int64_t IdNumOfClass(uint64_t klass) {
  if (!tracking.load(std::memory_order_acquire) || klass == 0) return 0;
  const int64_t number = Tracked().table.Find(klass);
  return number > 0 ? number : 0;
}

bool IsClass(const Metadata& metadata, uint64_t klass) {
  if (!tracking.load(std::memory_order_acquire) || klass == 0) return false;
  if (told != nullptr && told->klass == klass) return false;
  const int64_t number = Tracked().table.Find(klass);
  if (number != 0) return number > 0;
  uint64_t word = 0;
  if (!metadata.OwnsItsPool(klass) || !LiveMemory().ReadWord(klass, word) ||
      !class_tables.Has(word))
    return false;
  missed.store(true, std::memory_order_relaxed);
  return true;
}

bool IsMethod(const Metadata& metadata, const MethodView& method) {
  if (told != nullptr &&
      std::find(told->methods.begin(), told->methods.end(), method.method) != told->methods.end())
    return false;
  return method_tables.Has(method.vtable) && IsClass(metadata, method.holder);
}

uint64_t KlassOf(JNIEnv* env, jclass mirror) {
  return tracking.load() && mirror != nullptr ? Add(env, mirror, false) : 0;
}

jclass MirrorOf(uint64_t klass) {
  const int64_t number = IdNumOfClass(klass);
  const jlong tag = TagOf(number);
  jint count = 0;
  jobject* objects = nullptr;
  jvmtiEnv* jvmti = Tracked().jvmti;
  if (number == 0 ||
      jvmti->GetObjectsWithTags(1, &tag, &count, &objects, nullptr) != JVMTI_ERROR_NONE)
    return nullptr;
  auto* mirror = count == 0 ? nullptr : static_cast<jclass>(objects[0]);
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(objects));
  return mirror;
}

uint64_t MethodOfNumber(const MethodTable& table, const MemoryReader& memory, uint64_t id) {
  uint64_t method = 0;
  Tracked().table.Any([&](uint64_t klass) {
    method = MethodOfId(table, memory, klass, id);
    return method != 0;
  });
  // The id may be of a class that is not here yet.
  if (method == 0) missed.store(true, std::memory_order_relaxed);
  return method;
}

void SetUnloadListener(void (*listener)(const GoneMethods&)) { unload_listener.store(listener); }

bool TakeRedefined(uint64_t klass, GoneMethods& gone) {
  TrackedState& s = Tracked();
  const LiveMemory memory;
  const Metadata metadata(s.layout, memory);
  const std::lock_guard<std::mutex> lock(s.mutex);
  const auto found = s.known.find(s.table.Find(klass));
  if (found == s.known.end()) return false;
  KnownClass& known = found->second;
  int count = 0;
  const uint64_t array = metadata.MethodsOfClass(klass, count);
  // An unloaded class that ObjectFree has not reported yet may show anything or nothing.
  if (array == 0 || array == known.array || !metadata.OwnsItsPool(klass)) return false;
  gone = {klass, known.methods};
  ReadMethods(known);
  return true;
}

void ExpectUnloading() { unloading_expected.store(true); }

bool TakeUnloading(uint64_t klass, GoneMethods& gone) {
  TrackedState& s = Tracked();
  const std::lock_guard<std::mutex> lock(s.mutex);
  const auto found = FindWithMethods(s, klass);
  if (found == s.known.end()) return false;
  gone = {klass, std::move(found->second.methods)};
  s.known.erase(found);
  return true;
}

void Forget(uint64_t klass) {
  TrackedState& s = Tracked();
  const std::lock_guard<std::mutex> lock(s.mutex);
  const int64_t number = s.table.Find(klass);
  if (number > 0) s.table.Put(klass, -number);
}

bool TakeCurrent(uint64_t klass, GoneMethods& gone) {
  TrackedState& s = Tracked();
  const std::lock_guard<std::mutex> lock(s.mutex);
  const auto found = FindWithMethods(s, klass);
  if (found == s.known.end()) return false;
  gone = {klass, found->second.methods};
  return true;
}

void RefreshMethods() {
  TrackedState& s = Tracked();
  const std::lock_guard<std::mutex> lock(s.mutex);
  for (auto& [number, known] : s.known) ReadMethods(known);
}

}  // namespace walkhammer::asgst
