// SPDX-License-Identifier: Apache-2.0
// The part of RunDb for the runs that a folder holds, and for what tells one run from another.
#include <fmt/format.h>
#include <sys/random.h>

#include <array>

#include "harness/base/hash.h"
#include "harness/store/run_tables.h"

namespace walkhammer {
namespace {

// 128 bits over texts, as 32 hex digits. Tells runs apart, and does not withstand who forges one.
class TextHash {
 public:
  void Add(std::string_view text) {
    for (const char c : text) AddByte(static_cast<uint8_t>(c));
    AddByte(0xff);  // in no UTF-8, so that the ends of texts count
  }
  std::string Digits() const { return fmt::format("{:016x}{:016x}", Scramble(one_), other_); }

 private:
  void AddByte(uint8_t byte) {
    one_ = Fnv1a(one_, byte);
    other_ = Mix(other_, byte);
  }
  uint64_t one_ = kFnvBegin, other_ = 0;
};

}  // namespace

std::string NewRunId() {
  std::array<uint64_t, 2> random{};
  // At least 256 bytes always come in one piece: getrandom(2).
  if (getrandom(random.data(), sizeof random, 0) != sizeof random) return "";
  return fmt::format("{:016x}{:016x}", random[0], random[1]);
}

std::string IdOfRuns(const std::vector<std::string>& ids) {
  TextHash hash;
  for (const std::string& id : ids) hash.Add(id);
  return hash.Digits();
}

Result<std::vector<PartRow>> RunDb::Parts() const {
  ASSIGN_OR_RETURN(auto parts,
                   ReadAll<PartRow>(Statement(
                       db_, "SELECT " + NamesOf<PartRow>() + " FROM part ORDER BY position")));
  if (!parts.empty()) return parts;
  ASSIGN_OR_RETURN(RunRow run, Run());
  parts.push_back({std::move(run.identity), run.totals, run.status, std::move(run.reason)});
  return parts;
}

}  // namespace walkhammer
