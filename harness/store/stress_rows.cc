// SPDX-License-Identifier: Apache-2.0
#include "harness/store/stress_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "harness/base/text.h"

namespace walkhammer {
namespace {

// The end of the type that begins at `at` in a JVM descriptor; `at` if there is no whole type.
size_t SkipType(std::string_view text, size_t at) {
  size_t type = at;
  while (type < text.size() && text[type] == '[') type++;
  if (type == text.size()) return at;
  if (text[type] != 'L') return std::string_view("BCDFIJSVZ").find(text[type]) < 9 ? type + 1 : at;
  const size_t end = text.find_first_of(";()", type);
  return end == std::string_view::npos || text[end] != ';' ? at : end + 1;
}

// The length of the first frame. Descriptors hold ';', too, and a long name may be truncated
// anywhere: a frame without a whole descriptor ends at the last ';' that may end the frame.
size_t FrameLength(std::string_view text) {
  const size_t next = std::min(text.find(';'), text.size());
  const size_t open = text.substr(0, next).find('(');
  if (open == std::string_view::npos || text.front() == '[') return next;
  size_t at = open + 1, last = 0;  // last: the last ';' that may end the frame
  while (at < text.size() && text[at] != ')') {
    const size_t end = SkipType(text, at);
    if (end == at) break;
    at = end;
    if (text[at - 1] == ';') last = at - 1;
  }
  if (at == text.size() || text[at] == ';') return at;
  if (text[at] == ')') {
    const size_t end = SkipType(text, at + 1);
    if (end == text.size() || text[end] == ';') return end;
    last = text[end - 1] == ';' ? end - 1 : 0;
  }
  return last != 0 ? last : std::min(text.find(';', at), text.size());
}

}  // namespace

bool IsSkipped(CellStatus status) {
  return status == CellStatus::kUnavailable || status == CellStatus::kNotHotspot ||
         status == CellStatus::kNotForJdk;
}

const char* CellStatusWord(CellStatus status) {
  static constexpr const char* kWords[] = {
      "running",         "passed",      "interrupted",  "vacuous",          "died",
      "workload-failed", "hung",        "output-flood", "handlers-changed", "bad-output",
      "disk-full",       "unavailable", "not-hotspot",  "not-for-jdk",      "tool-failed"};
  static_assert(std::size(kWords) == static_cast<size_t>(CellStatus::kCount));
  return kWords[static_cast<int>(status)];
}

CellStatus CellStatusFromWord(const std::string& word) {
  return FromWord(word, CellStatusWord, CellStatus::kToolFailed, CellStatus::kToolFailed);
}

std::string CellLabel(const CellRow& cell) {
  if (!cell.label.empty()) return cell.label;
  return cell.workload + " " + std::filesystem::path(cell.jdk_path).filename().string() + " " +
         cell.profile;
}

std::string TooFewWalks(uint64_t walks) {
  return fmt::format("only {} made, and a verdict requires {}",
                     walks == 1 ? "1 walk was" : fmt::format("{} walks were", walks), kLeastWalks);
}

bool IsVacuous(const CellRow& cell) {
  return cell.status == CellStatus::kVacuous ||
         (cell.status == CellStatus::kPassed && cell.mode != kNoWalkMode &&
          (cell.delivery.successful == 0 || cell.delivery.walks < kLeastWalks));
}

void AppendFrame(std::string& frames, std::string_view frame) {
  if (!frames.empty()) frames += kFrameSeparator;
  const size_t begin = frames.size();
  frames += frame;
  std::replace(frames.begin() + static_cast<std::ptrdiff_t>(begin), frames.end(), kFrameSeparator,
               ' ');
}

std::vector<std::string_view> SplitFrames(std::string_view frames) {
  std::vector<std::string_view> parts;
  while (!frames.empty()) {
    const size_t length = std::min(frames.find(kFrameSeparator), frames.size());
    if (length > 0) parts.push_back(frames.substr(0, length));
    frames.remove_prefix(std::min(length + 1, frames.size()));
  }
  return parts;
}

const char* NoteKindWord(NoteKind kind) {
  static constexpr const char* kWords[] = {"in-force", "not-in-force", "dropped", "incident"};
  static_assert(std::size(kWords) == static_cast<size_t>(NoteKind::kCount));
  return kWords[static_cast<int>(kind)];
}

NoteKind NoteKindFromWord(const std::string& word) {
  return FromWord(word, NoteKindWord, NoteKind::kIncident, NoteKind::kIncident);
}

std::vector<std::string_view> SplitCollapsed(std::string_view frames) {
  std::vector<std::string_view> parts;
  while (!frames.empty()) {
    const size_t length = FrameLength(frames);
    if (length > 0) parts.push_back(frames.substr(0, length));
    frames.remove_prefix(std::min(length + 1, frames.size()));
  }
  return parts;
}

}  // namespace walkhammer
