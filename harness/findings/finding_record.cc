// SPDX-License-Identifier: Apache-2.0
#include "harness/findings/finding_record.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>

#include "harness/base/text.h"
#include "harness/process/signal_name.h"
#include "harness/request/text_form.h"
#include "harness/request/walker_table.h"

namespace walkhammer {
namespace {

// JSON is written without a library, as fuzz targets carry this code into a JVM: they carry no JSON
// library.
std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : Printable(text)) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (c == '\n' || c == '\t')
      quoted += c == '\n' ? "\\n" : "\\t";
    else
      quoted += c;
  }
  return quoted + '"';
}

std::string RegistersJson(const Registers& registers) {
  return fmt::format(R"({{"pc":"0x{:x}","sp":"0x{:x}","fp":"0x{:x}","lr":"0x{:x}"}})", registers.pc,
                     registers.sp, registers.fp, registers.lr);
}

const char* EndingWord(Ending ending) {
  static constexpr const char* kWords[] = {"returned", "crashed", "hung"};
  return ending <= Ending::kHung ? kWords[static_cast<int>(ending)] : "unknown";
}

std::string RequestText(const WalkRequest& request, const Signature& signature,
                        const SymbolTable& symbols, std::string_view arch) {
  return ToText({SaneRequest(request), signature.expect, std::string(arch)}, symbols);
}

}  // namespace

std::string FaultJson(const RawFinding& finding) {
  const Fault& fault = finding.fault;
  std::string json =
      fmt::format(R"({{"ending":"{}","num_frames":{},"presented":{})", EndingWord(finding.ending),
                  finding.num_frames, RegistersJson(finding.presented));
  if (fault.signal != 0) {
    json += fmt::format(R"(,"signal":{},"signal_name":{},"code":{},"address":"0x{:x}")",
                        fault.signal, Quoted(SignalName(fault.signal)), fault.code, fault.address);
    if (fault.failed_check[0] != 0)
      json += R"(,"failed_check":)" + Quoted(FieldText(fault.failed_check));
  }
  if (fault.signal != 0 || fault.registers.pc != 0) {
    const int calls = std::clamp(fault.native_count, 0, kMaxNativeFrames);
    std::string native;
    for (int i = 0; i < calls; i++)
      native += fmt::format(R"({}"0x{:x}")", i == 0 ? "" : ",", fault.native[i]);
    json += fmt::format(R"(,"registers":{},"where":{},"native":[{}])",
                        RegistersJson(fault.registers), Quoted(FieldText(finding.where)), native);
  }
  return json + "}";
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
  record.fault = R"({"ending":"died")";
  if (WIFSIGNALED(death.wait_status))
    record.fault += fmt::format(R"(,"signal":{},"signal_name":{})", WTERMSIG(death.wait_status),
                                Quoted(SignalName(WTERMSIG(death.wait_status))));
  else if (WIFEXITED(death.wait_status))
    record.fault += fmt::format(R"(,"exit_status":{})", WEXITSTATUS(death.wait_status));
  record.fault += "}";
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

FindingRecord MakeProgramRecord(const std::string& oracle, const std::string& outcome,
                                const std::string& words, std::string detail) {
  FindingRecord record;
  record.oracle = oracle;
  record.outcome = outcome;
  record.grade = GradeOf(oracle, outcome, Grade::kForbidden);
  record.realism = Realism::kGenuine;
  record.detail = std::move(detail);
  const std::string name = fmt::format("{}/{}", oracle, outcome);
  const std::string title = words.empty() ? name : fmt::format("{}: {}", name, words);
  record.signature = {.key = title, .title = title, .oracle = oracle, .expect = name};
  return record;
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
  return FromWord(word, RealismWord, Realism::kFailingLoad, Realism::kEditedStack);
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
