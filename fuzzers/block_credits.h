// SPDX-License-Identifier: Apache-2.0
// BlockCredits: makes coverage repeatable that shows each block only once. A trap fires for the
// first input that enters its block; AFL++ runs an input that found something again, several times,
// and calls it variable when it shows something else. So a block is credited to the input that
// entered it first: shown whenever that input runs, and never for another one, not even in a
// successor, whose traps are all new. Plain memory, to be shared by all generations of a target;
// all zero: nobody has credit. Signal-safe: yes.
#ifndef WALKHAMMER_FUZZERS_BLOCK_CREDITS_H_
#define WALKHAMMER_FUZZERS_BLOCK_CREDITS_H_

#include <cstddef>
#include <cstdint>

namespace walkhammer {

class BlockCredits {
 public:
  static constexpr size_t kMost = 16384;  // blocks

  // After the run of the input with hash `input` (not 0): `counters`, one byte a block, become what
  // that input always shows. `count` is at most kMost and a multiple of 8.
  void Settle(uint64_t input, uint8_t* counters, size_t count);

 private:
  static constexpr size_t kFilterBits = 1 << 16;

  void Show(uint64_t input, uint8_t* counters, size_t count) const;
  bool MayHaveCredit(uint64_t input) const {
    return (filter_[input % kFilterBits / 8] >> input % 8 & 1) != 0;
  }

  uint8_t filter_[kFilterBits / 8];  // of all that have credit
  uint64_t of_block_[kMost];         // hash of the input; 0: nobody's yet
};

}  // namespace walkhammer

#endif  // WALKHAMMER_FUZZERS_BLOCK_CREDITS_H_
