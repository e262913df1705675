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

// Of a run that was recorded without an id: over its identity, totals and buckets.
Result<std::string> IdByContent(const Database& db, int schema) {
  TextHash hash;
  Statement run(db, "SELECT " + NamesOf<StoredRun>(schema) + " FROM run");
  size_t columns = 0;
  EachColumn<StoredRun>([&](const char*, const char*, const ColumnInfo&) { columns++; });
  RETURN_IF_ERROR(ForEach(run, [&](Statement& row) {
    for (size_t i = 0; i < columns; i++) hash.Add(row.Text());
  }));
  Statement buckets(db, "SELECT key, seen FROM bucket ORDER BY key");
  RETURN_IF_ERROR(ForEach(buckets, [&](Statement& row) {
    hash.Add(row.Text());
    hash.Add(row.Text());
  }));
  return hash.Digits();
}

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
  std::vector<PartRow> parts;
  if (schema_ >= 9) {
    ASSIGN_OR_RETURN(parts, ReadAll<PartRow>(Statement(db_, "SELECT " + NamesOf<PartRow>(schema_) +
                                                                " FROM part ORDER BY position")));
  }
  if (!parts.empty()) return parts;
  ASSIGN_OR_RETURN(RunRow run, Run());
  if (run.identity.run_id.empty()) {
    ASSIGN_OR_RETURN(run.identity.run_id, IdByContent(db_, schema_));
  }
  parts.push_back({std::move(run.identity), run.totals, run.status, std::move(run.reason)});
  return parts;
}

}  // namespace walkhammer
