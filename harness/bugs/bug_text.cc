// SPDX-License-Identifier: Apache-2.0
#include "harness/bugs/bug_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/nearest.h"
#include "harness/base/text.h"
#include "harness/base/toml.h"
#include "harness/request/walker_table.h"

namespace walkhammer {
namespace {

constexpr int kMostNumber = 1'000'000;
using Field = BugKey::Field;
using Form = BugKey::Form;

constexpr BugKey kKeys[] = {
    {"", "title", [](Bug& bug) -> Field { return &bug.title; }},
    {"", "signatures", [](Bug& bug) -> Field { return &bug.signatures; }},
    {"", "state", [](Bug& bug) -> Field { return &bug.state; }},
    {"", "duplicate-of", [](Bug& bug) -> Field { return &bug.duplicate_of; }},
    {"", "reason", [](Bug& bug) -> Field { return &bug.reason; }},
    {"", "until", [](Bug& bug) -> Field { return &bug.until; }},
    {"", "fixed-in", [](Bug& bug) -> Field { return &bug.fixed_in; }},
    {"", "affected", [](Bug& bug) -> Field { return &bug.affected; }, Form::kRanges},
    {"", "affected-libraries", [](Bug& bug) -> Field { return &bug.affected_libraries; },
     Form::kLibraries},
    {"", "upstream", [](Bug& bug) -> Field { return &bug.upstream; }},
    {"", "upstream-status", [](Bug& bug) -> Field { return &bug.upstream_status; }},
    {"", "cause", [](Bug& bug) -> Field { return &bug.cause; }},
    {"", "trigger", [](Bug& bug) -> Field { return &bug.trigger; }},
    {"", "class", [](Bug& bug) -> Field { return &bug.bug_class; }},
    {"", "walkers", [](Bug& bug) -> Field { return &bug.walkers; }, Form::kWalkers},
    {"", "requests", [](Bug& bug) -> Field { return &bug.requests; }},
    {"", "like", [](Bug& bug) -> Field { return &bug.like; }},
    {"", "flags", [](Bug& bug) -> Field { return &bug.flags; }},
    {"", "provider", [](Bug& bug) -> Field { return &bug.provider; }},
    {"", "notes", [](Bug& bug) -> Field { return &bug.notes; }, Form::kLines},
    {"", "builds", [](Bug& bug) -> Field { return &bug.builds; }},
    {"", "evidence", [](Bug& bug) -> Field { return &bug.evidence; }},
    {"first-seen", "build", [](Bug& bug) -> Field { return &bug.first_seen.build; }},
    {"first-seen", "build-id", [](Bug& bug) -> Field { return &bug.first_seen.build_id; }},
    {"first-seen", "run", [](Bug& bug) -> Field { return &bug.first_seen.run; }},
    {"first-seen", "date", [](Bug& bug) -> Field { return &bug.first_seen.date; }, Form::kTime},
    {"last-seen", "build", [](Bug& bug) -> Field { return &bug.last_seen.build; }},
    {"last-seen", "build-id", [](Bug& bug) -> Field { return &bug.last_seen.build_id; }},
    {"last-seen", "run", [](Bug& bug) -> Field { return &bug.last_seen.run; }},
    {"last-seen", "date", [](Bug& bug) -> Field { return &bug.last_seen.date; }, Form::kTime},
    {"reproduced", "build", [](Bug& bug) -> Field { return &bug.reproduced.build; }},
    {"reproduced", "shown", [](Bug& bug) -> Field { return &bug.reproduced.shown; }},
    {"reproduced", "of", [](Bug& bug) -> Field { return &bug.reproduced.of; }},
    {"crash", "functions", [](Bug& bug) -> Field { return &bug.crash.functions; }},
    {"crash", "check", [](Bug& bug) -> Field { return &bug.crash.check; }},
    {"crash", "whose", [](Bug& bug) -> Field { return &bug.crash.whose; }},
    {"crash", "aarch64-only", [](Bug& bug) -> Field { return &bug.crash.aarch64_only; }},
    {"crash", "debug-only", [](Bug& bug) -> Field { return &bug.crash.debug_only; }},
    {"crash", "no-walker", [](Bug& bug) -> Field { return &bug.crash.no_walker; }},
    {"proof", "with", [](Bug& bug) -> Field { return &bug.proof.with; }},
    {"proof", "without", [](Bug& bug) -> Field { return &bug.proof.without; }},
    {"proof", "budget", [](Bug& bug) -> Field { return &bug.proof.budget; }},
    {"proof", "silent", [](Bug& bug) -> Field { return &bug.proof.silent; }},
    {"proof", "fuzz", [](Bug& bug) -> Field { return &bug.proof.fuzz; }},
    {"proof", "stress", [](Bug& bug) -> Field { return &bug.proof.stress; }},
    {"proof", "bucket", [](Bug& bug) -> Field { return &bug.proof.bucket; }},
    {"proof", "scene", [](Bug& bug) -> Field { return &bug.proof.scene; }},
    {"proof", "not-found", [](Bug& bug) -> Field { return &bug.proof.not_found; }},
};

// Keys that one state needs, and the others do not take.
struct StateKey {
  const char* name;
  BugState state;
};
constexpr StateKey kStateKeys[] = {{"duplicate-of", BugState::kDuplicate},
                                   {"reason", BugState::kAccepted},
                                   {"until", BugState::kAccepted},
                                   {"fixed-in", BugState::kFixed}};

bool IsOneLine(const std::string& text) { return Tame(text, text.size()) == Trim(text); }

// What is wrong with a text of this form; "" if nothing is.
std::string WrongText(Form form, const std::string& text) {
  if (form == Form::kWalkers && !FindWalker(text)) {
    std::vector<std::string_view> names;
    for (const WalkerInfo& walker : AllWalkers()) names.emplace_back(walker.name);
    return fmt::format("there is no walker \"{}\"; did you mean \"{}\"?", text,
                       NearestNames(text, names, 1).front());
  }
  if (form != Form::kRanges && form != Form::kLibraries) return "";
  const size_t name = form == Form::kLibraries ? std::min(text.find(' '), text.size()) : 0;
  const auto ranges = ParseVersionRanges(std::string_view(text).substr(name));
  if (!ranges.ok()) return ranges.failure().message;
  return ranges.value().empty() ? fmt::format("\"{}\" names no versions, such as [17,17.0.9)", text)
                                : "";
}

// Reads the value of one key into a field of the type that Field holds.
struct ValueReader {
  const std::string& file;
  const toml::key& key;
  const toml::node& node;
  Form form;

