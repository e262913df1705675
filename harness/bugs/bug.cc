// SPDX-License-Identifier: Apache-2.0
#include "harness/bugs/bug.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <ctime>

#include "harness/base/numbers.h"
#include "harness/base/text.h"

namespace walkhammer {
namespace {

constexpr size_t kMostIdLength = 100;

// The time that strptime reads and strftime writes as exactly `text`.
std::optional<std::tm> ExactTime(std::string_view text, const char* format) {
  std::tm time{};
  const std::string copy(text);
  std::array<char, sizeof "2026-12-31T23:59:59Z"> again;
  const char* end = strptime(copy.c_str(), format, &time);
  if (end == nullptr || strftime(again.data(), again.size(), format, &time) == 0)
    return std::nullopt;
  return copy == again.data() ? std::optional(time) : std::nullopt;
}

// Ascending; versions that nobody can read come first.
bool IsOlder(const std::string& a, const std::string& b) {
  const auto left = ParseJdkVersion(a), right = ParseJdkVersion(b);
  if (!left || !right) return left.has_value() < right.has_value() || (!left && !right && a < b);
  return *left != *right ? *left < *right : a < b;
}

// The next of a pattern: a byte, or a star.
struct PatternByte {
  char byte;
  bool star;
  size_t size;  // bytes of the pattern
};

PatternByte At(std::string_view pattern, size_t at) {
  const char c = pattern[at];
  if (c == '*') return {0, true, 1};
  if (c == '\\' && at + 1 < pattern.size()) return {pattern[at + 1], false, 2};
  return {c, false, 1};
}

// The end of the digits of a line number that begins at `at`, as in ":654)"; `at` if there is none.
size_t EndOfLineNumber(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) end++;
  return end > at && end < text.size() && text[end] == ')' ? end : at;
}

}  // namespace

const char* BugStateWord(BugState state) {
  constexpr const char* kWords[] = {"open", "duplicate", "accepted", "fixed"};
  return kWords[static_cast<int>(state)];
}

std::optional<BugState> BugStateFromWord(std::string_view word) {
  for (int state = 0; state <= static_cast<int>(kLastBugState); state++)
    if (word == BugStateWord(static_cast<BugState>(state))) return static_cast<BugState>(state);
  return std::nullopt;
}

std::string DayText(const Day& day) {
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(day.year()),
                     static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day()));
}

std::optional<Day> ParseDay(std::string_view text) {
  const auto time = ExactTime(text, "%Y-%m-%d");
  if (!time || text.size() != kDayLength) return std::nullopt;
  const Day day(std::chrono::year(time->tm_year + 1900),
                std::chrono::month(static_cast<unsigned>(time->tm_mon) + 1),
                std::chrono::day(static_cast<unsigned>(time->tm_mday)));
  return day.ok() ? std::optional(day) : std::nullopt;
}

bool IsTimeText(std::string_view text) {
  const auto time = ExactTime(text, "%Y-%m-%dT%H:%M:%SZ");
  return time && time->tm_sec < 60 && ParseDay(text.substr(0, kDayLength));
}

std::string Tame(std::string_view text, size_t most) {
  std::string tame = OnOneLine(Printable(text.substr(0, most)));
  return std::string(Trim(tame));
}

bool IsBugId(std::string_view id) {
  if (id.empty() || id.size() > kMostIdLength || id[0] == '.' || id[0] == '-') return false;
  return std::all_of(id.begin(), id.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
  });
}

std::vector<BugRequest> RequestsOf(const Bug& bug) {
  std::vector<BugRequest> requests;
  if (!bug.walk.empty()) requests.push_back({bug.id + ".walk", bug.walk});
  for (size_t i = 0; i < bug.texts.size(); i++) requests.push_back({bug.requests[i], bug.texts[i]});
  return requests;
}

Result<std::vector<VersionRange>> FixedVersions(const std::string& fixed_in) {
  if (const auto version = ParseJdkVersion(fixed_in))
    return std::vector<VersionRange>{{*version, std::nullopt}};
  auto ranges = ParseVersionRanges(fixed_in);
  if (!ranges.ok() || ranges.value().empty())
    return BadInput(
        fmt::format("\"{}\" is neither a version of a JDK, such as 17.0.9+9, nor ranges, such as "
                    "[17.0.9,18) [19,)",
                    fixed_in));
  return ranges;
}

bool IsFixedIn(const Bug& bug, const std::string& version) {
  if (bug.state != BugState::kFixed) return false;
  const auto ranges = FixedVersions(bug.fixed_in);
  const auto parsed = ParseJdkVersion(version);
  return !ranges.ok() || !parsed || AnyContains(ranges.value(), *parsed);
}

Affected AffectedByVersion(const Bug& bug, const std::string& version) {
  const auto parsed = ParseJdkVersion(version);
  if (!parsed) return Affected::kUnknown;
  const auto affected = ParseVersionRanges(bug.affected);
  if (affected.ok() && AnyContains(affected.value(), *parsed)) return Affected::kYes;
  return IsFixedIn(bug, version) ? Affected::kNo : Affected::kUnknown;
}

bool IsExpired(const Bug& bug, const Day& today) {
  return bug.state == BugState::kAccepted && (!bug.until || *bug.until < today);
}

