// SPDX-License-Identifier: Apache-2.0
// --shard I/N: one of N parts of a campaign, for as many machines. Together the parts do what the
// campaign does without --shard, each piece once. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_SHARD_H_
#define WALKHAMMER_HARNESS_CLI_SHARD_H_

#include <cstdint>
#include <string>

#include "harness/base/result.h"

namespace walkhammer {

struct Shard {
  static constexpr uint64_t kMost = 100'000;

  uint64_t index = 0;  // from 0
  uint64_t count = 1;  // at most kMost

  bool is_all() const { return count == 1; }
  // How many of `pieces`, which are dealt round, this shard has.
  uint64_t SizeOf(uint64_t pieces) const {
    return pieces <= index ? 0 : (pieces - index - 1) / count + 1;
  }
  std::string Text() const;  // "2/8"; empty if it is all
};

// Reads "2/8"; "" is all.
Result<Shard> ParseShard(const std::string& text);

inline constexpr char kShardHelp[] =
    "Only part I of N, counted from 1. All N parts together are the whole campaign";

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_SHARD_H_
