// SPDX-License-Identifier: Apache-2.0
// MethodRegistry: every jmethodID that the JVM has handed out, with what an oracle must know of it.
// Filled at class prepare (which also primes the jmethodIDs: without that, walkers return frames
// without a method). An unloaded method stays, marked, until its place is needed.
// Signal-safe: Find, MarkStartsThreads, IsComplete, NameOffset and FramesText yes; the rest no.
#ifndef WALKHAMMER_HARNESS_JVM_LIVE_METHODS_H_
#define WALKHAMMER_HARNESS_JVM_LIVE_METHODS_H_

#include <jvmti.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>

#include "harness/base/trace.h"

namespace walkhammer {

// Whether "pkg.Class.method(Sig)Ret" may be the outermost frame of a thread: what the JVM and the
// launcher call themselves: run methods of threads, main methods, class initialisers, and what is
// called by its name out of the JVM's own code.
bool StartsThreads(std::string_view name);

struct MethodEntry {
  std::atomic<void*> id{nullptr};  // jmethodID, an address or a number; set last
  uint64_t holder = 0;             // InstanceKlass* of its class; 0: not asked for
  const char* name = nullptr;      // "pkg.Class.method(Sig)Ret"; lives as long as the registry
  int32_t code_size = 0;           // bytes of byte code; 0 for native and abstract methods
  bool is_native = false;
  std::atomic<bool> unloaded{false};
  std::atomic<bool> starts_threads{false};  // it may be the outermost frame of a thread
  std::atomic<uint16_t> shadow_id{0};       // number in shadow stacks + 1; 0: not there
  uint8_t sweeps_unloaded = 0;
};

// Memory for names: each stands there once, NUL-terminated, and stays. The first one is empty.
struct NameArena {
  char* memory = nullptr;
  uint32_t size = 0;  // bytes
};

class MethodRegistry {
 public:
  static constexpr uint32_t kCapacity = 1 << 18;  // power of two
  static constexpr uint32_t kMostMethods = kCapacity / 2;

  // Names go to `arena`, which must outlive the registry and be zeroed; without memory, to one of
  // its own.
  explicit MethodRegistry(NameArena arena = {});
  ~MethodRegistry();
  MethodRegistry(const MethodRegistry&) = delete;
  MethodRegistry& operator=(const MethodRegistry&) = delete;

  // Adds the methods of a prepared class, whose InstanceKlass* is `holder`. Thread-safe.
  void AddClass(jvmtiEnv* jvmti, jclass klass, uint64_t holder = 0);
  // Adds one method; a known id is left as it is. Not thread-safe against the others here.
  void Add(void* id, std::string name, int32_t code_size, bool is_native, uint64_t holder = 0);
  // Marks the methods of a class by its name: "pkg/Class", "Lpkg/Class;" or "pkg.Class".
  void MarkUnloaded(const char* vm_name);
  // Marks the methods whose jmethodID leads nowhere any more, and gives up the places of those that
  // it found so several times before. `jvmti`: whom to ask where jmethodIDs are numbers (JDK 26 and
  // later); null: they lead to a Method*.
  void SweepUnloaded(jvmtiEnv* jvmti);

  // Gets each method that is added from now on, under the lock. May be null.
  void (*on_add)(const MethodEntry& entry) = nullptr;

  // Null if the JVM never handed out this id, or IsComplete is false.
  const MethodEntry* Find(const void* id) const;
  // False once there was no room for a method: what Find does not know may exist then.
  bool IsComplete() const { return complete_.load(std::memory_order_relaxed); }
  // Threads were seen to start with this method.
  void MarkStartsThreads(const void* id);
  // `shadow_id` - 1 stands for this method in shadow stacks; see ShadowStack.
  void SetShadowId(const void* id, uint16_t shadow_id);
  // Where a name of an entry stands in the arena, bytes.
  uint32_t NameOffset(const char* name) const {
    return static_cast<uint32_t>(name - arena_.memory);
  }
  // What the table of names takes beside the arena, about.
  uint64_t HeapBytes() const { return names_.size() * 48; }
  // The name in the arena, added if new; the empty one where there is no room. Thread-safe.
  const char* Keep(std::string_view name);

  template <typename Visit>
  void ForEach(Visit visit) const {
    for (uint32_t i = 0; i < kCapacity; i++) {
      void* id = entries_[i].id.load(std::memory_order_acquire);
      if (id != nullptr && id != kGivenUp) visit(entries_[i]);
    }
  }

 private:
  // No jmethodID: they are aligned addresses, or numbers counted from 1 on.
  static inline void* const kGivenUp = reinterpret_cast<void*>(UINTPTR_MAX);

  void Add(jvmtiEnv* jvmti, const std::string& class_name, jmethodID id, uint64_t holder);
  const char* KeepLocked(std::string_view name);

  std::unique_ptr<MethodEntry[]> entries_;
  uint32_t used_ = 0;                  // places that hold a method
  std::atomic<uint32_t> farthest_{0};  // most places that a method stands from where it belongs
  std::atomic<bool> complete_{true};
  std::mutex mutex_;
  NameArena arena_;
  bool own_arena_ = false;
  uint32_t arena_used_ = 1;
  std::unordered_set<std::string_view> names_;
};

// The frames of a walk that returned, newest first, one "pkg.Class.method(Sig)Ret @ bci" a line;
// at most `most` of them and what fits. Returns how many. Signal-safe: yes.
int FramesText(const Trace& trace, int most, const MethodRegistry& methods, char* text,
               size_t size);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_LIVE_METHODS_H_
