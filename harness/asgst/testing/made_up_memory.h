// SPDX-License-Identifier: Apache-2.0
// MadeUpMemory: synthetic memory for tests, word by word. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_ASGST_TESTING_MADE_UP_MEMORY_H_
#define WALKHAMMER_HARNESS_ASGST_TESTING_MADE_UP_MEMORY_H_

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "harness/jvm/structs/memory.h"

namespace walkhammer::asgst {

class MadeUpMemory final : public MemoryReader {
 public:
  bool ReadWord(uint64_t address, uint64_t& word) const override {
    const auto found = words_.find(address);
    if (found == words_.end()) return false;
    word = found->second;
    return true;
  }
  void Put(uint64_t address, uint64_t word) { words_[address] = word; }
  void PutBytes(uint64_t address, const std::vector<uint8_t>& bytes) {
    for (size_t i = 0; i < bytes.size(); i++) {
      uint64_t& word = words_[(address + i) & ~7ULL];
      const uint64_t shift = 8 * ((address + i) & 7);
      word = (word & ~(0xffULL << shift)) | static_cast<uint64_t>(bytes[i]) << shift;
    }
  }
  // Writes four bytes, as an int32_t has them.
  void PutInt(uint64_t address, uint32_t number) {
    std::vector<uint8_t> bytes;
    for (int shift = 0; shift < 32; shift += 8)
      bytes.push_back(static_cast<uint8_t>(number >> shift));
    PutBytes(address, bytes);
  }
  void PutText(uint64_t address, const std::string& text) {
    PutBytes(address, std::vector<uint8_t>(text.c_str(), text.c_str() + text.size() + 1));
  }
  // Writes a frame record: the caller's fp and the return address.
  void PutRecord(uint64_t address, uint64_t fp, uint64_t pc) {
    Put(address, fp);
    Put(address + 8, pc);
  }
  std::map<uint64_t, uint64_t> words() const { return {words_.begin(), words_.end()}; }

 private:
  std::unordered_map<uint64_t, uint64_t> words_;  // by address; a map takes most of a test's time
};

// Calls `body` 20,000 times, each time with other words of `memory` damaged: replaced by addresses,
// by other words, by random numbers, or with one bit flipped.
template <typename Body>
void DamageAnyhow(MadeUpMemory& memory, Body body) {
  std::mt19937_64 random(1);
  const auto words = memory.words();
  const std::vector<std::pair<uint64_t, uint64_t>> whole(words.begin(), words.end());
  for (int round = 0; round < 20'000; round++) {
    std::vector<std::pair<uint64_t, uint64_t>> changed;
    for (int changes = 1 + round % 4; changes > 0; changes--) {
      const auto& [address, word] = changed.emplace_back(whole[random() % whole.size()]);
      const auto& other = whole[random() % whole.size()];
      const uint64_t values[] = {other.first, other.second, random(), word ^ 1ULL << random() % 64};
      memory.Put(address, values[random() % 4]);
    }
    body();
    for (const auto& [address, word] : changed) memory.Put(address, word);
  }
}

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_TESTING_MADE_UP_MEMORY_H_
