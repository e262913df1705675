// SPDX-License-Identifier: Apache-2.0
#include "harness/bugs/bug_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "harness/base/nearest.h"
#include "harness/base/text.h"
#include "harness/base/toml.h"

namespace walkhammer {
namespace {

constexpr int kMostReplays = 1'000'000;

struct TextKey {
  const char* name;
  std::string Bug::*field;
};
constexpr TextKey kTextKeys[] = {
    {"title", &Bug::title},       {"duplicate-of", &Bug::duplicate_of},
    {"reason", &Bug::reason},     {"fixed-in", &Bug::fixed_in},
    {"like", &Bug::like},         {"flags", &Bug::flags},
    {"provider", &Bug::provider}, {"notes", &Bug::notes},
};

struct ListKey {
  const char* name;
  std::vector<std::string> Bug::*field;
};
constexpr ListKey kListKeys[] = {
    {"signatures", &Bug::signatures}, {"builds", &Bug::builds}, {"evidence", &Bug::evidence}};

struct SeenKey {
  const char* name;
  Seen Bug::*field;
};
constexpr SeenKey kSeenKeys[] = {{"first-seen", &Bug::first_seen}, {"last-seen", &Bug::last_seen}};

struct SeenTextKey {
  const char* name;
  std::string Seen::*field;
};
constexpr SeenTextKey kSeenTextKeys[] = {
    {"build", &Seen::build}, {"build-id", &Seen::build_id}, {"run", &Seen::run}};

// Keys that one state wants, and the others do not take.
struct StateKey {
  const char* name;
  BugState state;
};
constexpr StateKey kStateKeys[] = {{"duplicate-of", BugState::kDuplicate},
                                   {"reason", BugState::kAccepted},
                                   {"until", BugState::kAccepted},
                                   {"fixed-in", BugState::kFixed}};

constexpr const char* kOtherKeys[] = {"state", "until", "reproduced"};

// The element of a table whose name is `wanted`; null if there is none.
template <typename Key, size_t kCount>
const Key* Named(const Key (&keys)[kCount], std::string_view wanted) {
  const auto at = std::find_if(std::begin(keys), std::end(keys),
                               [&](const Key& key) { return wanted == key.name; });
  return at == std::end(keys) ? nullptr : at;
}

template <typename Key, size_t kCount>
void AddNames(const Key (&keys)[kCount], std::vector<std::string_view>& names) {
  for (const Key& key : keys) names.emplace_back(key.name);
}

std::string UnknownKey(std::string_view wanted, const std::vector<std::string_view>& names) {
  return fmt::format("there is no key \"{}\"; did you mean \"{}\"?", wanted,
                     NearestNames(wanted, names, 1).front());
}

bool IsOneLine(const std::string& text) { return Tame(text, text.size()) == Trim(text); }

class BugReader {
 public:
  explicit BugReader(const std::string& name) : name_(name) {}

  Result<ParsedBug> Read(const toml::table& all) {
    for (const auto& [key, node] : all) RETURN_IF_ERROR(ReadKey(key, node));
    RETURN_IF_ERROR(CheckState(all));
    if (Trim(bug().title).empty()) return Whole("a bug wants a title");
    if (bug().signatures.empty()) return Whole("a bug wants signatures, at least one");
    return std::move(parsed_);
  }

  Failure At(const toml::source_region& place, std::string_view what) const {
    return BadToml(name_, place, what);
  }

 private:
  Bug& bug() { return parsed_.bug; }
  Failure Whole(std::string_view what) const {
    return BadInput(fmt::format("{}:1: {}", name_, what));
  }

