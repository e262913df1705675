// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "harness/base/json_text.h"
#include "reports/night.h"

namespace walkhammer {
namespace {

using Json = nlohmann::ordered_json;

const char* SaysWord(NightSays says) {
  constexpr const char* kWords[] = {"new", "watch", "found", "known", "old"};
  return kWords[static_cast<int>(says)];
}

Json BugsJson(const NightVerdict& verdict) {
  Json bugs = Json::array();
  for (const NightBug& bug : verdict.bugs)
    bugs.push_back({{"says", SaysWord(bug.says)},
                    {"group", bug.group},
                    {"signature", bug.signature},
                    {"id", bug.id.empty() ? Json(nullptr) : Json(bug.id)},
                    {"why", bug.why},
                    {"build", bug.build},
                    {"folder", bug.folder.empty() ? Json(nullptr) : Json(bug.folder)},
                    {"command", bug.command}});
  return bugs;
}

Json GatesJson(const NightVerdict& verdict) {
  Json gates = Json::array();
  for (const NightGate& gate : verdict.gates) {
    Json worse = Json::array();
    for (const GateChange& change : gate.worse)
      worse.push_back({{"kind", GateKindWord(change.kind)},
                       {"what", change.what},
                       {"details", change.details}});
    gates.push_back({{"group", gate.group},
                     {"against", gate.against.empty() ? Json(nullptr) : Json(gate.against)},
                     {"judged", gate.judged},
                     {"why", gate.why},
                     {"worse", std::move(worse)}});
  }
  return gates;
}

}  // namespace

std::string NightJsonText(const NightVerdict& verdict) {
  Json issues = Json::array(), changes = Json::array();
  for (const NightIssue& issue : verdict.issues)
    issues.push_back({{"says", issue.back ? "back" : "gone"},
                      {"id", issue.id},
                      {"title", issue.title},
                      {"why", issue.why}});
  for (const SeriesChange& change : verdict.changes)
    changes.push_back({{"word", SeriesChangeWord(change)}, {"text", SeriesChangeText(change)}});
  const Json json = {{"night", 1},
                     {"verdict", verdict.word},
                     {"exit_code", static_cast<int>(verdict.exit)},
                     {"failed_runs", verdict.failed},
                     {"bugs", BugsJson(verdict)},
                     {"issues", std::move(issues)},
                     {"groups", GatesJson(verdict)},
                     {"changes", std::move(changes)},
                     {"known_bugs_met", verdict.known},
                     {"notes", verdict.notes}};
  return JsonText(json);
}

}  // namespace walkhammer
