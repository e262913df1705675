// SPDX-License-Identifier: Apache-2.0
// NumberStream: reads a sequence of bytes and compressed numbers, the form in which HotSpot stores
// debug information and line number tables. Signal-safe: yes, if the MemoryReader is.
#ifndef WALKHAMMER_HARNESS_ASGST_WALK_NUMBER_STREAM_H_
#define WALKHAMMER_HARNESS_ASGST_WALK_NUMBER_STREAM_H_

#include <cstdint>

#include "harness/jvm/structs/memory.h"

namespace walkhammer::asgst {

class NumberStream {
 public:
  // `null_free`: true for JDK 20 and later, where no byte of a number is zero (JDK-8292758). `at`:
  // address of the first byte. `memory` must outlive the stream.
  NumberStream(const MemoryReader& memory, bool null_free, uint64_t at)
      : memory_(memory), excluded_(null_free ? 1 : 0), at_(at) {}

  // Address of the next byte to read.
  uint64_t at() const { return at_; }

  // Reads a byte. Returns false if memory cannot be read.
  bool Byte(uint8_t& byte) {
    if ((at_ & ~7ULL) != word_at_) {
      word_at_ = at_ & ~7ULL;
      if (!memory_.ReadWord(word_at_, word_)) return false;
    }
    byte = static_cast<uint8_t>(word_ >> (8 * (at_ & 7)));
    at_++;
    return true;
  }

  // Reads a number in HotSpot's UNSIGNED5 encoding: one to five bytes, least significant first.
  // After a byte of 192 or more, another byte follows, unless it is the fifth. In the null-free
  // form, 1 is added to each byte's digit. Returns false if memory cannot be read, or a byte is 0
  // in that form.
  bool Number(uint32_t& number) {
    constexpr uint32_t kHigh = 64;
    const uint32_t low = 256 - excluded_ - kHigh;
    number = 0;
    for (int i = 0; i < 5; i++) {
      uint8_t byte = 0;
      if (!Byte(byte) || byte < excluded_) return false;
      number += (byte - excluded_) << (6 * i);
      if (byte < excluded_ + low) return true;
    }
    return true;
  }

  // Reads a signed number, whose lowest bit is the sign: 0, -1, 1, -2, ...
  bool Signed(int32_t& number) {
    uint32_t coded = 0;
    if (!Number(coded)) return false;
    number = static_cast<int32_t>((coded >> 1) ^ (0 - (coded & 1)));
    return true;
  }

 private:
  const MemoryReader& memory_;
  const uint32_t excluded_;
  uint64_t at_;
  uint64_t word_ = 0, word_at_ = 1;  // the word read last, and its address
};

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_WALK_NUMBER_STREAM_H_
