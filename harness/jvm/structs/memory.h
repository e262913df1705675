// SPDX-License-Identifier: Apache-2.0
// MemoryReader: memory as code that only looks sees it: live, checked, or recorded.
// Signal-safe: as its implementation; those of this project are.
#ifndef WALKHAMMER_HARNESS_JVM_STRUCTS_MEMORY_H_
#define WALKHAMMER_HARNESS_JVM_STRUCTS_MEMORY_H_

#include <cstdint>

namespace walkhammer {

class MemoryReader {
 public:
  // One word at `address`, a multiple of 8. False if it cannot be read.
  virtual bool ReadWord(uint64_t address, uint64_t& word) const = 0;

  // A value of 1, 2, 4 or 8 bytes that lies within one aligned word, as fields of structures do.
  template <typename T>
  bool Read(uint64_t address, T& value) const {
    uint64_t word = 0;
    const uint64_t aside = address & 7;
    if (aside + sizeof(T) > 8 || !ReadWord(address - aside, word)) return false;
    value = static_cast<T>(word >> (8 * aside));
    return true;
  }

  // `count` bytes from anywhere. False if one of them cannot be read.
  bool ReadBytes(uint64_t address, uint8_t* bytes, int count) const {
    uint64_t word = 0;
    for (int i = 0; i < count; i++, address++) {
      if ((i == 0 || (address & 7) == 0) && !ReadWord(address & ~7ULL, word)) return false;
      bytes[i] = static_cast<uint8_t>(word >> (8 * (address & 7)));
    }
    return true;
  }

 protected:
  ~MemoryReader() = default;
};

// This process, unchecked: for addresses that are known to be readable.
class PlainMemory final : public MemoryReader {
 public:
  bool ReadWord(uint64_t address, uint64_t& word) const override {
    word = *reinterpret_cast<const volatile uint64_t*>(address);
    return true;
  }
};

// This process, read by the kernel: any address will do. Reads nothing where the kernel permits no
// process_vm_readv, as some containers and emulators do. errno stays.
class KernelMemory final : public MemoryReader {
 public:
  bool ReadWord(uint64_t address, uint64_t& word) const override;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_STRUCTS_MEMORY_H_