  Status ReadKey(const toml::key& key, const toml::node& node) {
    const std::string_view name = key.str();
    if (name == "duplicate-of") parsed_.duplicate_line = key.source().begin.line;
    if (name == "like") parsed_.like_line = key.source().begin.line;
    if (const TextKey* text = Named(kTextKeys, name))
      return ReadText(key, node, bug().*text->field, name == "notes");
    if (const ListKey* list = Named(kListKeys, name))
      return ReadList(key, node, bug().*list->field);
    if (const SeenKey* seen = Named(kSeenKeys, name))
      return ReadSeen(key, node, bug().*seen->field);
    if (name == "state") return ReadState(key, node);
    if (name == "until") return ReadUntil(key, node);
    if (name == "reproduced") return ReadReproduced(key, node);
    std::vector<std::string_view> names(std::begin(kOtherKeys), std::end(kOtherKeys));
    AddNames(kTextKeys, names);
    AddNames(kListKeys, names);
    AddNames(kSeenKeys, names);
    return At(key.source(), UnknownKey(name, names));
  }

  Status ReadText(const toml::key& key, const toml::node& node, std::string& field,
                  bool many_lines = false) {
    const auto text = node.value<std::string>();
    if (!node.is_string() || !text || (!many_lines && !IsOneLine(*text)))
      return At(key.source(), fmt::format("{} must be a text in quotes{}", key.str(),
                                          many_lines ? "" : ", on one line"));
    field = *text;
    return Ok();
  }

  Status ReadList(const toml::key& key, const toml::node& node, std::vector<std::string>& field) {
    const toml::array* array = node.as_array();
    if (array == nullptr)
      return At(key.source(), fmt::format("{} must be a list of texts, [\"...\"]", key.str()));
    for (const toml::node& part : *array) {
      const auto text = part.value<std::string>();
      if (!part.is_string() || !text || Trim(*text).empty() || !IsOneLine(*text))
        return At(part.source(),
                  fmt::format("{} must hold texts in quotes, each on one line", key.str()));
      field.push_back(*text);
    }
    return Ok();
  }

  Status ReadSeen(const toml::key& key, const toml::node& node, Seen& field) {
    if (!node.is_table())
      return At(key.source(), fmt::format("{} must be a table, [{}]", key.str(), key.str()));
    for (const auto& [part, value] : *node.as_table()) {
      if (const SeenTextKey* text = Named(kSeenTextKeys, part.str())) {
        RETURN_IF_ERROR(ReadText(part, value, field.*text->field));
      } else if (part.str() == "date") {
        RETURN_IF_ERROR(ReadTime(part, value, field.date));
      } else {
        std::vector<std::string_view> names = {"date"};
        AddNames(kSeenTextKeys, names);
        return At(part.source(), UnknownKey(part.str(), names));
      }
    }
    return Ok();
  }

  Status ReadTime(const toml::key& key, const toml::node& node, std::string& field) {
    const auto* value = node.as_date_time();
    if (value == nullptr || (value->get().offset && value->get().offset->minutes != 0))
      return At(key.source(), fmt::format("{} must be a time, UTC and without quotes, such as "
                                          "2026-12-31T23:59:59Z",
                                          key.str()));
    const toml::date_time& time = value->get();
    field = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", int{time.date.year},
                        int{time.date.month}, int{time.date.day}, int{time.time.hour},
                        int{time.time.minute}, int{time.time.second});
    return Ok();
  }

  Status ReadState(const toml::key& key, const toml::node& node) {
    const auto word = node.value<std::string>();
    const auto state = word ? BugStateFromWord(*word) : std::nullopt;
    if (!state)
      return At(key.source(), "state must be \"open\", \"duplicate\", \"accepted\" or \"fixed\"");
    bug().state = *state;
    return Ok();
  }

  Status ReadUntil(const toml::key& key, const toml::node& node) {
    const auto* value = node.as_date();
    if (value == nullptr)
      return At(key.source(), "until must be a day, without quotes, such as 2026-12-31");
    const toml::date& day = value->get();
    bug().until =
        Day(std::chrono::year(day.year), std::chrono::month(day.month), std::chrono::day(day.day));
    return Ok();
  }

