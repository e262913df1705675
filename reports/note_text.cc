// SPDX-License-Identifier: Apache-2.0
#include "reports/note_text.h"

#include <fmt/format.h>

#include <set>

#include "harness/base/numbers.h"

namespace walkhammer {
namespace {

std::string PlaceText(const RunSummary& summary, const NoteRow& note) {
  for (const CellSummary& cell : summary.cells)
    if (note.cell == cell.row.position) return " in " + OnOneLine(CellLabel(cell.row));
  return "";
}

std::string LineOf(const RunSummary& summary, const NoteRow& note) {
  const std::string detail = note.detail.empty() ? "" : ": " + OnOneLine(note.detail);
  const std::string name = OnOneLine(note.name), place = PlaceText(summary, note);
  switch (note.kind) {
    case NoteKind::kDropped:
      return fmt::format("  dropped: {} {}{}{}\n", Grouped(note.count), name, place, detail);
    case NoteKind::kNotInForce:
      return fmt::format("  not in force: {}{}{}\n", name, place, detail);
    default:
      return fmt::format("  incident: {}x {}{}{}\n", Grouped(note.count), name, place, detail);
  }
}

}  // namespace

std::string LimitsText(const RunSummary& summary) {
  std::string text;
  for (const NoteKind kind : {NoteKind::kDropped, NoteKind::kNotInForce, NoteKind::kIncident})
    for (const NoteRow& note : summary.notes)
      if (note.kind == kind) text += LineOf(summary, note);
  return text;
}

std::string InForceText(const RunSummary& summary) {
  std::set<std::string> names;
  for (const NoteRow& note : summary.notes)
    if (note.kind == NoteKind::kInForce) names.insert(OnOneLine(note.name));
  for (const NoteRow& note : summary.notes)
    if (note.kind == NoteKind::kNotInForce) names.erase(OnOneLine(note.name));
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace walkhammer