std::string VersionIn(const Bug& bug, const std::string& build_id, const std::string& version) {
  for (const Seen* seen : {&bug.first_seen, &bug.last_seen})
    if (!build_id.empty() && seen->build_id == build_id && !seen->build.empty()) return seen->build;
  const auto wanted = ParseJdkVersion(version);
  if (!wanted || wanted->build) return version;
  std::string known = version;
  for (const std::string& build : bug.builds)  // ascending
    if (const auto parsed = ParseJdkVersion(build);
        parsed && parsed->numbers == wanted->numbers && parsed->pre == wanted->pre)
      known = build;
  return known;
}

void NoteSeen(const Seen& seen, Bug& bug) {
  // A date that is not known is neither before nor after a known one.
  const auto key = [](const Seen& one) { return std::pair(one.date, one.run); };
  const bool none = bug.first_seen == Seen{};
  if (none ||
      (!seen.date.empty() && (bug.first_seen.date.empty() || key(seen) < key(bug.first_seen))))
    bug.first_seen = seen;
  if (none || (!seen.date.empty() && key(seen) > key(bug.last_seen))) bug.last_seen = seen;
  if (seen.build.empty() ||
      std::find(bug.builds.begin(), bug.builds.end(), seen.build) != bug.builds.end())
    return;
  bug.builds.push_back(seen.build);
  std::sort(bug.builds.begin(), bug.builds.end(), IsOlder);
  if (bug.builds.size() > kMostBuilds) bug.builds.erase(bug.builds.begin());
}

void AddEvidence(const Day& today, std::string_view text, Bug& bug) {
  const std::string tame = Tame(text, 2 * kMostText);
  if (!bug.evidence.empty() && bug.evidence.back().ends_with(": " + tame)) return;
  bug.evidence.push_back(fmt::format("{}: {}", DayText(today), tame));
  if (bug.evidence.size() > kMostEvidence) bug.evidence.erase(bug.evidence.begin());
}

namespace {

// What a state needs, and by which option.
struct StateField {
  BugState state;
  const char* option;
  std::string StateChange::*field;
};
constexpr StateField kStateFields[] = {
    {BugState::kDuplicate, "--of", &StateChange::duplicate_of},
    {BugState::kAccepted, "--reason", &StateChange::reason},
    {BugState::kAccepted, "--until", &StateChange::until},
    {BugState::kFixed, "--in", &StateChange::fixed_in},
};

}  // namespace

std::string StateWords(const Bug& bug) {
  switch (bug.state) {
    case BugState::kOpen:
      return bug.like.empty() ? "" : "looks like " + bug.like;
    case BugState::kDuplicate:
      return "of " + bug.duplicate_of;
    case BugState::kAccepted:
      return fmt::format("until {}: {}", bug.until ? DayText(*bug.until) : "", bug.reason);
    case BugState::kFixed:
      break;
  }
  return "in " + bug.fixed_in;
}

Status SetState(const StateChange& change, const Day& today, Bug& bug) {
  for (const StateField& field : kStateFields) {
    const bool given = !(change.*field.field).empty(), wanted = change.state == field.state;
    if (given == wanted) continue;
    return BadInput(fmt::format("state {} {} {}", BugStateWord(change.state),
                                wanted ? "needs" : "takes no", field.option));
  }
  if (change.state == BugState::kDuplicate && change.duplicate_of == bug.id)
    return BadInput(fmt::format("{} cannot be a duplicate of itself", bug.id));
  const auto until = ParseDay(change.until);
  if (change.state == BugState::kAccepted && !until)
    return BadInput(fmt::format("--until \"{}\" is not a day, such as 2026-12-31", change.until));
  if (change.state == BugState::kAccepted && *until < today)
    return BadInput(
        fmt::format("--until {} has passed: today is {} (UTC)", change.until, DayText(today)));
  if (change.state == BugState::kFixed)
    if (auto versions = FixedVersions(change.fixed_in); !versions.ok())
      return BadInput("--in " + versions.failure().message);
  bug.state = change.state;
  bug.duplicate_of = change.duplicate_of;
  bug.reason = Tame(change.reason);
  bug.until = until;
  bug.fixed_in = change.fixed_in;
  AddEvidence(today,
              fmt::format("set to {}{}{}", BugStateWord(bug.state),
                          bug.state == BugState::kOpen ? "" : " ", StateWords(bug)),
              bug);
  return Ok();
}

bool MatchesSignature(std::string_view pattern, std::string_view signature) {
  size_t p = 0, s = 0;
  // The latest star, and the byte of the signature up to which it was taken to reach.
  size_t star = std::string_view::npos, reached = 0;
  while (s < signature.size()) {
    if (p < pattern.size()) {
      const PatternByte next = At(pattern, p);
      if (next.star) {
        star = p += next.size;
        reached = s;
        continue;
      }
      if (next.byte == signature[s]) {
        p += next.size;
        s++;
        continue;
      }
    }
    if (star == std::string_view::npos) return false;
    p = star;
    s = ++reached;
  }
  while (p < pattern.size() && At(pattern, p).star) p++;
  return p == pattern.size();
}

size_t NamedBytes(std::string_view pattern) {
  size_t bytes = 0;
  for (size_t at = 0; at < pattern.size(); at += At(pattern, at).size)
    if (!At(pattern, at).star) bytes++;
  return bytes;
}

std::string PatternOf(std::string_view signature) {
  std::string pattern;
  for (size_t i = 0; i < signature.size(); i++) {
    const char c = signature[i];
    if (c == '*' || c == '\\') pattern += '\\';
    pattern += c;
    if (c != ':') continue;
    const size_t end = EndOfLineNumber(signature, i + 1);
    if (end == i + 1) continue;
    pattern += '*';
    i = end - 1;
  }
  return pattern;
}

}  // namespace walkhammer