  Failure Must(std::string_view be) const {
    return BadToml(file, key.source(), fmt::format("{} must be {}", key.str(), be));
  }

  Status operator()(std::string* field) const {
    if (form == Form::kTime) return ReadTime(*field);
    const auto text = node.value<std::string>();
    const bool many_lines = form == Form::kLines;
    if (!node.is_string() || !text || (!many_lines && !IsOneLine(*text)))
      return Must(many_lines ? "a text in quotes" : "a text in quotes, on one line");
    *field = *text;
    if (const std::string wrong = WrongText(form, *text); !wrong.empty())
      return BadToml(file, node.source(), fmt::format("{}: {}", key.str(), wrong));
    return Ok();
  }

  Status operator()(std::vector<std::string>* field) const {
    const toml::array* array = node.as_array();
    if (array == nullptr) return Must("a list of texts, [\"...\"]");
    for (const toml::node& part : *array) {
      const auto text = part.value<std::string>();
      if (!part.is_string() || !text || Trim(*text).empty() || !IsOneLine(*text))
        return BadToml(file, part.source(),
                       fmt::format("{} must hold texts in quotes, each on one line", key.str()));
      if (const std::string wrong = WrongText(form, *text); !wrong.empty())
        return BadToml(file, part.source(), fmt::format("{}: {}", key.str(), wrong));
      field->push_back(*text);
    }
    return Ok();
  }

  Status operator()(int* field) const {
    const auto number = node.value_exact<int64_t>();
    if (!number || *number < 0 || *number > kMostNumber)
      return Must(fmt::format("a whole number from 0 to {}", kMostNumber));
    *field = static_cast<int>(*number);
    return Ok();
  }

  Status operator()(bool* field) const {
    const auto flag = node.value_exact<bool>();
    if (!flag) return Must("true or false, without quotes");
    *field = *flag;
    return Ok();
  }

  Status operator()(std::optional<Day>* field) const {
    const auto* value = node.as_date();
    if (value == nullptr) return Must("a day, without quotes, such as 2026-12-31");
    const toml::date& day = value->get();
    *field =
        Day(std::chrono::year(day.year), std::chrono::month(day.month), std::chrono::day(day.day));
    return Ok();
  }

  Status operator()(BugState* field) const {
    const auto word = node.value<std::string>();
    const auto state = word ? BugStateFromWord(*word) : std::nullopt;
    if (!state) return Must("\"open\", \"duplicate\", \"accepted\" or \"fixed\"");
    *field = *state;
    return Ok();
  }

  Status ReadTime(std::string& field) const {
    const auto* value = node.as_date_time();
    if (value == nullptr || (value->get().offset && value->get().offset->minutes != 0))
      return Must("a time, UTC and without quotes, such as 2026-12-31T23:59:59Z");
    const toml::date_time& time = value->get();
    field = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", int{time.date.year},
                        int{time.date.month}, int{time.date.day}, int{time.time.hour},
                        int{time.time.minute}, int{time.time.second});
    return Ok();
  }
};

class BugReader {
 public:
  explicit BugReader(const std::string& name) : name_(name) {}

