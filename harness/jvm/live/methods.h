// SPDX-License-Identifier: Apache-2.0
// MethodRegistry: every jmethodID that the JVM has handed out, with what an oracle must know of the
// method. Filled at class prepare, which also primes the jmethodIDs: without that, walkers return
// frames without a method. The entry of an unloaded method stays, marked, until SweepUnloaded frees
// the entry.
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

// True if the method "pkg.Class.method(Sig)Ret" may be the outermost frame of a thread, because the
// JVM or the launcher calls it: run methods of threads, main methods, class initialisers, and
// methods that the JVM's own code calls by name.
bool StartsThreads(std::string_view name);

struct MethodEntry {
  std::atomic<void*> id{nullptr};  // jmethodID: an address or a number; set last
  uint64_t holder = 0;             // InstanceKlass* of the method's class; 0: not recorded
  const char* name = nullptr;      // "pkg.Class.method(Sig)Ret"; valid as long as the registry
  uint32_t name_hash = 0;          // the same for this name in every process
  int32_t code_size = 0;           // bytes of bytecode; 0 for native and abstract methods
  bool is_native = false;
  std::atomic<bool> unloaded{false};
  std::atomic<bool> starts_threads{false};  // the method may be the outermost frame of a thread
  std::atomic<uint16_t> shadow_id{0};       // number in shadow stacks, plus 1; 0: none
  uint8_t sweeps_unloaded = 0;
};

// Memory for names. Each name is stored once, NUL-terminated, and never removed. The first name is
// empty.
struct NameArena {
  char* memory = nullptr;
  uint32_t size = 0;  // bytes
};

class MethodRegistry {
 public:
  static constexpr uint32_t kCapacity = 1 << 18;  // power of two
  static constexpr uint32_t kMostMethods = kCapacity / 2;

  // Stores names in `arena`, which must be zeroed and outlive the registry. If arena.memory is
  // null, the registry makes and owns an arena.
  explicit MethodRegistry(NameArena arena = {});
  ~MethodRegistry();
  MethodRegistry(const MethodRegistry&) = delete;
  MethodRegistry& operator=(const MethodRegistry&) = delete;

  // Adds the methods of a prepared class, whose InstanceKlass* is `holder`. Thread-safe.
  void AddClass(jvmtiEnv* jvmti, jclass klass, uint64_t holder = 0);
  // Adds one method; an id that is known stays unchanged. Not thread-safe against the other
  // functions that change the registry.
  void Add(void* id, const std::string& name, int32_t code_size, bool is_native,
           uint64_t holder = 0);
  // Marks the methods of a class as unloaded, if but one class of that name is known; of several,
  // SweepUnloaded finds the one that is gone. `vm_name`: "pkg/Class", "Lpkg/Class;" or "pkg.Class".
  void MarkUnloaded(const char* vm_name);
  // Marks the methods whose jmethodID no longer leads to a method as unloaded. Frees the entries of
  // methods that several earlier calls found unloaded. `jvmti` is queried if jmethodIDs are numbers
  // (JDK 26 and later); null: a jmethodID is the address of a word with a Method*.
  void SweepUnloaded(jvmtiEnv* jvmti);

  // Called for each method that is added from now on, while the lock is held. May be null.
  void (*on_add)(const MethodEntry& entry) = nullptr;

  // The entry of a jmethodID. Null if the JVM never handed out this id or if SweepUnloaded has
  // freed the entry; if IsComplete is false, null says nothing.
  const MethodEntry* Find(const void* id) const;
  // True for each id whose entry SweepUnloaded has freed, and by chance for a few others: for 3 %
  // of them after a million freed entries. Signal-safe: yes.
  bool MayBeFreed(const void* id) const;
  // How many methods did not fit.
  uint64_t unknown() const { return unknown_.load(std::memory_order_relaxed); }
  // False once a method did not fit: a method that Find does not know may then exist.
  bool IsComplete() const { return unknown() == 0; }
  // Records that some thread starts with this method.
  void MarkStartsThreads(const void* id);
  // Sets the method's number in shadow stacks to `shadow_id` - 1; see ShadowStack.
  void SetShadowId(const void* id, uint16_t shadow_id);
  // Byte offset in the arena of the name of an entry.
  uint32_t NameOffset(const char* name) const {
    return static_cast<uint32_t>(name - arena_.memory);
  }
  // Approximate heap memory of the table of names, in bytes, without the arena.
  uint64_t HeapBytes() const { return names_.size() * 48; }
  // The name as stored in the arena, added if new; the empty name if the arena is full.
  // Thread-safe.
  const char* Keep(std::string_view name);

  template <typename Visit>
  void ForEach(Visit visit) const {
    for (uint32_t i = 0; i < kCapacity; i++) {
      void* id = entries_[i].id.load(std::memory_order_acquire);
      if (id != nullptr && id != kGivenUp) visit(entries_[i]);
    }
  }

 private:
  // The id of a freed entry. No jmethodID has this value: jmethodIDs are aligned addresses, or
  // numbers that count from 1.
  static inline void* const kGivenUp = reinterpret_cast<void*>(UINTPTR_MAX);

  void Add(jvmtiEnv* jvmti, const std::string& class_name, jmethodID id, uint64_t holder);
  const char* KeepLocked(std::string_view name);

  std::unique_ptr<MethodEntry[]> entries_;
  uint32_t used_ = 0;                  // number of entries that hold a method
  std::atomic<uint32_t> farthest_{0};  // greatest distance of an entry from its hash's index
  std::atomic<uint64_t> unknown_{0};
  std::atomic<uint8_t>* freed_ids_ = nullptr;  // a bit for each hash of an id; null: no memory
  std::mutex mutex_;
  NameArena arena_;
  bool own_arena_ = false;
  uint32_t arena_used_ = 1;
  std::unordered_set<std::string_view> names_;
};

// Writes the frames of a walk that returned to `text` (`size` bytes), newest first, one
// "pkg.Class.method(Sig)Ret @ bci" per line: at most `most` frames, and only those that fit.
// Returns the number of complete frames. Signal-safe: yes.
int FramesText(const Trace& trace, int most, const MethodRegistry& methods, char* text,
               size_t size);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_LIVE_METHODS_H_
