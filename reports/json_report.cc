// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/base/json_text.h"
#include "harness/base/text.h"
#include "harness/store/run_tables.h"
#include "reports/coverage_report.h"
#include "reports/report_output.h"

namespace walkhammer {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json FieldJson(const T& value) {
  return value;
}
template <typename T>
Json FieldJson(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}
template <typename T>
Json FieldJson(const Decimal<T>& number) {
  return std::to_string(number.value);
}
template <typename T>
Json FieldJson(const HexDigits<T>& number) {
  return fmt::format("{:016x}", number.value);
}
template <typename T, auto kTo, auto kFrom>
Json FieldJson(const Word<T, kTo, kFrom>& word) {
  return std::string(kTo(word.value));
}
template <typename T, int64_t kNone>
Json FieldJson(const OrNone<T, kNone>& number) {
  return number.value == kNone ? Json(nullptr) : Json(number.value);
}

// The row's columns, in their order, but for those of the names `without`.
template <typename Row>
Json RowJson(const Row& row, std::initializer_list<std::string_view> without = {}) {
  static const std::map<std::string_view, const char*> other_names = {
      {"ended", "end"}, {"first_byte", "begin"}, {"end_byte", "end"}};
  Json json = Json::object();
  Columns(row, [&](const char* name, const auto& field, const ColumnInfo& = {}) {
    if (std::find(without.begin(), without.end(), name) != without.end()) return;
    const auto other = other_names.find(name);
    json[other == other_names.end() ? name : other->second] = FieldJson(field);
  });
  return json;
}

template <typename Row>
Json RowsJson(const std::vector<Row>& rows, std::initializer_list<std::string_view> without = {}) {
  Json all = Json::array();
  for (const Row& row : rows) all.push_back(RowJson(row, without));
  return all;
}

// The columns of a row that has those of a Delivery, with these as an object of their own.
Json WithDelivery(const Json& row) {
  const Json delivery = RowJson(Delivery{});
  Json json;
  for (const auto& [name, value] : row.items())
    (delivery.contains(name) ? json["delivery"] : json)[name] = value;
  return json;
}

Json FindingJson(const FindingRecord& finding) {
  // Our own chains of calls are far shorter.
  constexpr size_t kMostChain = 64 << 10, kLinesOfCutChain = 100;
  // Our own faults are flat, and take less than 2 KiB. What is nested deeper is left out, for dump
  // calls itself; what is larger stays text.
  constexpr size_t kMostFault = 64 << 10;
  FindingRecord kept = finding;
  for (std::string* chain : {&kept.frames, &kept.native})
    if (chain->size() > kMostChain) *chain = FirstLines(*chain, kLinesOfCutChain);
  Json json = RowJson(StoredFinding{{}, 0, kept}, {"id", "bucket"});
  if (finding.fault.size() > kMostFault) return json;
  const auto shallow = [](int depth, Json::parse_event_t, const Json&) { return depth < 8; };
  const Json fault = Json::parse(finding.fault, shallow, false);
  if (!fault.is_discarded()) json["fault"] = fault;
  return json;
}

Json PathJson(const std::string& path) { return path.empty() ? Json(nullptr) : Json(path); }

// What is known of a bucket.
Json NameJson(const KnownAs& name) {
  const auto text = [](const std::string& value) {
    return value.empty() ? Json(nullptr) : Json(value);
  };
  return {{"verdict", BugVerdictWord(name.word.verdict)},
          {"bug", text(name.word.id)},
          {"title", text(name.title)},
          {"why", text(name.word.why)},
          {"signature", text(name.signature)}};
}

Json BucketJson(const BucketRow& bucket, const BucketFiles& files, const KnownAs& name) {
  return {{"key", bucket.signature.key},
          {"title", bucket.signature.title},
          {"known", NameJson(name)},
          {"expect", bucket.signature.expect},
          {"oracle", bucket.oracle},
          {"outcome", bucket.outcome},
          {"grade", GradeWord(bucket.grade)},
          {"recorded_grade", GradeWord(bucket.recorded_grade)},
          {"realism", RealismWord(bucket.realism)},
          {"count", bucket.count},
          {"first_time_ms", bucket.first_time_ms},
          {"first_sequence", bucket.first_sequence},
          {"confirmed", bucket.confirmed},
          {"tries", bucket.tries},
          {"folder", bucket.folder},
          {"input", PathJson(files.input)},
          {"minimized_edits", FieldJson(bucket.minimized_edits)},
          {"minimized_confirmed", bucket.minimized_confirmed},
          {"minimized_tries", bucket.minimized_tries},
          {"minimized", PathJson(files.minimized)}};
}

Json TotalsJson(const RunSummary& summary) {
  const RunTotals& totals = summary.run.totals;
  const Json columns = RowJson(totals);
  Json json;
  for (const auto& [name, value] : columns.items()) {
    json[name] = value;
    if (name == "walks") json["walks_per_second"] = summary.WalksPerSecond();
  }
  json["churn"] = totals.churn ? RowJson(*totals.churn) : Json(nullptr);
  json["failed_loads"] = totals.failed_loads ? RowJson(*totals.failed_loads) : Json(nullptr);
  json["settle"] = totals.settle ? RowJson(*totals.settle) : Json(nullptr);
  return json;
}

Json StatesJson(const std::vector<StateCodes>& states) {
  Json all = Json::array();
  for (const StateCodes& state : states) {
    Json codes = Json::array();
    for (const CodeShare& code : state.codes)
      codes.push_back({{"code", code.code},
                       {"name", code.code_name},
                       {"count", code.count},
                       {"share", code.share}});
    all.push_back({{"walker", state.walker},
                   {"state", state.state},
                   {"walks", state.walks},
                   {"codes", std::move(codes)}});
  }
  return all;
}

Json CellJson(const CellSummary& cell) {
  Json json = WithDelivery(RowJson(cell.row));
  json["label"] = CellLabel(cell.row);
  json["stacks"] = RowJson(cell.stacks, {kCellColumn});
  json["codes_by_state"] = StatesJson(cell.codes);
  json["agreement"] = RowsJson(cell.agreement, {kCellColumn});
  json["evidence"] = RowsJson(cell.evidence, {kCellColumn});
  json["walk_ends"] = RowsJson(cell.ends, {kCellColumn});
  json["threads"] = Json::array();
  for (const CellThreadRow& thread : cell.threads)
    json["threads"].push_back(WithDelivery(RowJson(thread, {kCellColumn})));
  return json;
}

// The rows of all cells, each with the position of its cell.
template <typename Row>
Json OfAllCells(const RunSummary& summary, std::vector<Row> CellSummary::*rows) {
  Json all = Json::array();
  for (const CellSummary& cell : summary.cells)
    for (const Row& row : cell.*rows) all.push_back(RowJson(row));
  return all;
}

Json CoverageJson(const CoverageRows& code) {
  if (!code.reason.empty()) return Json::object({{"reason", code.reason}});
  const CoverageTotals totals = CountCoverage(code);
  Json functions = Json::array();
  for (size_t i = 0; i < code.functions.size(); i++) {
    const CoverageFunctionRow& function = code.functions[i];
    Json blocks = Json::array();
    for (uint32_t b = 0; b < function.blocks; b++) {
      blocks.push_back(RowJson(code.blocks[function.first_block + b], {"function"}));
      blocks.back()["address"] = Hex(code.blocks[function.first_block + b].address);
    }
    functions.push_back(RowJson(function, {"first_block", "blocks"}));
    functions.back()["address"] = Hex(function.address);
    functions.back()["reached"] = ReachedOf(code, i);
    functions.back()["blocks"] = std::move(blocks);
  }
  return {{"reason", ""},
          {"file", code.file},
          {"build_id", code.build_id},
          {"blocks", totals.blocks},
          {"reached", totals.reached},
          {"functions_reached", totals.functions_reached},
          {"functions", std::move(functions)},
          {"left_out", RowsJson(code.left_out)}};
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
  json["notes"] = RowsJson(summary.notes);
  json["identity"] = RowJson(summary.run.identity, {"run_id", "shard"});
  json["totals"] = TotalsJson(summary);
  json["buckets"] = Json::array();
  for (size_t i = 0; i < summary.buckets.size(); i++) {
    Json bucket = BucketJson(summary.buckets[i], summary.files[i], summary.names[i]);
    ASSIGN_OR_RETURN(const auto findings, db.Findings(summary.buckets[i].id));
    bucket["findings"] = Json::array();
    for (const FindingRecord& finding : findings)
      bucket["findings"].push_back(FindingJson(finding));
    json["buckets"].push_back(std::move(bucket));
  }
  json["codes_by_state"] = StatesJson(summary.codes);
  json["counts"] = RowsJson(summary.counts);
  json["agreement"] = RowsJson(summary.agreement, {kCellColumn});
  json["scenes"] = RowsJson(summary.scenes);
  json["progress"] = RowsJson(summary.progress);
  json["cells"] = Json::array();
  for (const CellSummary& cell : summary.cells) json["cells"].push_back(CellJson(cell));
  json["step_regions"] = OfAllCells(summary, &CellSummary::regions);
  json["step_ranges"] = OfAllCells(summary, &CellSummary::ranges);
  json["frame_places"] = OfAllCells(summary, &CellSummary::frame_places);
  json["frame_walkers"] = OfAllCells(summary, &CellSummary::frame_walkers);
  json["frame_differences"] = OfAllCells(summary, &CellSummary::frame_differences);
  json["frame_predictions"] = OfAllCells(summary, &CellSummary::frame_predictions);
  json["frame_refuted"] = OfAllCells(summary, &CellSummary::frame_refuted);
  json["coverage"] = CoverageJson(summary.coverage);
  return JsonText(json) + "\n";
}

}  // namespace walkhammer
