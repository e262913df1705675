// SPDX-License-Identifier: Apache-2.0
#include "fuzzers/block_credits.h"

#include <cstring>

namespace walkhammer {

void BlockCredits::Settle(uint64_t input, uint8_t* counters, size_t count) {
  // Nearly all counters are zero, so eight are tested at a time.
  for (size_t at = 0; at < count; at += 8) {
    uint64_t eight;
    std::memcpy(&eight, counters + at, sizeof eight);
    if (eight == 0) continue;
    for (size_t block = at; block < at + 8; block++) {
      if (counters[block] == 0) continue;
      if (of_block_[block] == 0) {
        of_block_[block] = input;
        filter_[input % kFilterBits / 8] |= static_cast<uint8_t>(1 << input % 8);
      }
      if (of_block_[block] != input) counters[block] = 0;
    }
  }
  if (MayHaveCredit(input)) Show(input, counters, count);
}

void BlockCredits::Show(uint64_t input, uint8_t* counters, size_t count) const {
  for (size_t block = 0; block < count; block++)
    if (of_block_[block] == input) counters[block] = 1;
}

}  // namespace walkhammer