  Status ReadReproduced(const toml::key& key, const toml::node& node) {
    if (!node.is_table()) return At(key.source(), "reproduced must be a table, [reproduced]");
    Reproduced& field = bug().reproduced;
    for (const auto& [part, value] : *node.as_table()) {
      if (part.str() == "build") {
        RETURN_IF_ERROR(ReadText(part, value, field.build));
        continue;
      }
      if (part.str() != "shown" && part.str() != "of")
        return At(part.source(), UnknownKey(part.str(), {"build", "shown", "of"}));
      const auto number = value.value_exact<int64_t>();
      if (!number || *number < 0 || *number > kMostReplays)
        return At(part.source(),
                  fmt::format("{} must be a whole number from 0 to {}", part.str(), kMostReplays));
      (part.str() == "of" ? field.of : field.shown) = static_cast<int>(*number);
    }
    if (field.shown > field.of)
      return At(key.source(), "of reproduced, shown must not be more than of");
    return Ok();
  }

  Status CheckState(const toml::table& all) {
    if (!all.contains("state")) return Whole("a bug wants a state");
    for (const StateKey& key : kStateKeys) {
      const toml::node* node = all.get(key.name);
      if (node != nullptr && bug().state != key.state)
        return At(node->source(),
                  fmt::format("{} is for state \"{}\", and the state is \"{}\"", key.name,
                              BugStateWord(key.state), BugStateWord(bug().state)));
      if (node == nullptr && bug().state == key.state)
        return At(all.get("state")->source(),
                  fmt::format("state \"{}\" wants the key {}", BugStateWord(key.state), key.name));
    }
    if (bug().state != BugState::kFixed) return Ok();
    const auto versions = FixedVersions(bug().fixed_in);
    if (!versions.ok()) return At(all.get("fixed-in")->source(), versions.failure().message);
    return Ok();
  }

  const std::string& name_;
  ParsedBug parsed_;
};

}  // namespace

Result<ParsedBug> ParseBug(std::string_view text, const std::string& name) {
  BugReader reader(name);
  ASSIGN_OR_RETURN(const toml::table table, ParseToml(text, name));
  return reader.Read(table);
}

namespace {

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

void AddText(const char* key, const std::string& value, std::string& text) {
  if (!value.empty()) text += fmt::format("{} = {}\n", key, TomlString(value));
}

void AddList(const char* key, const std::vector<std::string>& values, std::string& text) {
  if (values.empty()) return;
  text += fmt::format("{} = [\n", key);
  for (const std::string& value : values) text += fmt::format("  {},\n", TomlString(value));
  text += "]\n";
}

void AddSeen(const char* key, const Seen& seen, std::string& text) {
  if (seen == Seen{}) return;
  text += fmt::format("\n[{}]\n", key);
  for (const SeenTextKey& part : kSeenTextKeys) AddText(part.name, seen.*part.field, text);
  if (!seen.date.empty()) text += fmt::format("date = {}\n", seen.date);
}

}  // namespace

std::string BugText(const Bug& bug) {
  std::string text =
      "# A bug of a stack walker, as walkhammer bugs keeps it; notes are kept as "
      "they are, comments are not.\n";
  AddText("title", bug.title, text);
  AddList("signatures", bug.signatures, text);
  AddText("state", BugStateWord(bug.state), text);
  AddText("duplicate-of", bug.duplicate_of, text);
  AddText("reason", bug.reason, text);
  if (bug.until) text += fmt::format("until = {}\n", DayText(*bug.until));
  AddText("fixed-in", bug.fixed_in, text);
  AddText("like", bug.like, text);
  AddText("flags", bug.flags, text);
  AddText("provider", bug.provider, text);
  if (!bug.notes.empty())
    text += fmt::format("notes = {}\n",
                        TomlString(bug.notes, bug.notes.find('\n') != std::string::npos));
  AddList("builds", bug.builds, text);
  AddList("evidence", bug.evidence, text);
  for (const SeenKey& seen : kSeenKeys) AddSeen(seen.name, bug.*seen.field, text);
  if (bug.reproduced.of > 0) {
    text += "\n[reproduced]\n";
    AddText("build", bug.reproduced.build, text);
    text += fmt::format("shown = {}\nof = {}\n", bug.reproduced.shown, bug.reproduced.of);
  }
  return text;
}

}  // namespace walkhammer
