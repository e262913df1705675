// SPDX-License-Identifier: Apache-2.0
// BlockCredits: makes trap coverage repeatable. A trap fires only for the first input that enters
// its block, but AFL++ runs each input that found something several times, and calls the input
// variable if its coverage differs. So BlockCredits credits a block to the input that entered it
// first, shows the block whenever that input runs, and never shows it for another input, not even
// in a successor process, whose traps are all new. Plain memory, shared by all generations of a
// target; all zero: no block is credited. Signal-safe: yes.
#ifndef WALKHAMMER_FUZZERS_BLOCK_CREDITS_H_
#define WALKHAMMER_FUZZERS_BLOCK_CREDITS_H_

#include <cstddef>
#include <cstdint>

namespace walkhammer {

class BlockCredits {
 public:
  static constexpr size_t kMost = 16384;  // blocks

  // Call after each run. Changes `counters`, one byte per block, to what the input with hash
  // `input` (not 0) always shows. `count`: number of counters, at most kMost and a multiple of 8.
  void Settle(uint64_t input, uint8_t* counters, size_t count);

 private:
  static constexpr size_t kFilterBits = 1 << 16;

  void Show(uint64_t input, uint8_t* counters, size_t count) const;
  bool MayHaveCredit(uint64_t input) const {
    return (filter_[input % kFilterBits / 8] >> input % 8 & 1) != 0;
  }

  uint8_t filter_[kFilterBits / 8];  // bit (hash % kFilterBits) of each input with credit
  uint64_t of_block_[kMost];         // hash of the credited input; 0: none yet
};

}  // namespace walkhammer

#endif  // WALKHAMMER_FUZZERS_BLOCK_CREDITS_H_
