// SPDX-License-Identifier: Apache-2.0
#include "harness/jvm/images/struct_contract.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "harness/base/files.h"
#include "harness/base/names.h"
#include "harness/base/text.h"
#include "harness/jvm/images/jdk.h"

namespace walkhammer {
namespace {

using What = StructChange::What;

// A declared type as a reader meets it: how many bytes, and whether they are a pointer.
struct FieldShape {
  bool is_pointer = false;
  uint64_t bytes = 0;  // 0: unknown
  // Whether a reader of `read` bytes (0: of all) meets something else in `other`.
  bool Differs(const FieldShape& other, uint64_t read) const {
    if (is_pointer != other.is_pointer) return true;
    if (bytes == 0 || other.bytes == 0) return false;
    return read == 0 ? bytes != other.bytes : bytes >= read && other.bytes < read;
  }
};

std::string Plain(std::string type) {
  for (const char* word : {"const ", "volatile ", " const", " volatile"})
    for (size_t at = type.find(word); at != type.npos; at = type.find(word))
      type.erase(at, std::string_view(word).size());
  return std::string(Trim(type));
}

FieldShape FieldShapeOf(const std::string& declared, const StructTables& tables) {
  const std::string type = Plain(declared);
  if (type.ends_with('*') || type == "address" || type == "oop") return {true, 8};
  const auto size = tables.sizes.find(type);
  return {false, size == tables.sizes.end() ? 0 : size->second};
}

std::string ShapeText(const std::string& declared, const FieldShape& shape) {
  if (shape.is_pointer || shape.bytes == 0) return declared;
  return fmt::format("{} of {} bytes", declared, shape.bytes);
}

bool Has(const StructTables& tables, StructKind kind, const std::string& name) {
  switch (kind) {
    case StructKind::kField:
    case StructKind::kStatic: {
      const auto field = tables.fields.find(name);
      return field != tables.fields.end() &&
             field->second.is_static == (kind == StructKind::kStatic);
    }
    case StructKind::kSize:
      return tables.sizes.contains(name);
    case StructKind::kConstant:
      return tables.constants.contains(name);
    case StructKind::kSymbol:
      return tables.symbols.contains(name);
    case StructKind::kFlag:
      return tables.flags.contains(name);
  }
  return false;
}

const StructNeed::Alternative* FirstOf(const StructTables& tables, const StructNeed& need) {
  for (const auto& alternative : need.alternatives)
    if (Has(tables, need.kind, alternative.name)) return &alternative;
  return nullptr;
}

// Whether both files tell of such entries at all.
bool Comparable(const StructTables& before, const StructTables& after, const StructNeed& need) {
  if (need.kind == StructKind::kFlag) return !before.flags.empty() && !after.flags.empty();
  const bool is_local =
      need.kind == StructKind::kSymbol && need.alternatives.front().name.starts_with("_Z");
  return !is_local || (before.has_local_symbols && after.has_local_symbols);
}

// How the entry `name`, which both have, is read wrongly in `after`; empty: it is not.
std::string Misread(const StructTables& before, const StructTables& after, const StructNeed& need,
                    const std::string& name) {
  if (need.kind == StructKind::kField || need.kind == StructKind::kStatic) {
    const std::string &was = before.fields.at(name).type, &is = after.fields.at(name).type;
    const FieldShape old_shape = FieldShapeOf(was, before), new_shape = FieldShapeOf(is, after);
    if (!old_shape.Differs(new_shape, need.bytes)) return "";
    return fmt::format("{} became {}", ShapeText(was, old_shape), ShapeText(is, new_shape));
  }
  if (!need.value) return "";
  const auto number = [&](const StructTables& tables) {
    return need.kind == StructKind::kSize ? static_cast<int64_t>(tables.sizes.at(name))
                                          : tables.constants.at(name);
  };
  const int64_t was = number(before), is = number(after);
  if (was != *need.value || is == *need.value) return "";
  return fmt::format("{} became {}; the reader's own code has {}", was, is, *need.value);
}

std::optional<StructChange> ChangeOf(const StructTables& before, const StructTables& after,
                                     const StructNeed& need, const StructNeed::Alternative& was) {
  StructChange change{What::kLost, need.needed, need.reader, need.feature, was.name, "", ""};
  const StructNeed::Alternative* is = FirstOf(after, need);
  if (is == nullptr) {
    if (const auto other = after.fields.find(was.name);
        other != after.fields.end() && before.fields.contains(was.name)) {
      change.what = What::kChanged;
      change.details = other->second.is_static ? "became static" : "is not static any more";
    }
    return change;
  }
  if (is->name != was.name && !Has(after, need.kind, was.name)) {
    change.what = What::kReplaced;
    change.details = is->name;
    change.since = is->since;
    return change;
  }
  change.details = Misread(before, after, need, was.name);
  if (change.details.empty()) return std::nullopt;
  change.what = What::kChanged;
  return change;
}

// True if dotted number `a` is at most `b`: "3.0" and "4.1".
bool AtMost(std::string_view a, std::string_view b) {
  const auto left = Split(a, '.'), right = Split(b, '.');
  for (size_t i = 0; i < std::max(left.size(), right.size()); i++) {
    const auto number = [i](const std::vector<std::string>& parts) {
      int value = 0;
      if (i < parts.size())
        std::from_chars(parts[i].data(), parts[i].data() + parts[i].size(), value);
      return value;
    };
    if (number(left) != number(right)) return number(left) < number(right);
  }
  return true;
}

// "field", "field/2", "static", "size", "size=16", ...
bool ParseKind(const std::string& word, StructNeed& need) {
  static constexpr const char* kWords[] = {"field", "static", "size", "constant", "symbol", "flag"};
  const size_t mark = word.find_first_of("=/");
  const auto kind = std::find(std::begin(kWords), std::end(kWords), word.substr(0, mark));
  if (kind == std::end(kWords)) return false;
  need.kind = static_cast<StructKind>(kind - std::begin(kWords));
  if (mark == word.npos) return true;
  int64_t number = 0;
  const char* end = word.data() + word.size();
  const auto read = std::from_chars(word.data() + mark + 1, end, number);
  if (read.ec != std::errc() || read.ptr != end) return false;
  if (word[mark] == '/') {
    need.bytes = static_cast<uint64_t>(number);
    return number > 0 && (need.kind == StructKind::kField || need.kind == StructKind::kStatic);
  }
  need.value = number;
  return need.kind == StructKind::kSize || need.kind == StructKind::kConstant;
}

}  // namespace

const char* StructChangeWord(What what) {
  switch (what) {
    case What::kLost:
      return "lost";
    case What::kChanged:
      return "changed";
    case What::kReplaced:
      return "replaced";
  }
  return "";
}

Result<std::vector<StructNeed>> ParseStructNeeds(const std::string& text, const std::string& path) {
  std::vector<StructNeed> needs;
  size_t number = 0;
  for (const std::string& line : Split(text, '\n')) {
    number++;
    if (Trim(line).empty() || line.starts_with('#')) continue;
    const auto columns = Split(line, '\t');
    StructNeed need;
    const auto entries = columns.size() == 5 ? Words(columns[4]) : std::vector<std::string>();
    if (entries.empty() || columns[0].empty() ||
        (columns[1] != "needed" && columns[1] != "optional") || !ParseKind(columns[3], need))
      return BadInput(
          fmt::format("{}:{}: a line is a reader, needed or optional, a feature, a kind "
                      "and entries, by tabs; the head of corpora/vmstructs/readers.tsv "
                      "describes them",
                      path, number));
    need.reader = columns[0];
    need.needed = columns[1] == "needed";
    need.feature = columns[2];
    for (const std::string& entry : entries) {
      need.alternatives.clear();
      for (const std::string& name : Split(entry, '|')) {
        const size_t at = name.find('@');
        need.alternatives.push_back(
            {name.substr(0, at), at == name.npos ? "" : name.substr(at + 1)});
      }
      needs.push_back(need);
    }
  }
  if (needs.empty()) return BadInput(path + " has no line that says what a reader reads");
  return needs;
}

Result<std::vector<StructNeed>> ReadStructNeeds() {
  const std::string path = BesideExecutable("vmstructs/readers.tsv");
  return ParseStructNeeds(ReadFile(path), path);
}

Status ChooseReaders(const std::vector<std::string>& readers, std::vector<StructNeed>& needs) {
  if (readers.empty()) return Ok();
  std::vector<StructNeed> chosen;
  for (const std::string& reader : readers) {
    const size_t at = reader.find('@'), before = chosen.size();
    const std::string name = reader.substr(0, at);
    for (StructNeed need : needs) {
      if (need.reader != name) continue;
      if (at != reader.npos)
        std::erase_if(need.alternatives, [&](const StructNeed::Alternative& alternative) {
          return !alternative.since.empty() && !AtMost(alternative.since, reader.substr(at + 1));
        });
      if (!need.alternatives.empty()) chosen.push_back(std::move(need));
    }
    if (chosen.size() == before) return BadInput("the table has no reader " + name);
  }
  needs = std::move(chosen);
  return Ok();
}

StructComparison CompareStructs(const StructTables& before, const StructTables& after,
                                const std::vector<StructNeed>& needs) {
  StructComparison out;
  for (const StructNeed& need : needs) {
    if (!Comparable(before, after, need)) continue;
    const StructNeed::Alternative* was = FirstOf(before, need);
    if (was == nullptr) {
      if (FirstOf(after, need) == nullptr) out.absent.push_back(need.alternatives.front().name);
      continue;
    }
    out.compared++;
    if (auto change = ChangeOf(before, after, need, *was)) out.changes.push_back(*change);
  }
  const auto rank = [](const StructChange& change) {
    return Breaks(change) ? 0 : change.what != What::kReplaced ? 1 : 2;
  };
  std::stable_sort(out.changes.begin(), out.changes.end(),
                   [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  return out;
}

Result<std::vector<StructChange>> LostStructs(const std::string& baseline,
                                              const std::string& candidate) {
  ASSIGN_OR_RETURN(const auto needs, ReadStructNeeds());
  StructTables sides[2];
  for (size_t side = 0; side < 2; side++) {
    ASSIGN_OR_RETURN(const Jdk jdk, OpenAnyJvm(side == 0 ? baseline : candidate));
    ASSIGN_OR_RETURN(sides[side], ReadStructTables(jdk.libjvm, jdk.debug_file));
  }
  std::vector<StructChange> changes = CompareStructs(sides[0], sides[1], needs).changes;
  std::erase_if(changes, [](const StructChange& change) { return !Breaks(change); });
  return changes;
}

}  // namespace walkhammer
