// SPDX-License-Identifier: Apache-2.0
// MemoryReader: read-only access to memory: live, checked, or recorded.
// Signal-safe: as the implementation; those of this project are.
#ifndef WALKHAMMER_HARNESS_JVM_STRUCTS_MEMORY_H_
#define WALKHAMMER_HARNESS_JVM_STRUCTS_MEMORY_H_

#include <cstdint>
#include <string>

namespace walkhammer {

class MemoryReader {
 public:
  // Reads the word at `address`, a multiple of 8. False if the word cannot be read.
  virtual bool ReadWord(uint64_t address, uint64_t& word) const = 0;

  // Reads a value of 1, 2, 4 or 8 bytes, which must be within one aligned word, as fields of
  // structures are. False if the value is not, or cannot be read.
  template <typename T>
  bool Read(uint64_t address, T& value) const {
    uint64_t word = 0;
    const uint64_t aside = address & 7;
    if (aside + sizeof(T) > 8 || !ReadWord(address - aside, word)) return false;
    value = static_cast<T>(word >> (8 * aside));
    return true;
  }

  // Reads `count` bytes from any address. False if one of the bytes cannot be read.
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

// Reads memory of this process without checks: only for readable addresses.
class PlainMemory final : public MemoryReader {
 public:
  bool ReadWord(uint64_t address, uint64_t& word) const override {
    word = *reinterpret_cast<const volatile uint64_t*>(address);
    return true;
  }
};

inline constexpr PlainMemory kOwnMemory = PlainMemory();

// The text at `address` up to its NUL, at most 1 KiB; "" if it cannot be read.
std::string ReadText(const MemoryReader& memory, uint64_t address);

// Reads memory of this process through the kernel, so that any address is allowed. Every read fails
// where the kernel permits no process_vm_readv, as in some containers and emulators. Keeps errno.
class KernelMemory final : public MemoryReader {
 public:
  bool ReadWord(uint64_t address, uint64_t& word) const override;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_STRUCTS_MEMORY_H_
