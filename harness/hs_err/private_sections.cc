// SPDX-License-Identifier: Apache-2.0
#include "harness/hs_err/private_sections.h"

#include <algorithm>
#include <cstddef>

#include "harness/base/text.h"
#include "harness/hs_err/characters.h"
#include "harness/hs_err/environment_variables.h"

namespace walkhammer {
namespace {

constexpr std::string_view kString = "<string>";

// Replaces `old`, which ends the line. Where escapes were taken off the line, the whole line goes.
void ReplaceEnd(std::string& line, std::string_view old, std::string_view by) {
  const size_t at = line.rfind(old);
  if (at == std::string::npos)
    line = by;
  else
    line.replace(at, std::string::npos, by);
}

bool EndsEnvironment(std::string_view plain) {
  for (const std::string_view mark : {"Active Locale:", "Signal Handlers:", "----------"})
    if (plain.find(mark) != plain.npos) return true;
  return false;
}

// Behind a blank line, which ends the section, unless a text has one behind each line.
bool IsVariable(std::string_view plain) {
  const std::string_view name = AssignmentOf(plain).name;
  return !name.empty() &&
         std::none_of(name.begin(), name.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

// "Environment Variables:" at the end of a line, but for what closes it: "|", "\"}".
bool IsHeadOfEnvironment(std::string_view plain, size_t& prefix) {
  constexpr std::string_view kHead = "Environment Variables:";
  prefix = plain.find(kHead);
  if (prefix == plain.npos) return false;
  const std::string_view rest = plain.substr(prefix + kHead.size());
  return std::none_of(rest.begin(), rest.end(), IsNameChar);
}

bool IsKeyText(std::string_view text) {
  for (const std::string_view head : {"Proc-Type: ", "DEK-Info: ", "Comment: ", "Version: "})
    if (text.starts_with(head)) return true;
  return text == kRedacted || std::all_of(text.begin(), text.end(), [](char c) {
           return IsWordChar(c) || c == '+' || c == '/' || c == '=';
         });
}

// The end of a key that begins at `begin`, with its mark; npos: it is in another line.
size_t EndOfKey(std::string_view line, size_t begin) {
  constexpr std::string_view kEnd = "-----END ", kDashes = "-----";
  const size_t mark = line.find(kEnd, begin);
  if (mark == line.npos) return line.npos;
  const size_t dashes = line.find(kDashes, mark + kEnd.size());
  return dashes == line.npos ? line.size() : dashes + kDashes.size();
}

// " -   0: 68 h": an element of a char[] or a byte[]
size_t ElementSize(std::string_view plain) {
  if (!plain.starts_with("- ")) return 0;
  size_t at = 1;
  while (at < plain.size() && IsBlank(plain[at])) at++;
  const size_t index = at;
  while (at < plain.size() && IsDigit(plain[at])) at++;
  if (at == index || plain.substr(at, 2) != ": ") return 0;
  const std::string_view value = plain.substr(at + 2);
  const size_t digits =
      static_cast<size_t>(std::find_if_not(value.begin(), value.end(), IsHexDigit) - value.begin());
  const bool is_character = digits > 0 && digits <= 4 && value.size() <= digits + 6 &&
                            (value.size() == digits || IsBlank(value[digits]));
  return is_character ? value.size() : 0;
}

// What follows a string in the dump of its object, and after that.
bool EndsString(std::string_view plain) {
  for (const std::string_view mark :
       {"- ----", "- private", "- final", "- flags", "- injected", "--------", "Stack slot",
        "Registers:", "Top of Stack", "Instructions:", "Environment Variables:"})
    if (plain.starts_with(mark)) return true;
  return plain.substr(0, 8).find("=0x") != plain.npos;
}

}  // namespace

bool PrivateSections::GoesOnWithEnvironment(std::string_view plain) {
  const bool is_blank = Trim(plain).size() <= environment_prefix_;
  const std::string_view rest = plain.substr(std::min(environment_prefix_, plain.size()));
  if (EndsEnvironment(plain) || (!is_blank && after_blank_ && !IsVariable(rest))) return false;
  after_blank_ = is_blank;
  return true;
}

void PrivateSections::ReplaceVariable(std::string& line, std::string_view plain, DoneWords& done) {
  if (size_t prefix = 0; IsHeadOfEnvironment(plain, prefix)) {
    in_environment_ = true;
    after_blank_ = false;
    environment_prefix_ = prefix;
    return;
  }
  in_environment_ = in_environment_ && GoesOnWithEnvironment(plain);
  Assignment variable = AssignmentOf(plain);
  if (!in_environment_ && !IsKnownVariable(variable.name)) return;
  if (in_environment_ && environment_prefix_ > 0) {
    const std::string_view name = FindVariable(plain).name;
    const size_t at =
        name.empty() ? environment_prefix_ : static_cast<size_t>(name.data() - plain.data());
    plain = plain.substr(std::min(at, plain.size()));
    variable = AssignmentOf(plain);
  }
  const std::string_view old = variable.name.empty() ? plain : variable.value;
  if (old.empty() || old == kRedacted) return;
  ReplaceEnd(line, old, kRedacted);
  done.push_back(variable.name.empty() ? "environment variable"
                                       : "environment variable " + std::string(variable.name));
}

bool PrivateSections::GoOnWithKey(std::string& line, std::string_view plain) {
  const bool is_long = plain.size() > key_prefix_;
  std::string_view rest = is_long ? Trim(plain.substr(key_prefix_)) : plain;
  while (!rest.empty() && std::string_view("\"}],|").find(rest.back()) != rest.npos)
    rest.remove_suffix(1);
  const size_t end = EndOfKey(line, 0);
  const bool is_blank = !is_long && plain.size() + 1 >= key_prefix_;
  const bool goes_on = end == line.npos && (is_blank || IsKeyText(rest));
  key_lines_ = goes_on ? key_lines_ - 1 : 0;
  if (end == line.npos && (!goes_on || is_blank || rest.empty())) return false;
  ReplaceEnd(line, rest, std::string(kRedacted) + (end == line.npos ? "" : line.substr(end)));
  return true;
}

void PrivateSections::BeginKeys(std::string& line, std::string_view plain, DoneWords& done) {
  constexpr int kMostLines = 200;
  constexpr std::string_view kBegin = "-----BEGIN ";
  for (size_t begin = line.find(kBegin); begin != line.npos; begin = line.find(kBegin, begin)) {
    size_t end = EndOfKey(line, begin);
    if (end == line.npos) {
      key_lines_ = kMostLines;
      const size_t mark = plain.find(kBegin);
      key_prefix_ = mark == plain.npos ? 0 : mark;
      end = line.size();
    }
    line.replace(begin, end - begin, kRedacted);
    done.emplace_back("key in PEM form");
  }
}

bool PrivateSections::GoOnWithString(std::string& line, std::string_view plain) {
  const bool ends = plain.ends_with('"');
  string_lines_ = in_environment_ || EndsString(plain) ? 0 : string_lines_ - 1;
  if (string_lines_ == 0 || plain.empty()) return false;
  line = std::string(kString) + (ends ? "\"" : "");
  if (ends) string_lines_ = 0;
  return true;
}

void PrivateSections::BeginString(std::string& line, std::string_view plain, DoneWords& done) {
  constexpr int kMostLines = 32;
  constexpr std::string_view kHead = "- string: ";
  const size_t head = line.find(kHead);
  // In quotes it is a text that was replaced as such.
  const bool begins =
      head != line.npos && plain.find(kHead) != plain.npos &&
      (line.compare(head + kHead.size(), 2, "\"\"") == 0 ||  // CSV doubles it
       std::count(line.begin(), line.begin() + static_cast<ptrdiff_t>(head), '"') % 2 == 0);
  if (begins) {
    const bool is_whole =
        plain.ends_with('"') && plain.size() > plain.find(kHead) + kHead.size() + 1;
    const std::string now = "\"" + std::string(kString) + (is_whole ? "\"" : "");
    string_lines_ = is_whole ? 0 : kMostLines;
    if (line.compare(head + kHead.size(), std::string::npos, now) == 0) return;
    line.replace(head + kHead.size(), std::string::npos, now);
    done.emplace_back("Java string");
  } else if (const size_t size = ElementSize(plain); size > 0 && line.ends_with(plain)) {
    line.replace(line.size() - size, size, kString);
    done.emplace_back("Java string");
  }
}

void PrivateSections::Replace(std::string& line, std::string_view plain, DoneWords& done) {
  if (string_lines_ > 0 && GoOnWithString(line, plain)) return;
  if (string_lines_ == 0) BeginString(line, plain, done);
  const bool is_of_key = key_lines_ > 0 && GoOnWithKey(line, plain);
  BeginKeys(line, plain, done);
  if (!is_of_key) ReplaceVariable(line, plain, done);
}

}  // namespace walkhammer
