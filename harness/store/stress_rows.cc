// SPDX-License-Identifier: Apache-2.0
#include "harness/store/stress_rows.h"

#include <algorithm>
#include <filesystem>

namespace walkhammer {
namespace {

// Where the type at `at` of a JVM descriptor ends, as far as it goes; `at` itself: it is none.
size_t SkipType(std::string_view text, size_t at) {
  size_t type = at;
  while (type < text.size() && text[type] == '[') type++;
  if (type == text.size()) return at;
  if (text[type] != 'L') return std::string_view("BCDFIJSVZ").find(text[type]) < 9 ? type + 1 : at;
  const size_t end = text.find_first_of(";()", type);
  return end == std::string_view::npos || text[end] != ';' ? at : end + 1;
}

// The length of the first frame. Descriptors hold ';', too, and a long name may be cut anywhere:
// what is no whole descriptor ends at the last ';' that may end it.
size_t FrameLength(std::string_view text) {
  const size_t next = std::min(text.find(';'), text.size());
  const size_t open = text.find('(');
  if (open > next || text.front() == '[') return next;
  size_t at = open + 1, last = 0;  // the last ';' that may end it
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

const char* CellStatusWord(CellStatus status) {
  switch (status) {
    case CellStatus::kRunning:
      return "running";
    case CellStatus::kPassed:
      return "passed";
    case CellStatus::kInterrupted:
      return "interrupted";
    case CellStatus::kVacuous:
      return "vacuous";
    case CellStatus::kDied:
      return "died";
    case CellStatus::kWorkloadFailed:
      return "workload-failed";
    case CellStatus::kHung:
      return "hung";
    case CellStatus::kOutputFlood:
      return "output-flood";
    case CellStatus::kHandlersChanged:
      return "handlers-changed";
    case CellStatus::kBadOutput:
      return "bad-output";
    case CellStatus::kDiskFull:
      return "disk-full";
    case CellStatus::kUnavailable:
      return "unavailable";
    case CellStatus::kNotHotspot:
      return "not-hotspot";
    case CellStatus::kToolFailed:
    case CellStatus::kCount:
      break;
  }
  return "tool-failed";
}

CellStatus CellStatusFromWord(const std::string& word) {
  for (uint8_t i = 0; i < static_cast<uint8_t>(CellStatus::kCount); i++)
    if (word == CellStatusWord(static_cast<CellStatus>(i))) return static_cast<CellStatus>(i);
  return CellStatus::kToolFailed;
}

std::string CellLabel(const CellRow& cell) {
  if (!cell.label.empty()) return cell.label;
  return cell.workload + " " + std::filesystem::path(cell.jdk_path).filename().string() + " " +
         cell.profile;
}

bool IsVacuous(const CellRow& cell) {
  return cell.status == CellStatus::kVacuous ||
         (cell.status == CellStatus::kPassed && cell.delivery.successful == 0);
}

std::vector<std::string_view> SplitFrames(std::string_view frames) {
  std::vector<std::string_view> parts;
  while (!frames.empty()) {
    const size_t length = FrameLength(frames);
    if (length > 0) parts.push_back(frames.substr(0, length));
    frames.remove_prefix(std::min(length + 1, frames.size()));
  }
  return parts;
}

}  // namespace walkhammer
