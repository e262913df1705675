// SPDX-License-Identifier: Apache-2.0
#include "harness/store/stress_rows.h"

#include <algorithm>
#include <filesystem>

#include "harness/base/text.h"

namespace walkhammer {
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
  return FromWord(word, CellStatusWord, CellStatus::kToolFailed, CellStatus::kToolFailed);
}

std::string CellLabel(const CellRow& cell) {
  if (!cell.label.empty()) return cell.label;
  return cell.workload + " " + std::filesystem::path(cell.jdk_path).filename().string() + " " +
         cell.profile;
}

bool IsVacuous(const CellRow& cell) {
  return cell.status == CellStatus::kVacuous ||
         (cell.status == CellStatus::kPassed && cell.delivery.successful == 0 &&
          cell.mode != kNoWalkMode);
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
  switch (kind) {
    case NoteKind::kInForce:
      return "in-force";
    case NoteKind::kNotInForce:
      return "not-in-force";
    case NoteKind::kDropped:
      return "dropped";
    case NoteKind::kIncident:
    case NoteKind::kCount:
      break;
  }
  return "incident";
}

NoteKind NoteKindFromWord(const std::string& word) {
  return FromWord(word, NoteKindWord, NoteKind::kIncident, NoteKind::kIncident);
}

}  // namespace walkhammer
