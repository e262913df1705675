#include "reports/json_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

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

Json BucketJson(const BucketRow& bucket, const std::string& input) {
  return {{"key", bucket.signature.key},
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
          {"input", input.empty() ? Json(nullptr) : Json(input)}};
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
          {"command_line", identity.command_line}};
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
          {"children_died", totals.children_died}};
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

}  // namespace

Result<std::string> JsonReport(const RunDb& db, const RunSummary& summary) {
  Json json;
  json["schema"] = kJsonReportSchema;
  json["verdict"] = {{"word", summary.verdict.word},
                     {"sentence", summary.verdict.sentence},
                     {"exit_code", static_cast<int>(summary.verdict.exit)}};
  json["status"] = RunStatusWord(summary.run.status);
  json["status_reason"] = summary.run.reason;
  json["writer_alive"] = summary.run.writer_alive;
  json["identity"] = IdentityJson(summary.run.identity);
  json["totals"] = TotalsJson(summary);
  json["buckets"] = Json::array();
  for (size_t i = 0; i < summary.buckets.size(); i++) {
    Json bucket = BucketJson(summary.buckets[i], summary.inputs[i]);
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
    json["progress"].push_back(
        {{"time_ms", point.time_ms}, {"walks", point.walks}, {"buckets", point.buckets}});
  // Text from a damaged child may be no UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace walkhammer
