// SPDX-License-Identifier: Apache-2.0
// ClassTable: maps the address of a class to the class's number, which is negative once the class
// is gone. Signal handlers read the table while another thread writes. Signal-safe: Find and Any
// yes; the rest no.
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

  // Number of `klass`; negative: the class is gone; 0: the class was never put here, or is gone and
  // forgotten. Takes no lock and at most kLevels * kWindow steps.
  int64_t Find(uint64_t klass) const {
    for (const auto& place : levels_) {
      const Level* level = place.load(std::memory_order_acquire);
      if (level == nullptr) return 0;
      const Entry* entries = level->At(klass);
      for (int i = 0; i < kWindow; i++) {
        if (entries[i].klass.load(std::memory_order_acquire) != klass) continue;
        if (const int64_t number = NumberOf(entries[i], klass); number != 0) return number;
      }
    }
    return 0;
  }

  // True if is_wanted(klass) is true for one of the classes here that are not gone. Takes no lock.
  // Signal-safe: yes, if is_wanted is.
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

  // Adds `klass` with `number`, or gives a class that is here the new number. Writers must take
  // turns. False if there is no memory or no place.
  bool Put(uint64_t klass, int64_t number);

 private:
  // A class is in one of the kWindow entries from Level::At(klass) on, at any of the levels.
  static constexpr int kWindow = 16, kLevels = 12, kFirstBits = 14;
  static constexpr int kTries = 4;  // to read an entry that changes in between
  struct Entry {
    std::atomic<uint64_t> klass{0};  // 0: free, or being replaced
    std::atomic<int64_t> number{0};
  };
  struct Level {
    int bits;
    Entry* entries;  // 2^bits + kWindow of them
    const Entry* end() const { return entries + (size_t{1} << bits) + kWindow; }
    Entry* At(uint64_t klass) const { return entries + PlaceOf(klass, bits); }
  };
  // The number of `klass`, which was in `entry`; 0: the entry is being replaced.
  static int64_t NumberOf(const Entry& entry, uint64_t klass) {
    int64_t number = entry.number.load(std::memory_order_relaxed);
    // If `number` is another class's, this second load of klass does not find `klass`, see Put;
    // or it finds a new class at the same address, whose number is then another one.
    for (int i = 0; i < kTries; i++) {
      std::atomic_thread_fence(std::memory_order_acquire);
      if (entry.klass.load(std::memory_order_acquire) != klass) return 0;
      const int64_t again = entry.number.load(std::memory_order_relaxed);
      if (again == number) return number;
      number = again;
    }
    return 0;
  }
  // The entry of the class; if the class has none, a free entry, else that of a class that is gone.
  // Null if there is none of these.
  Entry* Place(uint64_t klass);
  static Level* NewLevel(int bits);

  std::atomic<Level*> levels_[kLevels]{};
};

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_PROCESS_CLASS_TABLE_H_
