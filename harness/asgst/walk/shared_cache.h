// SPDX-License-Identifier: Apache-2.0
// SharedCache: a cache that the walks of all threads share. Signal-safe: yes. Without locks: an
// entry that a thread is writing counts as missing. Newer entries replace older ones.
#ifndef WALKHAMMER_HARNESS_ASGST_WALK_SHARED_CACHE_H_
#define WALKHAMMER_HARNESS_ASGST_WALK_SHARED_CACHE_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "harness/base/hash.h"

namespace walkhammer::asgst {

// 2 to the power of `kBits` entries, each found by two words: `key` and `tag`. A key has four
// places. With one, a quarter of 10,000 keys in 32,768 places would meet another.
template <typename Value, int kBits>
class SharedCache {
  static_assert(std::is_trivially_copyable_v<Value>);

 public:
  // False if there is no such entry; `value` is unspecified then.
  bool Find(uint64_t key, uint64_t tag, Value& value) const {
    uint64_t found = 0;
    return FindAny(key, found, value) && found == tag;
  }
  // Finds the entry of `key`, and its tag.
  __attribute__((always_inline)) bool FindAny(uint64_t key, uint64_t& tag, Value& value) const {
    const uint64_t place = PlaceOf(key, kBits);
    const Entry* entry = &entries_[place];
    if (entry->key.load(std::memory_order_relaxed) != key) entry = Beside(place, key);
    const uint64_t before = entry->version.load(std::memory_order_acquire);
    if ((before & 1) != 0 || entry->key.load(std::memory_order_relaxed) != key) return false;
    tag = entry->tag.load(std::memory_order_relaxed);
    ReadWords(*entry, value, std::make_index_sequence<kWords>());
    std::atomic_thread_fence(std::memory_order_acquire);
    return entry->version.load(std::memory_order_relaxed) == before;
  }

  // Replaces the entry of `key`, else one that is empty, else any of the four: what nobody asks for
  // any more must not stay.
  void Put(uint64_t key, uint64_t tag, const Value& value) {
    const uint64_t place = PlaceOf(key, kBits);
    Entry* to = nullptr;
    const uint64_t any = turn_.load(std::memory_order_relaxed) % kWays;
    for (uint64_t i = 0; i < kWays; i++) {
      Entry& entry = entries_[place ^ i];
      const uint64_t there = entry.key.load(std::memory_order_relaxed);
      const bool is_free = there == 0 && entry.version.load(std::memory_order_relaxed) == 0;
      if (there == key || (is_free && to == nullptr)) to = &entry;
      if (there == key) break;
    }
    if (to == nullptr) turn_.store(any + 1, std::memory_order_relaxed);
    Write(to != nullptr ? *to : entries_[place ^ any], key, tag, value);
  }

 private:
  static constexpr size_t kWords = (sizeof(Value) + 7) / 8;
  static constexpr uint64_t kWays = 4;  // places of a key
  static_assert((uint64_t{1} << kBits) >= kWays);
  static constexpr size_t kLine = 64;  // bytes of a cache line
  static constexpr size_t kEntry = 8 * (3 + kWords);
  struct alignas(kEntry == kLine ? kLine : 8) Entry {
    std::atomic<uint64_t> version{0}, key{0}, tag{0}, words[kWords]{};
  };
  // Without a loop, as compilers then keep the words in registers.
  template <size_t... I>
  static void ReadWords(const Entry& entry, Value& value, std::index_sequence<I...>) {
    (ReadWord(entry.words[I], reinterpret_cast<char*>(&value) + 8 * I,
              std::min(sizeof(uint64_t), sizeof value - 8 * I)),
     ...);
  }
  static void ReadWord(const std::atomic<uint64_t>& from, char* to, size_t bytes) {
    const uint64_t word = from.load(std::memory_order_relaxed);
    std::memcpy(to, &word, bytes);
  }
  // The entry of `key` in another place than its own, else one of those places. It does not fill a
  // value, as compilers would then keep the value in memory.
  __attribute__((noinline)) const Entry* Beside(uint64_t place, uint64_t key) const {
    uint64_t i = 1;
    while (i < kWays - 1 && entries_[place ^ i].key.load(std::memory_order_relaxed) != key) i++;
    return &entries_[place ^ i];
  }
  static void Write(Entry& entry, uint64_t key, uint64_t tag, const Value& value) {
    uint64_t version = entry.version.load(std::memory_order_relaxed);
    if ((version & 1) != 0 || !entry.version.compare_exchange_strong(version, version + 1)) return;
    std::atomic_thread_fence(std::memory_order_release);
    uint64_t words[kWords] = {};
    std::memcpy(words, &value, sizeof value);
    entry.key.store(key, std::memory_order_relaxed);
    entry.tag.store(tag, std::memory_order_relaxed);
    for (size_t i = 0; i < kWords; i++) entry.words[i].store(words[i], std::memory_order_relaxed);
    entry.version.store(version + 2, std::memory_order_release);
  }

  std::atomic<uint64_t> turn_{0};  // which of four is replaced next; a lost update does no harm
  Entry entries_[1 << kBits];
};

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_WALK_SHARED_CACHE_H_
