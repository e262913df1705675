// SPDX-License-Identifier: Apache-2.0
// ClassTable: from the address of a class to its number, negative once it is gone. Signal handlers
// read it while others write. Signal-safe: Find yes; the rest no.
#ifndef WALKHAMMER_HARNESS_ASGST_PROCESS_CLASS_TABLE_H_
#define WALKHAMMER_HARNESS_ASGST_PROCESS_CLASS_TABLE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "harness/base/hash.h"

namespace walkhammer::asgst {

class ClassTable {
 public:
  ClassTable() = default;
  ClassTable(const ClassTable&) = delete;
  ClassTable& operator=(const ClassTable&) = delete;
  ~ClassTable();

  // The number; 0: no such class was ever put here, or it is gone and forgotten. At most kLevels
  // times kWindow steps, without a lock.
  int64_t Find(uint64_t klass) const {
    for (const auto& place : levels_) {
      const Level* level = place.load(std::memory_order_acquire);
      if (level == nullptr) return 0;
      const Entry* entries = level->At(klass);
      for (int i = 0; i < kWindow; i++) {
        if (entries[i].klass.load(std::memory_order_acquire) != klass) continue;
        const int64_t number = entries[i].number.load(std::memory_order_relaxed);
        // Was the entry another class's meanwhile?
        std::atomic_thread_fence(std::memory_order_acquire);
        if (entries[i].klass.load(std::memory_order_relaxed) == klass) return number;
      }
    }
    return 0;
  }

  // True once `is_wanted` is, for one of the classes that are there and not gone. Without a lock.
  template <typename IsWanted>
  bool Any(IsWanted is_wanted) const {
    for (const auto& place : levels_) {
      const Level* level = place.load(std::memory_order_acquire);
      if (level == nullptr) return false;
      for (const Entry* e = level->entries; e < level->end(); e++) {
        const uint64_t klass = e->klass.load(std::memory_order_acquire);
        if (klass != 0 && e->number.load(std::memory_order_relaxed) > 0 && is_wanted(klass))
          return true;
      }
    }
    return false;
  }

  // A class that is there gets the new number. Writers must take turns. False if there is no
  // memory.
  bool Put(uint64_t klass, int64_t number);

 private:
  // A class stands in one of the entries from that of its hash on, or at a further level.
  static constexpr int kWindow = 16, kLevels = 12, kFirstBits = 14;
  struct Entry {
    std::atomic<uint64_t> klass{0};  // 0: free
    std::atomic<int64_t> number{0};
  };
  struct Level {
    int bits;
    Entry* entries;  // 2 to the power of `bits`, and a window
    const Entry* end() const { return entries + (size_t{1} << bits) + kWindow; }
    const Entry* At(uint64_t klass) const { return entries + PlaceOf(klass, bits); }
    Entry* At(uint64_t klass) {
      return const_cast<Entry*>(static_cast<const Level*>(this)->At(klass));
    }
  };
  // The entry of the class, or one for it: free, or that of a class that is gone.
  Entry* Place(uint64_t klass);
  static Level* NewLevel(int bits);

  std::atomic<Level*> levels_[kLevels]{};
};

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_PROCESS_CLASS_TABLE_H_
