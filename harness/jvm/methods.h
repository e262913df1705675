// MethodRegistry: every jmethodID that the JVM has handed out, with what an oracle must know of it.
// Filled at class prepare (which also primes the jmethodIDs: without that, walkers return frames
// without a method). Entries are never removed: an unloaded method stays, marked.
// Signal-safe: Find yes; the rest no.
#ifndef WALKHAMMER_HARNESS_JVM_METHODS_H_
#define WALKHAMMER_HARNESS_JVM_METHODS_H_

#include <jvmti.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

namespace walkhammer {

struct MethodEntry {
  std::atomic<void*> id{nullptr};  // jmethodID; set last
  const char* name = nullptr;      // "pkg.Class.method(Sig)Ret"; lives as long as the registry
  int32_t code_size = 0;           // bytes of byte code; 0 for native and abstract methods
  bool is_native = false;
  std::atomic<bool> unloaded{false};
};

class MethodRegistry {
 public:
  static constexpr uint32_t kCapacity = 1 << 18;  // power of two

  MethodRegistry() : entries_(new MethodEntry[kCapacity]) {}

  // Adds the methods of a prepared class. Thread-safe.
  void AddClass(jvmtiEnv* jvmti, jclass klass);
  void AddLoadedClasses(jvmtiEnv* jvmti, JNIEnv* env);
  // Adds one method; a known id is left as it is. Not thread-safe against the others here.
  void Add(void* id, std::string name, int32_t code_size, bool is_native);
  // Marks the methods of a class by its name: "pkg/Class", "Lpkg/Class;" or "pkg.Class".
  void MarkUnloaded(const char* vm_name);

  // Null if the JVM never handed out this id.
  const MethodEntry* Find(const void* id) const;

  template <typename Visit>
  void ForEach(Visit visit) const {
    for (uint32_t i = 0; i < kCapacity; i++)
      if (entries_[i].id.load(std::memory_order_acquire) != nullptr) visit(entries_[i]);
  }

 private:
  void Add(jvmtiEnv* jvmti, const std::string& class_name, jmethodID id);

  std::unique_ptr<MethodEntry[]> entries_;
  uint32_t used_ = 0;
  std::mutex mutex_;
  std::deque<std::string> names_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_METHODS_H_
