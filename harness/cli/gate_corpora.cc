// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/gate_corpora.h"

#include <nlohmann/json.hpp>

#include "harness/base/files.h"
#include "harness/base/json_text.h"
#include "harness/findings/crash_folder.h"

namespace walkhammer {

using nlohmann::json;

namespace {

// The text of a key; "" if it has none.
std::string CorporaText(const json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : "";
}

}  // namespace

Status WriteGateCorpora(const std::string& path, const GateCorpora& corpora) {
  json answers = json::array(), structs = json::array();
  for (const AnsweredAgain& one : corpora.answers)
    answers.push_back({{"baseline", one.baseline},
                       {"candidate", one.candidate},
                       {"worse", one.worse},
                       {"name", one.name},
                       {"walk", one.walk}});
  for (const LostStruct& lost : corpora.structs)
    structs.push_back({{"entry", lost.entry}, {"details", lost.details}});
  const json all = {{"answers", answers}, {"structs", structs}};
  return WriteFileAtomically(path, JsonText(all) + "\n");
}

Result<GateCorpora> ReadGateCorpora(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFileOf(path, "a file of --corpora-answers", 64));
  const json all = json::parse(text, nullptr, false);
  if (!all.is_object() || !all.contains("answers") || !all.contains("structs"))
    return BadInput(path + ": is not a file that gate --corpora-answers has written");
  GateCorpora corpora;
  for (const json& one : all["answers"]) {
    const auto worse = one.find("worse");
    corpora.answers.push_back(
        {CorporaText(one, "baseline"), CorporaText(one, "candidate"),
         worse != one.end() && worse->is_number_integer() ? worse->get<int>() : 0,
         CorporaText(one, "name"), CorporaText(one, "walk")});
  }
  for (const json& lost : all["structs"])
    corpora.structs.push_back({CorporaText(lost, "entry"), CorporaText(lost, "details")});
  return corpora;
}

}  // namespace walkhammer
