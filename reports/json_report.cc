// SPDX-License-Identifier: Apache-2.0
#include "reports/json_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "harness/base/text.h"
#include "reports/coverage_text.h"

namespace walkhammer {
namespace {

using Json = nlohmann::ordered_json;

std::string Word(std::string_view word) { return std::string(word); }

Json FindingJson(const FindingRecord& finding) {
  // Our own faults are flat. What is nested deeper is left out, for dump calls itself.
  const auto shallow = [](int depth, Json::parse_event_t, const Json&) { return depth < 8; };
  Json fault = Json::parse(finding.fault, shallow, false);
  if (fault.is_discarded()) fault = finding.fault;
  return {{"sequence", finding.sequence},
          {"time_ms", finding.time_ms},
          {"oracle", finding.oracle},
          {"outcome", finding.outcome},
          {"grade", Word(GradeWord(finding.grade))},
          {"realism", Word(RealismWord(finding.realism))},
          {"detail", finding.detail},
          {"request", finding.request},
          {"frames", finding.frames},
          {"native", finding.native},
          {"fault", fault},
          {"cell", finding.cell ? Json(*finding.cell) : Json(nullptr)}};
}

Json PathJson(const std::string& path) { return path.empty() ? Json(nullptr) : Json(path); }

Json BucketJson(const BucketRow& bucket, const BucketFiles& files) {
  return {
      {"key", bucket.signature.key},
      {"title", bucket.signature.title},
      {"expect", bucket.signature.expect},
      {"oracle", bucket.oracle},
      {"outcome", bucket.outcome},
      {"grade", Word(GradeWord(bucket.grade))},
      {"recorded_grade", Word(GradeWord(bucket.recorded_grade))},
      {"realism", Word(RealismWord(bucket.realism))},
      {"count", bucket.count},
      {"first_time_ms", bucket.first_time_ms},
      {"first_sequence", bucket.first_sequence},
      {"confirmed", bucket.confirmed},
      {"tries", bucket.tries},
      {"folder", bucket.folder},
      {"input", PathJson(files.input)},
      {"minimized_edits", bucket.minimized_edits ? Json(*bucket.minimized_edits) : Json(nullptr)},
      {"minimized_confirmed", bucket.minimized_confirmed},
      {"minimized_tries", bucket.minimized_tries},
      {"minimized", PathJson(files.minimized)}};
}

Json IdentityJson(const RunIdentity& identity) {
  return {{"tool_version", identity.tool_version},
          {"jdk_path", identity.jdk_path},
          {"vm_version", identity.vm_version},
          {"vm_gc", identity.vm_gc},
          {"libjvm_build_id", identity.libjvm_build_id},
          {"jvm_flags", identity.jvm_flags},
          {"walker", identity.walker},
          {"provider", identity.provider},
          {"engine", identity.engine},
          {"seed", std::to_string(identity.seed)},
          {"cpu_model", identity.cpu_model},
          {"kernel", identity.kernel},
          {"started_at", identity.started_at},
          {"aslr", identity.aslr},
          {"command_line", identity.command_line},
          {"workers", identity.workers}};
}

Json ChurnJson(const std::optional<ChurnTotals>& churn) {
  if (!churn) return nullptr;
  return {{"collections", churn->collections},
          {"rounds", churn->rounds},
          {"unloaded", churn->unloaded}};
}

Json SettleJson(const std::optional<SettleTotals>& settle) {
  if (!settle) return nullptr;
  return {{"most_ms", settle->most_ms},
          {"took_ms", settle->took_ms},
          {"unconfirmed", settle->unconfirmed},
          {"unminimized", settle->unminimized}};
}

Json TotalsJson(const RunSummary& summary) {
  const RunTotals& totals = summary.run.totals;
  return {{"time_ms", totals.time_ms},
          {"walks", totals.walks},
          {"walks_per_second", summary.WalksPerSecond()},
          {"successful", totals.successful},
          {"pristine_walks", totals.pristine_walks},
          {"pristine_true", totals.pristine_true},
          {"contained_crashes", totals.contained_crashes},
          {"request_hash", fmt::format("{:016x}", totals.request_hash)},
          {"children_started", totals.children_started},
          {"children_retired", totals.children_retired},
          {"children_died", totals.children_died},
          {"blocks", totals.blocks},
          {"churn", ChurnJson(totals.churn)},
          {"settle", SettleJson(totals.settle)}};
}

Json StateJson(const StateCodes& state) {
  Json codes = Json::array();
  for (const CodeShare& code : state.codes)
    codes.push_back({{"code", code.code},
                     {"name", code.code_name},
                     {"count", code.count},
                     {"share", code.share}});
  return {
      {"walker", state.walker}, {"state", state.state}, {"walks", state.walks}, {"codes", codes}};
}

Json DeliveryJson(const Delivery& delivery) {
  return {{"requested", delivery.requested}, {"delivered", delivery.delivered},
          {"coalesced", delivery.coalesced}, {"missed", delivery.missed},
          {"walks", delivery.walks},         {"successful", delivery.successful}};
}

Json ThreadJson(const CellThreadRow& thread) {
  return {{"tid", thread.tid},
          {"name", thread.name},
          {"java", thread.java},
          {"cpu_ms", thread.cpu_ms},
          {"delivery", DeliveryJson(thread.delivery)}};
}

Json AgreementJson(const std::vector<AgreementRow>& rows) {
  Json agreement = Json::array();
  for (const AgreementRow& row : rows)
    agreement.push_back({{"walker", row.walker},
                         {"other", row.other},
                         {"realism", Word(RealismWord(row.realism))},
                         {"region", row.region},
                         {"kind", row.kind},
                         {"samples", row.samples}});
  return agreement;
}

Json EvidenceJson(const CellSummary& cell) {
  Json evidence = Json::array();
  for (const EvidenceRow& row : cell.evidence)
    evidence.push_back({{"walker", row.walker},
                        {"other", row.other},
                        {"region", row.region},
                        {"kind", row.kind},
                        {"witness", row.witness},
                        {"against", row.against},
                        {"samples", row.samples}});
  return evidence;
}

Json WalkEndsJson(const CellSummary& cell) {
  Json ends = Json::array();
  for (const WalkEndRow& row : cell.ends)
    ends.push_back({{"walker", row.walker}, {"end", row.end}, {"count", row.count}});
  return ends;
}

// Of the run as a whole and of all cells, each with its cell's position or null.
Json NotesJson(const RunSummary& summary) {
  Json notes = Json::array();
  for (const NoteRow& note : summary.notes)
    notes.push_back({{"cell", note.cell == kNoCell ? Json(nullptr) : Json(note.cell)},
                     {"kind", NoteKindWord(note.kind)},
                     {"name", note.name},
                     {"count", note.count},
                     {"detail", note.detail}});
  return notes;
}

Json CellJson(const CellSummary& cell) {
  const CellRow& row = cell.row;
  Json codes = Json::array(), threads = Json::array();
  for (const StateCodes& state : cell.codes) codes.push_back(StateJson(state));
  for (const CellThreadRow& thread : cell.threads) threads.push_back(ThreadJson(thread));
  return {{"position", row.position},
          {"label", CellLabel(row)},
          {"workload", row.workload},
          {"jdk_path", row.jdk_path},
          {"vm_version", row.vm_version},
          {"vm_gc", row.vm_gc},
          {"profile", row.profile},
          {"jvm_flags", row.jvm_flags},
          {"walker", row.walker},
          {"mode", row.mode},
          {"sampler", row.sampler},
          {"sampler_reason", row.sampler_reason},
          {"clock", row.clock},
          {"interval_min_ns", row.interval_min_ns},
          {"interval_max_ns", row.interval_max_ns},
          {"status", CellStatusWord(row.status)},
          {"reason", row.reason},
          {"time_ms", row.time_ms},
          {"starts", row.starts},
          {"delivery", DeliveryJson(row.delivery)},
          {"contained_crashes", row.contained_crashes},
          {"agent_kib", row.agent_kib},
          {"output_bytes", row.output_bytes},
          {"stacks", {{"distinct", cell.stacks.distinct}, {"count", cell.stacks.count}}},
          {"codes_by_state", std::move(codes)},
          {"agreement", AgreementJson(cell.agreement)},
          {"evidence", EvidenceJson(cell)},
          {"walk_ends", WalkEndsJson(cell)},
          {"threads", std::move(threads)}};
}

// The regions of all cells, each with the position of its cell.
Json RegionsJson(const RunSummary& summary) {
  Json regions = Json::array();
  for (const CellSummary& cell : summary.cells)
    for (const StepRegionRow& region : cell.regions)
      regions.push_back({{"cell", region.cell},
                         {"kind", region.kind},
                         {"name", region.name},
                         {"level", region.level},
                         {"pcs", region.pcs},
                         {"steps", region.steps},
                         {"answered", region.answered},
                         {"failed", region.failed},
                         {"wrong", region.wrong},
                         {"proven", region.proven},
                         {"contradicted", region.contradicted}});
  return regions;
}

Json RangesJson(const RunSummary& summary) {
  Json ranges = Json::array();
  for (const CellSummary& cell : summary.cells)
    for (const StepRangeRow& range : cell.ranges)
      ranges.push_back({{"cell", range.cell},
                        {"kind", range.kind},
                        {"name", range.name},
                        {"level", range.level},
                        {"answer", range.answer},
                        {"begin", range.begin},
                        {"end", range.end},
                        {"steps", range.steps},
                        {"disassembly", range.disassembly}});
  return ranges;
}

Json CoverageJson(const CoverageRows& code) {
  if (!code.reason.empty()) return Json::object({{"reason", code.reason}});
  const CoverageTotals totals = CountCoverage(code);
  Json functions = Json::array();
  for (size_t i = 0; i < code.functions.size(); i++) {
    const CoverageFunctionRow& function = code.functions[i];
    Json blocks = Json::array();
    for (uint32_t b = 0; b < function.blocks; b++) {
      const CoverageBlockRow& block = code.blocks[function.first_block + b];
      blocks.push_back({{"address", Hex(block.address)},
                        {"size", block.size},
                        {"first_ms", block.first_ms ? Json(*block.first_ms) : Json(nullptr)}});
    }
    functions.push_back({{"name", function.name},
                         {"address", Hex(function.address)},
                         {"size", function.size},
                         {"reach", function.reach},
                         {"reached", ReachedOf(code, i)},
                         {"blocks", std::move(blocks)}});
  }
  Json left_out = Json::array();
  for (const LeftOutRow& row : code.left_out)
    left_out.push_back({{"name", row.name}, {"reason", row.reason}});
  return {{"reason", ""},
          {"file", code.file},
          {"build_id", code.build_id},
          {"blocks", totals.blocks},
          {"reached", totals.reached},
          {"functions_reached", totals.functions_reached},
          {"functions", std::move(functions)},
          {"left_out", std::move(left_out)}};
}

}  // namespace

Result<std::string> JsonReport(const RunReader& db, const RunSummary& summary) {
  Json json;
  json["schema"] = kJsonReportSchema;
  json["verdict"] = {{"word", summary.verdict.word},
                     {"sentence", summary.verdict.sentence},
                     {"exit_code", static_cast<int>(summary.verdict.exit)}};
  json["coverage_goal"] = summary.goal ? Json{{"percent", summary.goal->percent},
                                              {"needed", summary.goal->needed},
                                              {"met", summary.goal->met}}
                                       : Json(nullptr);
  json["status"] = RunStatusWord(summary.run.status);
  json["status_reason"] = summary.run.reason;
  json["writer_alive"] = summary.run.writer_alive;
  json["notes"] = NotesJson(summary);
  json["identity"] = IdentityJson(summary.run.identity);
  json["totals"] = TotalsJson(summary);
  json["buckets"] = Json::array();
  for (size_t i = 0; i < summary.buckets.size(); i++) {
    Json bucket = BucketJson(summary.buckets[i], summary.files[i]);
    ASSIGN_OR_RETURN(const auto findings, db.Findings(summary.buckets[i].id));
    bucket["findings"] = Json::array();
    for (const FindingRecord& finding : findings)
      bucket["findings"].push_back(FindingJson(finding));
    json["buckets"].push_back(std::move(bucket));
  }
  json["codes_by_state"] = Json::array();
  for (const StateCodes& state : summary.codes) json["codes_by_state"].push_back(StateJson(state));
  json["counts"] = Json::array();
  for (const CountRow& row : summary.counts)
    json["counts"].push_back({{"walker", row.walker},
                              {"scene", row.scene},
                              {"state", row.state},
                              {"region", row.region},
                              {"code", row.code},
                              {"count", row.count}});
  json["agreement"] = AgreementJson(summary.agreement);
  json["scenes"] = Json::array();
  for (const SceneRow& scene : summary.scenes)
    json["scenes"].push_back({{"name", scene.name},
                              {"available", scene.available},
                              {"pristine_true", scene.pristine_true},
                              {"tried", scene.tried},
                              {"truth_frames", scene.truth_frames},
                              {"reason", scene.reason}});
  json["progress"] = Json::array();
  for (const ProgressRow& point : summary.progress)
    json["progress"].push_back({{"time_ms", point.time_ms},
                                {"walks", point.walks},
                                {"buckets", point.buckets},
                                {"blocks", point.blocks}});
  json["cells"] = Json::array();
  for (const CellSummary& cell : summary.cells) json["cells"].push_back(CellJson(cell));
  json["step_regions"] = RegionsJson(summary);
  json["step_ranges"] = RangesJson(summary);
  json["coverage"] = CoverageJson(summary.coverage);
  // Text from a damaged child may not be UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace walkhammer
