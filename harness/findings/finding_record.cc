// SPDX-License-Identifier: Apache-2.0
#include "harness/findings/finding_record.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/base/text.h"
#include "harness/process/signal_name.h"
#include "harness/request/text_form.h"
#include "harness/request/walker_table.h"

namespace walkhammer {
namespace {

using Json = nlohmann::ordered_json;

Json RegistersJson(const Registers& registers) {
  return {{"pc", Hex(registers.pc)},
          {"sp", Hex(registers.sp)},
          {"fp", Hex(registers.fp)},
          {"lr", Hex(registers.lr)}};
}

const char* EndingWord(Ending ending) {
  switch (ending) {
    case Ending::kReturned:
      return "returned";
    case Ending::kCrashed:
      return "crashed";
    case Ending::kHung:
      return "hung";
  }
  return "unknown";
}

std::string RequestText(const WalkRequest& request, const Signature& signature,
                        const SymbolTable& symbols, std::string_view arch) {
  return ToText({SaneRequest(request), signature.expect, std::string(arch)}, symbols);
}

}  // namespace

std::string FaultJson(const RawFinding& finding) {
  const Fault& fault = finding.fault;
  Json json;
  json["ending"] = EndingWord(finding.ending);
  json["num_frames"] = finding.num_frames;
  json["presented"] = RegistersJson(finding.presented);
  if (fault.signal != 0) {
    json["signal"] = fault.signal;
    json["signal_name"] = SignalName(fault.signal);
    json["code"] = fault.code;
    json["address"] = Hex(fault.address);
    if (fault.failed_check[0] != 0) json["failed_check"] = FieldText(fault.failed_check);
  }
  if (fault.signal != 0 || fault.registers.pc != 0) {
    json["registers"] = RegistersJson(fault.registers);
    json["where"] = FieldText(finding.where);
    json["native"] = Json::array();
    for (int i = 0; i < std::clamp(fault.native_count, 0, kMaxNativeFrames); i++)
      json["native"].push_back(Hex(fault.native[i]));
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

FindingRecord MakeFindingRecord(const RawFinding& finding, const Symbolizer& symbolizer,
                                const SymbolTable& symbols, std::string_view arch) {
  FindingRecord record;
  record.signature = SignatureOf(finding, symbolizer);
  record.oracle = record.signature.oracle;
  record.outcome = fmt::format("outcome-{}", finding.outcome);
  if (const Oracle* oracle = FindOracle(record.oracle);
      oracle != nullptr && finding.outcome < oracle->outcomes.size()) {
    record.outcome = oracle->outcomes[finding.outcome].name;
    record.grade = oracle->outcomes[finding.outcome].grade;
  }
  const WalkRequest request = SaneRequest(finding.request);
  record.realism = RealismOf(request);
  record.detail = FieldText(finding.detail);
  record.request = RequestText(request, record.signature, symbols, arch);
  record.frames = FieldText(finding.frame_text);
  record.native = NativeChainText(finding, symbolizer);
  record.fault = FaultJson(finding);
  record.sequence = finding.sequence;
  record.time_ms = finding.time_ms;
  return record;
}

FindingRecord MakeDeathRecord(const DeathInfo& death, const WalkRequest* request,
                              const SymbolTable& symbols, uint64_t sequence, uint64_t time_ms,
                              std::string_view arch) {
  FindingRecord record;
  record.signature = SignatureOfDeath(death);
  record.oracle = kDeathOracleName;
  record.outcome = kDeathOutcomeName;
  record.grade = GradeOf(record.oracle, record.outcome, Grade::kForbidden);
  record.detail = request == nullptr ? "the JVM died between walks"
                  : death.after_walk ? "the JVM died after this walk, of what the walk had left"
                                     : "the JVM died during this walk";
  if (request != nullptr) {
    record.realism = RealismOf(SaneRequest(*request));
    record.request = RequestText(*request, record.signature, symbols, arch);
  }
  Json fault;
  fault["ending"] = "died";
  if (WIFSIGNALED(death.wait_status)) {
    fault["signal"] = WTERMSIG(death.wait_status);
    fault["signal_name"] = SignalName(WTERMSIG(death.wait_status));
  } else if (WIFEXITED(death.wait_status)) {
    fault["exit_status"] = WEXITSTATUS(death.wait_status);
  }
  record.fault = fault.dump();
  record.sequence = sequence;
  record.time_ms = time_ms;
  return record;
}

void NameWalkers(const WalkRequest& given, uint8_t first_walker, FindingRecord& record) {
  const WalkRequest request = SaneRequest(given);
  const auto name = [](size_t walker) {
    return walker < AllWalkers().size() ? AllWalkers()[walker].name : "unknown walker";
  };
  std::string words;
  if (request.against != 0)
    words = fmt::format(": {} against {}", name(request.walker), name(request.against - 1U));
  else if (request.walker != first_walker)
    words = fmt::format(", by {}", name(request.walker));
  record.signature.key += words;
  record.signature.title += words;
}

Grade GradeOf(std::string_view oracle, std::string_view outcome, Grade otherwise) {
  const Oracle* known = FindOracle(oracle);
  if (known == nullptr) return otherwise;
  for (const OutcomeInfo& info : known->outcomes)
    if (outcome == info.name) return info.grade;
  return otherwise;
}

Grade GradeFromWord(std::string_view word) {
  return FromWord(word, GradeWord, Grade::kForbidden, Grade::kForbidden);
}

Realism RealismFromWord(std::string_view word) {
  return FromWord(word, RealismWord, Realism::kEditedStack, Realism::kEditedStack);
}

WalkRequest SaneRequest(const WalkRequest& request) {
  WalkRequest sane = request;
  sane.edit_count = std::min<uint16_t>(sane.edit_count, WalkRequest::kMaxEdits);
  sane.depth = std::clamp<uint16_t>(sane.depth, 1, WalkRequest::kMaxDepth);
  if (sane.anchor >= AnchorMode::kCount) sane.anchor = AnchorMode::kCleared;
  if (sane.origin >= Origin::kCount) sane.origin = Origin::kMade;
  if (sane.against > AllWalkers().size()) sane.against = 0;
  for (Edit& edit : std::span(sane.edits, sane.edit_count))
    if (edit.op >= EditOp::kCount) edit.op = EditOp::kSet;
  return sane;
}

}  // namespace walkhammer
