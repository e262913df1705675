// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/shard.h"

#include <fmt/format.h>

#include <charconv>

namespace walkhammer {

std::string Shard::Text() const { return is_all() ? "" : fmt::format("{}/{}", index + 1, count); }

Result<Shard> ParseShard(const std::string& text) {
  if (text.empty()) return Shard{};
  Shard shard;
  const char* const end = text.data() + text.size();
  const auto [slash, error] = std::from_chars(text.data(), end, shard.index);
  const bool has_count = error == std::errc() && slash != end && *slash == '/';
  const auto [rest, wrong] = has_count ? std::from_chars(slash + 1, end, shard.count)
                                       : std::from_chars_result{slash, error};
  if (!has_count || wrong != std::errc() || rest != end || shard.index < 1 ||
      shard.index > shard.count || shard.count > Shard::kMost)
    return BadInput(
        fmt::format("--shard must be I/N with I from 1 to N, as 2/8, and N at most {}, "
                    "not \"{}\"",
                    Shard::kMost, text));
  shard.index--;
  return shard;
}

}  // namespace walkhammer
