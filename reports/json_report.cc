#include "reports/json_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reports/coverage_text.h"

namespace walkhammer {
namespace {

using Json = nlohmann::ordered_json;

std::string Word(std::string_view word) { return std::string(word); }

Json FindingJson(const FindingRecord& finding) {
  Json fault = Json::parse(finding.fault, nullptr, false);
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
          {"fault", fault}};
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
          {"churn", ChurnJson(totals.churn)}};
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

std::string Hex(uint64_t number) { return fmt::format("{:#x}", number); }

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

Result<std::string> JsonReport(const RunDb& db, const RunSummary& summary) {
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
  json["identity"] = IdentityJson(summary.run.identity);
  json["totals"] = TotalsJson(summary);
  json["buckets"] = Json::array();
  for (size_t i = 0; i < summary.buckets.size(); i++) {
    Json bucket = BucketJson(summary.buckets[i], summary.files[i]);
    const Result<std::vector<FindingRecord>> findings = db.Findings(summary.buckets[i].id);
    if (!findings.ok()) return findings.failure();
    bucket["findings"] = Json::array();
    for (const FindingRecord& finding : findings.value())
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
  json["coverage"] = CoverageJson(summary.coverage);
  // Text from a damaged child may be no UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace walkhammer
