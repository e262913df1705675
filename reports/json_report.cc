// SPDX-License-Identifier: Apache-2.0
#include "reports/json_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "harness/base/text.h"
#include "reports/coverage_text.h"

namespace walkhammer {
namespace {

using Json = nlohmann::ordered_json;

// The member and its name.
#define FIELD(row, member) \
  { #member, (row).member }

std::string Word(std::string_view word) { return std::string(word); }

Json FindingJson(const FindingRecord& finding) {
  // Our own faults are flat. What is nested deeper is left out, for dump calls itself.
  const auto shallow = [](int depth, Json::parse_event_t, const Json&) { return depth < 8; };
  Json fault = Json::parse(finding.fault, shallow, false);
  if (fault.is_discarded()) fault = finding.fault;
  return {FIELD(finding, sequence),
          FIELD(finding, time_ms),
          FIELD(finding, oracle),
          FIELD(finding, outcome),
          {"grade", Word(GradeWord(finding.grade))},
          {"realism", Word(RealismWord(finding.realism))},
          FIELD(finding, detail),
          FIELD(finding, request),
          FIELD(finding, frames),
          FIELD(finding, native),
          {"fault", fault},
          {"cell", finding.cell ? Json(*finding.cell) : Json(nullptr)}};
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
  return {
      {"key", bucket.signature.key},
      {"title", bucket.signature.title},
      {"known", NameJson(name)},
      {"expect", bucket.signature.expect},
      FIELD(bucket, oracle),
      FIELD(bucket, outcome),
      {"grade", Word(GradeWord(bucket.grade))},
      {"recorded_grade", Word(GradeWord(bucket.recorded_grade))},
      {"realism", Word(RealismWord(bucket.realism))},
      FIELD(bucket, count),
      FIELD(bucket, first_time_ms),
      FIELD(bucket, first_sequence),
      FIELD(bucket, confirmed),
      FIELD(bucket, tries),
      FIELD(bucket, folder),
      {"input", PathJson(files.input)},
      {"minimized_edits", bucket.minimized_edits ? Json(*bucket.minimized_edits) : Json(nullptr)},
      FIELD(bucket, minimized_confirmed),
      FIELD(bucket, minimized_tries),
      {"minimized", PathJson(files.minimized)}};
}

Json IdentityJson(const RunIdentity& identity) {
  return {FIELD(identity, tool_version),    FIELD(identity, jdk_path),
          FIELD(identity, vm_version),      FIELD(identity, vm_gc),
          FIELD(identity, libjvm_build_id), FIELD(identity, jvm_flags),
          FIELD(identity, walker),          FIELD(identity, provider),
          FIELD(identity, engine),          {"seed", std::to_string(identity.seed)},
          FIELD(identity, cpu_model),       FIELD(identity, kernel),
          FIELD(identity, started_at),      FIELD(identity, aslr),
          FIELD(identity, command_line),    FIELD(identity, workers)};
}

Json ChurnJson(const std::optional<ChurnTotals>& churn) {
  if (!churn) return nullptr;
  return {FIELD(*churn, collections), FIELD(*churn, rounds), FIELD(*churn, unloaded)};
}

Json SettleJson(const std::optional<SettleTotals>& settle) {
  if (!settle) return nullptr;
  return {FIELD(*settle, most_ms), FIELD(*settle, took_ms), FIELD(*settle, unconfirmed),
          FIELD(*settle, unminimized)};
}

Json TotalsJson(const RunSummary& summary) {
  const RunTotals& totals = summary.run.totals;
  return {FIELD(totals, time_ms),
          FIELD(totals, walks),
          {"walks_per_second", summary.WalksPerSecond()},
          FIELD(totals, successful),
          FIELD(totals, pristine_walks),
          FIELD(totals, pristine_true),
          FIELD(totals, contained_crashes),
          {"request_hash", fmt::format("{:016x}", totals.request_hash)},
          FIELD(totals, children_started),
          FIELD(totals, children_retired),
          FIELD(totals, children_died),
          FIELD(totals, blocks),
          {"churn", ChurnJson(totals.churn)},
          {"settle", SettleJson(totals.settle)}};
}

Json StateJson(const StateCodes& state) {
  Json codes = Json::array();
  for (const CodeShare& code : state.codes)
    codes.push_back(
        {FIELD(code, code), {"name", code.code_name}, FIELD(code, count), FIELD(code, share)});
  return {FIELD(state, walker), FIELD(state, state), FIELD(state, walks), {"codes", codes}};
}

Json DeliveryJson(const Delivery& delivery) {
  return {FIELD(delivery, requested), FIELD(delivery, delivered), FIELD(delivery, coalesced),
          FIELD(delivery, missed),    FIELD(delivery, walks),     FIELD(delivery, successful)};
}

Json ThreadJson(const CellThreadRow& thread) {
  return {FIELD(thread, tid),
          FIELD(thread, name),
          FIELD(thread, java),
          FIELD(thread, cpu_ms),
          {"delivery", DeliveryJson(thread.delivery)}};
}

Json AgreementJson(const std::vector<AgreementRow>& rows) {
  Json agreement = Json::array();
  for (const AgreementRow& row : rows)
    agreement.push_back({FIELD(row, walker),
                         FIELD(row, other),
                         {"realism", Word(RealismWord(row.realism))},
                         FIELD(row, region),
                         FIELD(row, kind),
                         FIELD(row, samples)});
  return agreement;
}

Json EvidenceJson(const CellSummary& cell) {
  Json evidence = Json::array();
  for (const EvidenceRow& row : cell.evidence)
    evidence.push_back({FIELD(row, walker), FIELD(row, other), FIELD(row, region), FIELD(row, kind),
                        FIELD(row, witness), FIELD(row, against), FIELD(row, samples)});
  return evidence;
}

Json WalkEndsJson(const CellSummary& cell) {
  Json ends = Json::array();
  for (const WalkEndRow& row : cell.ends)
    ends.push_back({FIELD(row, walker), FIELD(row, end), FIELD(row, count)});
  return ends;
}

// Of the run as a whole and of all cells, each with its cell's position or null.
Json NotesJson(const RunSummary& summary) {
  Json notes = Json::array();
  for (const NoteRow& note : summary.notes)
    notes.push_back({{"cell", note.cell == kNoCell ? Json(nullptr) : Json(note.cell)},
                     {"kind", NoteKindWord(note.kind)},
                     FIELD(note, name),
                     FIELD(note, count),
                     FIELD(note, detail)});
  return notes;
}

Json CellJson(const CellSummary& cell) {
  const CellRow& row = cell.row;
  Json codes = Json::array(), threads = Json::array();
  for (const StateCodes& state : cell.codes) codes.push_back(StateJson(state));
  for (const CellThreadRow& thread : cell.threads) threads.push_back(ThreadJson(thread));
  return {FIELD(row, position),
          {"label", CellLabel(row)},
          FIELD(row, workload),
          FIELD(row, jdk_path),
          FIELD(row, vm_version),
          FIELD(row, vm_gc),
          FIELD(row, profile),
          FIELD(row, jvm_flags),
          FIELD(row, walker),
          FIELD(row, mode),
          FIELD(row, sampler),
          FIELD(row, sampler_reason),
          FIELD(row, clock),
          FIELD(row, interval_min_ns),
          FIELD(row, interval_max_ns),
          {"status", CellStatusWord(row.status)},
          FIELD(row, reason),
          FIELD(row, time_ms),
          FIELD(row, starts),
          {"delivery", DeliveryJson(row.delivery)},
          FIELD(row, contained_crashes),
          FIELD(row, agent_kib),
          FIELD(row, output_bytes),
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
      regions.push_back({FIELD(region, cell), FIELD(region, kind), FIELD(region, name),
                         FIELD(region, level), FIELD(region, pcs), FIELD(region, steps),
                         FIELD(region, answered), FIELD(region, failed), FIELD(region, wrong),
                         FIELD(region, proven), FIELD(region, contradicted)});
  return regions;
}

Json RangesJson(const RunSummary& summary) {
  Json ranges = Json::array();
  for (const CellSummary& cell : summary.cells)
    for (const StepRangeRow& range : cell.ranges)
      ranges.push_back({FIELD(range, cell), FIELD(range, kind), FIELD(range, name),
                        FIELD(range, level), FIELD(range, answer), FIELD(range, begin),
                        FIELD(range, end), FIELD(range, steps), FIELD(range, disassembly)});
  return ranges;
}

Json CoverageJson(const CoverageRows& code) {
  if (!code.reason.empty()) return Json::object({FIELD(code, reason)});
  const CoverageTotals totals = CountCoverage(code);
  Json functions = Json::array();
  for (size_t i = 0; i < code.functions.size(); i++) {
    const CoverageFunctionRow& function = code.functions[i];
    Json blocks = Json::array();
    for (uint32_t b = 0; b < function.blocks; b++) {
      const CoverageBlockRow& block = code.blocks[function.first_block + b];
      blocks.push_back({{"address", Hex(block.address)},
                        FIELD(block, size),
                        {"first_ms", block.first_ms ? Json(*block.first_ms) : Json(nullptr)}});
    }
    functions.push_back({FIELD(function, name),
                         {"address", Hex(function.address)},
                         FIELD(function, size),
                         FIELD(function, reach),
                         {"reached", ReachedOf(code, i)},
                         {"blocks", std::move(blocks)}});
  }
  Json left_out = Json::array();
  for (const LeftOutRow& row : code.left_out)
    left_out.push_back({FIELD(row, name), FIELD(row, reason)});
  return {{"reason", ""},
          FIELD(code, file),
          FIELD(code, build_id),
          FIELD(totals, blocks),
          FIELD(totals, reached),
          FIELD(totals, functions_reached),
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
    Json bucket = BucketJson(summary.buckets[i], summary.files[i], summary.names[i]);
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
    json["counts"].push_back({FIELD(row, walker), FIELD(row, scene), FIELD(row, state),
                              FIELD(row, region), FIELD(row, code), FIELD(row, count)});
  json["agreement"] = AgreementJson(summary.agreement);
  json["scenes"] = Json::array();
  for (const SceneRow& scene : summary.scenes)
    json["scenes"].push_back({FIELD(scene, name), FIELD(scene, available),
                              FIELD(scene, pristine_true), FIELD(scene, tried),
                              FIELD(scene, truth_frames), FIELD(scene, reason)});
  json["progress"] = Json::array();
  for (const ProgressRow& point : summary.progress)
    json["progress"].push_back(
        {FIELD(point, time_ms), FIELD(point, walks), FIELD(point, buckets), FIELD(point, blocks)});
  json["cells"] = Json::array();
  for (const CellSummary& cell : summary.cells) json["cells"].push_back(CellJson(cell));
  json["step_regions"] = RegionsJson(summary);
  json["step_ranges"] = RangesJson(summary);
  json["coverage"] = CoverageJson(summary.coverage);
  // Text from a damaged child may not be UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace walkhammer