  Result<ParsedBug> Read(const toml::table& all) {
    RETURN_IF_ERROR(ReadTable("", all));
    RETURN_IF_ERROR(CheckState(all));
    if (Trim(bug().title).empty()) return Whole("a bug must have a title");
    if (bug().signatures.empty()) return Whole("a bug must have signatures, at least one");
    if (bug().reproduced.shown > bug().reproduced.of)
      return At(all.get("reproduced")->source(), "of reproduced, shown must not be more than of");
    const BugProof& proof = bug().proof;
    if (proof != BugProof{} && (AffectedByVersion(bug(), proof.with) != Affected::kYes ||
                                AffectedByVersion(bug(), proof.without) != Affected::kNo))
      return At(all.get("proof")->source(),
                "of proof, with must be a version of affected, and without one of fixed-in");
    return std::move(parsed_);
  }

 private:
  Bug& bug() { return parsed_.bug; }
  Failure At(const toml::source_region& place, std::string_view what) const {
    return BadToml(name_, place, what);
  }
  Failure Whole(std::string_view what) const {
    return BadInput(fmt::format("{}:1: {}", name_, what));
  }

  Status ReadTable(std::string_view table, const toml::table& values) {
    for (const auto& [key, node] : values) {
      if (table.empty()) parsed_.lines[std::string(key.str())] = key.source().begin.line;
      RETURN_IF_ERROR(ReadKey(table, key, node));
    }
    return Ok();
  }

  Status ReadKey(std::string_view table, const toml::key& key, const toml::node& node) {
    std::vector<std::string_view> names;
    for (const BugKey& known : kKeys) {
      if (table == known.table && key.str() == known.name)
        return std::visit(ValueReader{name_, key, node, known.form}, known.field(bug()));
      if (table.empty() && key.str() == known.table)
        return node.is_table()
                   ? ReadTable(known.table, *node.as_table())
                   : At(key.source(), fmt::format("{0} must be a table, [{0}]", key.str()));
      if (table == known.table) names.emplace_back(known.name);
      if (table.empty() && known.table[0] != 0) names.emplace_back(known.table);
    }
    return At(key.source(), fmt::format("there is no key \"{}\"; did you mean \"{}\"?", key.str(),
                                        NearestNames(key.str(), names, 1).front()));
  }

  Status CheckState(const toml::table& all) {
    if (!all.contains("state")) return Whole("a bug must have a state");
    for (const StateKey& key : kStateKeys) {
      const toml::node* node = all.get(key.name);
      if (node != nullptr && bug().state != key.state)
        return At(node->source(),
                  fmt::format("{} is for state \"{}\", and the state is \"{}\"", key.name,
                              BugStateWord(key.state), BugStateWord(bug().state)));
      if (node == nullptr && bug().state == key.state)
        return At(all.get("state")->source(),
                  fmt::format("state \"{}\" needs the key {}", BugStateWord(key.state), key.name));
    }
    if (bug().state != BugState::kFixed) return Ok();
    const auto versions = FixedVersions(bug().fixed_in);
    if (!versions.ok()) return At(all.get("fixed-in")->source(), versions.failure().message);
    return Ok();
  }

  const std::string& name_;
  ParsedBug parsed_;
};

// `text` as TOML. `many_lines`: with real line ends, for people.
std::string TomlString(std::string_view text, bool many_lines = false) {
  std::string quoted;
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if ((static_cast<unsigned char>(c) < 0x20 || c == 0x7f) && !(many_lines && c == '\n')) {
      quoted += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      quoted += c;
    }
  }
  return many_lines ? "\"\"\"\n" + quoted + "\"\"\"" : "\"" + quoted + "\"";
}

// The value of a field as TOML; "" for none.
struct ValueWriter {
  Form form;

  std::string operator()(const std::string* text) const {
    if (text->empty() || form == Form::kTime) return *text;
    return TomlString(*text, form == Form::kLines && text->find('\n') != std::string::npos);
  }
  std::string operator()(const std::vector<std::string>* texts) const {
    std::string list;
    for (const std::string& text : *texts) list += fmt::format("  {},\n", TomlString(text));
    return list.empty() ? "" : "[\n" + list + "]";
  }
  std::string operator()(const int* number) const {
    return *number == 0 ? "" : std::to_string(*number);
  }
  std::string operator()(const bool* flag) const { return *flag ? "true" : ""; }
  std::string operator()(const std::optional<Day>* day) const { return *day ? DayText(**day) : ""; }
  std::string operator()(const BugState* state) const { return TomlString(BugStateWord(*state)); }
};

}  // namespace

std::span<const BugKey> AllBugKeys() { return kKeys; }

Result<ParsedBug> ParseBug(std::string_view text, const std::string& name) {
  BugReader reader(name);
  ASSIGN_OR_RETURN(const toml::table table, ParseToml(text, name));
  return reader.Read(table);
}

std::string BugText(const Bug& bug) {
  std::string text =
      "# A bug of a stack walker, as walkhammer bugs keeps it; notes are kept as "
      "they are, comments are not.\n";
  Bug copy = bug;
  std::string_view table;
  for (const BugKey& key : kKeys) {
    const std::string value = std::visit(ValueWriter{key.form}, key.field(copy));
    if (value.empty()) continue;
    if (table != key.table) text += fmt::format("\n[{}]\n", key.table);
    table = key.table;
    text += fmt::format("{} = {}\n", key.name, value);
  }
  return text;
}

}  // namespace walkhammer
