// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/process/class_table.h"

#include <new>

namespace walkhammer::asgst {

ClassTable::~ClassTable() {
  for (auto& place : levels_) {
    Level* level = place.load();
    if (level == nullptr) continue;
    delete[] level->entries;
    delete level;
  }
}

ClassTable::Level* ClassTable::NewLevel(int bits) {
  auto* entries = new (std::nothrow) Entry[(size_t{1} << bits) + kWindow];
  return entries == nullptr ? nullptr : new Level{bits, entries};
}

ClassTable::Entry* ClassTable::Place(uint64_t klass) {
  Entry *free = nullptr, *gone = nullptr;
  for (int i = 0; i < kLevels; i++) {
    Level* level = levels_[i].load(std::memory_order_relaxed);
    if (level == nullptr) {
      if (free != nullptr || gone != nullptr) break;
      level = NewLevel(kFirstBits + i);
      if (level == nullptr) return nullptr;
      levels_[i].store(level, std::memory_order_release);
    }
    Entry* entries = level->At(klass);
    for (int j = 0; j < kWindow; j++) {
      const uint64_t here = entries[j].klass.load(std::memory_order_relaxed);
      if (here == klass) return entries + j;
      if (here == 0 && free == nullptr) free = entries + j;
      if (here != 0 && gone == nullptr && entries[j].number.load(std::memory_order_relaxed) < 0)
        gone = entries + j;
    }
  }
  return free == nullptr ? gone : free;
}

bool ClassTable::Put(uint64_t klass, int64_t number) {
  Entry* entry = Place(klass);
  if (entry == nullptr) return false;
  if (entry->klass.load(std::memory_order_relaxed) != klass)
    entry->klass.store(0, std::memory_order_relaxed);
  // Order of stores: klass = 0 if another class is here, release fence, number, klass (release). A
  // reader that has loaded the new number finds the old class gone when it loads klass again after
  // an acquire fence. A reader that finds the new class (acquire) loads its number or a later one.
  std::atomic_thread_fence(std::memory_order_release);
  entry->number.store(number, std::memory_order_relaxed);
  entry->klass.store(klass, std::memory_order_release);
  return true;
}

}  // namespace walkhammer::asgst
