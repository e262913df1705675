// SPDX-License-Identifier: Apache-2.0
// The contract between a JVM's vmStructs and those who read them: which entries profilers need, and
// which of them another build of the JVM has lost or changed. Offsets may change: readers look them
// up. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_JVM_IMAGES_STRUCT_CONTRACT_H_
#define WALKHAMMER_HARNESS_JVM_IMAGES_STRUCT_CONTRACT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/jvm/images/struct_tables.h"

namespace walkhammer {

enum class StructKind : uint8_t { kField, kStatic, kSize, kConstant, kSymbol, kFlag };

// What a reader reads.
struct StructNeed {
  struct Alternative {
    std::string name;   // "nmethod::_state"
    std::string since;  // the reader's version that reads this name; empty: all
  };
  std::string reader, feature;  // who, and what for
  bool needed = true;           // false: the reader does without
  StructKind kind{};
  std::optional<int64_t> value;           // of a size or constant that the reader has in its code
  uint64_t bytes = 0;                     // that the reader reads of a field; 0: all of it
  std::vector<Alternative> alternatives;  // any of them will do
};

// Reads a table of needs, see the head of corpora/vmstructs/readers.tsv. `text` is its content;
// `path` names it in failures, which are kBadInput with the line.
Result<std::vector<StructNeed>> ParseStructNeeds(const std::string& text, const std::string& path);
// The table that comes with walkhammer, beside the executable.
Result<std::vector<StructNeed>> ReadStructNeeds();

// Leaves the needs of the readers "NAME" or "NAME@VERSION" alone, and of these what that version
// reads. Fails with kBadInput for a reader that the table does not have.
Status ChooseReaders(const std::vector<std::string>& readers, std::vector<StructNeed>& needs);

// What became of an entry that reader reads from `before` to `after`.
struct StructChange {
  enum class What : uint8_t {
    kLost,      // no name of it is left
    kChanged,   // it is read wrongly: another width, static or not, another fixed value
    kReplaced,  // by another name, which the reader's version `since` and later know
  };
  What what;
  bool needed;
  std::string reader, feature, entry;
  std::string details;  // "int of 4 bytes became short of 2 bytes"; the other name
  std::string since;    // of a replaced one; empty: all versions of the reader
};

const char* StructChangeWord(StructChange::What what);  // "lost", "changed", "replaced"

// A change that breaks a reader: the gate's row `lost-struct`.
inline bool Breaks(const StructChange& change) {
  return change.needed && change.what != StructChange::What::kReplaced;
}

struct StructComparison {
  std::vector<StructChange> changes;  // those that break a reader first
  size_t compared = 0;                // needs that `before` has
  std::vector<std::string> absent;    // needs that neither has, by first name
};

StructComparison CompareStructs(const StructTables& before, const StructTables& after,
                                const std::vector<StructNeed>& needs);

// The changes that break a reader of the table that comes with walkhammer, from one JDK to another.
// The arguments are homes of JDKs. For the gate.
Result<std::vector<StructChange>> LostStructs(const std::string& baseline,
                                              const std::string& candidate);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_IMAGES_STRUCT_CONTRACT_H_
