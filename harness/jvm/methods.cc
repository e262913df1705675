#include "harness/jvm/methods.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace walkhammer {
namespace {

uint32_t HashOf(const void* id) {
  uint64_t x = reinterpret_cast<uint64_t>(id) * 0x9e3779b97f4a7c15;
  return static_cast<uint32_t>(x >> 40);
}

// "Lpkg/Class;" -> "pkg.Class".
std::string ClassName(const char* signature) {
  std::string name(signature);
  if (name.size() >= 2 && name.front() == 'L' && name.back() == ';')
    name = name.substr(1, name.size() - 2);
  std::replace(name.begin(), name.end(), '/', '.');
  return name;
}

}  // namespace

void MethodRegistry::Add(void* id, std::string name, int32_t code_size, bool is_native) {
  if (Find(id) != nullptr || used_ > kCapacity / 2) return;
  names_.push_back(std::move(name));
  uint32_t at = HashOf(id) & (kCapacity - 1);
  while (entries_[at].id.load() != nullptr) at = (at + 1) & (kCapacity - 1);
  MethodEntry& entry = entries_[at];
  entry.name = names_.back().c_str();
  entry.code_size = code_size;
  entry.is_native = is_native;
  entry.id.store(id, std::memory_order_release);
  used_++;
}

void MethodRegistry::Add(jvmtiEnv* jvmti, const std::string& class_name, jmethodID id) {
  if (Find(id) != nullptr) return;
  char* name = nullptr;
  char* signature = nullptr;
  if (jvmti->GetMethodName(id, &name, &signature, nullptr) != JVMTI_ERROR_NONE) return;
  std::string full_name = class_name + "." + name + signature;
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(name));
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(signature));
  jboolean is_native = JNI_FALSE;
  jvmti->IsMethodNative(id, &is_native);
  jlocation start = 0, end = -1;
  if (is_native == JNI_FALSE) jvmti->GetMethodLocation(id, &start, &end);
  Add(id, std::move(full_name), static_cast<int32_t>(end + 1), is_native == JNI_TRUE);
}

void MethodRegistry::AddClass(jvmtiEnv* jvmti, jclass klass) {
  jint count = 0;
  jmethodID* ids = nullptr;
  char* signature = nullptr;
  if (jvmti->GetClassSignature(klass, &signature, nullptr) != JVMTI_ERROR_NONE) return;
  if (jvmti->GetClassMethods(klass, &count, &ids) == JVMTI_ERROR_NONE) {
    std::string class_name = ClassName(signature);
    std::lock_guard<std::mutex> lock(mutex_);
    for (jint i = 0; i < count; i++) Add(jvmti, class_name, ids[i]);
    jvmti->Deallocate(reinterpret_cast<unsigned char*>(ids));
  }
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(signature));
}

void MethodRegistry::AddLoadedClasses(jvmtiEnv* jvmti, JNIEnv* env) {
  jint count = 0;
  jclass* classes = nullptr;
  if (jvmti->GetLoadedClasses(&count, &classes) != JVMTI_ERROR_NONE) return;
  for (jint i = 0; i < count; i++) {
    AddClass(jvmti, classes[i]);
    env->DeleteLocalRef(classes[i]);
  }
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(classes));
}

void MethodRegistry::MarkUnloaded(const char* vm_name) {
  const std::string class_name = ClassName(vm_name);
  std::lock_guard<std::mutex> lock(mutex_);
  for (uint32_t i = 0; i < kCapacity; i++) {
    MethodEntry& entry = entries_[i];
    if (entry.id.load() == nullptr) continue;
    const std::string_view name = entry.name;
    if (name.starts_with(class_name) && name.rfind('.', name.find('(')) == class_name.size())
      entry.unloaded.store(true);
  }
}

const MethodEntry* MethodRegistry::Find(const void* id) const {
  if (id == nullptr) return nullptr;
  for (uint32_t at = HashOf(id) & (kCapacity - 1);; at = (at + 1) & (kCapacity - 1)) {
    const void* here = entries_[at].id.load(std::memory_order_acquire);
    if (here == id) return &entries_[at];
    if (here == nullptr) return nullptr;
  }
}

}  // namespace walkhammer
