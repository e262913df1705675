// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <optional>
#include <utility>

#include "harness/base/numbers.h"
#include "reports/agreement.h"
#include "reports/coverage_report.h"
#include "reports/report_output.h"
#include "reports/stress_text.h"

namespace walkhammer {
namespace {

// A line about the smallest input known; "" if there is none.
std::string MinimizedText(const BucketRow& bucket, const std::string& dir,
                          const std::string& input) {
  if (!bucket.minimized_edits) return "";
  std::string text = fmt::format("      minimised to {}, {}/{}",
                                 Counted(static_cast<uint64_t>(*bucket.minimized_edits), "edit"),
                                 bucket.minimized_confirmed, bucket.minimized_tries);
  if (!input.empty()) text += fmt::format(": {}/{}", dir, OnOneLine(input));
  return text + "\n";
}

// Why confirming and minimising ended early.
std::string CutShort(const RunSummary& summary) {
  return summary.run.status == RunStatus::kInterrupted ? "interrupted" : "no time left";
}

std::string ReplaysOf(const RunSummary& summary, size_t index) {
  const BucketRow& bucket = summary.buckets[index];
  const std::optional<SettleTotals>& settle = summary.run.totals.settle;
  const bool had_time = !settle || settle->unconfirmed == 0 || summary.files[index].input.empty();
  return ReplaysText(bucket) + (bucket.tries > 0 || had_time ? "" : ": " + CutShort(summary));
}

std::string SettleText(const RunSummary& summary, const SettleTotals& settle) {
  std::string text = fmt::format("{:.1f} s, of at most {:.1f} s, with minimising",
                                 static_cast<double>(settle.took_ms) / 1000,
                                 static_cast<double>(settle.most_ms) / 1000);
  if (settle.unconfirmed != 0)
    text += fmt::format("; {} not replayed", Counted(settle.unconfirmed, "bucket"));
  if (settle.unminimized != 0)
    text += fmt::format("; {} not minimised", Counted(settle.unminimized, "bucket"));
  if (settle.unconfirmed + settle.unminimized != 0) text += ": " + CutShort(summary);
  return text;
}

std::string BucketText(const RunSummary& summary, size_t index) {
  const BucketRow& bucket = summary.buckets[index];
  const BucketFiles& files = summary.files[index];
  const std::string& dir = summary.dir;
  std::string text =
      fmt::format("  {:<11}  {:<16}  {:<14}  {}x\n", GradeWord(bucket.grade),
                  RealismWord(bucket.realism), ReplaysOf(summary, index), Grouped(bucket.count));
  const std::string judged = OnOneLine(bucket.oracle + "/" + bucket.outcome),
                    title = OnOneLine(bucket.signature.title);
  text += "      " + title;
  if (!title.starts_with(judged)) text += "\n      " + judged;  // else the title says so
  if (bucket.grade != bucket.recorded_grade)
    text += fmt::format(" (regraded, was {})", GradeWord(bucket.recorded_grade));
  if (const std::string seen_by = SeenByText(summary, index); !seen_by.empty())
    text += "\n      in " + seen_by;
  text += "\n      " + NameText(summary.names[index]);
  text += files.input.empty() ? "\n      no input was kept\n"
                              : fmt::format("\n      {}/{}\n", dir, OnOneLine(files.input));
  return text + MinimizedText(bucket, dir, files.minimized);
}

std::string CodesText(const StateCodes& state) {
  std::string text = fmt::format("  {}: {} walks\n", OnOneLine(state.walker + " in " + state.state),
                                 Grouped(state.walks));
  for (const CodeShare& code : state.codes) {
    std::string line =
        fmt::format("    {:>9}  {:>6}", Percent(code.count, state.walks, 2), OnOneLine(code.code));
    if (!code.code_name.empty()) line += "  " + code.code_name;
    text += line + "\n";
  }
  return text;
}

std::string SceneText(const SceneRow& scene) {
  std::string words = "not available";
  if (scene.available)
    words = scene.pristine_true ? fmt::format("true, {} frames", scene.truth_frames)
                                : std::string("not walked correctly");
  std::string text = fmt::format("  {:<22}{}", OnOneLine(scene.name), words);
  if (!scene.reason.empty()) text += ": " + OnOneLine(scene.reason);
  return text + "\n";
}

std::string EngineWords(const RunIdentity& identity) {
  const std::string workers =
      identity.workers == 1 ? "" : fmt::format(", {} workers", identity.workers);
  return fmt::format("{}, seed {}{}", identity.engine, identity.seed, workers);
}

std::string FailedLoadsText(const FailedLoadTotals& loads) {
  const uint64_t failed = loads.contained + loads.crashed + loads.hung;
  std::string text = fmt::format("{} of {} in {}: {} contained, {} crashed", Grouped(failed),
                                 Grouped(loads.loads), Counted(loads.finished, "undisturbed walk"),
                                 Grouped(loads.contained), Grouped(loads.crashed));
  if (loads.hung != 0) text += fmt::format(", {} hung", Grouped(loads.hung));
  if (loads.missed != 0) text += fmt::format("; {} were not reached again", Grouped(loads.missed));
  if (loads.unseen != 0)
    text += fmt::format("; {} were not followed to their end",
                        Counted(loads.unseen, "undisturbed walk"));
  return text;
}

std::string SectionOf(const char* heading, const std::vector<NamedText>& lines) {
  std::string text = fmt::format("\n{}\n", heading);
  for (const auto& [name, value] : lines)
    text += fmt::format("  {:<16}{}\n", name, value.empty() ? "-" : OnOneLine(value));
  return text;
}

}  // namespace

std::vector<NamedText> TotalsOfRun(const RunSummary& summary) {
  const RunTotals& totals = summary.run.totals;
  const bool fuzz = summary.cells.empty();
  std::vector<NamedText> lines;
  const auto line = [&](const char* name, std::string value) {
    lines.emplace_back(name, std::move(value));
  };
  line("run", RunStateText(summary.run));
  line("time", fmt::format("{:.1f} s", static_cast<double>(totals.time_ms) / 1000));
  if (totals.settle) line("confirming", SettleText(summary, *totals.settle));
  line("walks", fmt::format("{}, {} a second", Grouped(totals.walks),
                            Grouped(static_cast<uint64_t>(summary.WalksPerSecond()))));
  line("successful", fmt::format("{} ({})", Grouped(totals.successful),
                                 Percent(totals.successful, totals.walks, 2)));
  if (fuzz)
    line("pristine true",
         fmt::format("{} of {}", Grouped(totals.pristine_true), Grouped(totals.pristine_walks)));
  line("crashes", Grouped(totals.contained_crashes) + " contained");
  line("children", fmt::format("{} started, {} retired, {} died", totals.children_started,
                               totals.children_retired, totals.children_died));
  if (totals.churn)
    line("churn", fmt::format("{} collections, {} rounds of classes, {} unloaded",
                              Grouped(totals.churn->collections), Grouped(totals.churn->rounds),
                              Grouped(totals.churn->unloaded)));
  if (totals.failed_loads) line("failed loads", FailedLoadsText(*totals.failed_loads));
  if (fuzz) line("request hash", fmt::format("{:016x}", totals.request_hash));
  return lines;
}

std::vector<NamedText> IdentityOfRun(const RunSummary& summary) {
  const RunIdentity& identity = summary.run.identity;
  return {
      {"JDK", identity.jdk_path},
      {"VM", identity.vm_version},
      {"GC", identity.vm_gc},
      {"libjvm build id", identity.libjvm_build_id},
      {"JVM flags", identity.jvm_flags},
      {"walker", fmt::format("{} (provider {})", identity.walker, identity.provider)},
      {"engine", EngineWords(identity)},
      {"started", identity.started_at},
      {"machine", fmt::format("{}, {}, ASLR {}", identity.cpu_model, identity.kernel,
                              identity.aslr ? "on" : "off")},
      {"in force", InForceText(summary)},
      {"command", identity.command_line},
      {"walkhammer", identity.tool_version},
  };
}

std::string TextReport(const RunSummary& summary) {
  std::string text = summary.verdict.word + ": " + OnOneLine(summary.verdict.sentence) + "\n";
  text += LimitsText(summary);

  text += "\nBuckets\n";
  if (summary.buckets.empty()) text += "  none\n";
  for (size_t i = 0; i < summary.buckets.size(); i++) text += BucketText(summary, i);

  const bool fuzz = summary.cells.empty();
  if (!fuzz) text += "\nCells\n" + CellsSection(summary);

  if (fuzz) {
    text += "\nWhat the walker answered, by presented thread state\n";
    if (summary.codes.empty()) text += "  nothing counted yet\n";
    for (const StateCodes& state : summary.codes) text += CodesText(state);
  }

  if (!summary.agreement.empty())
    text += "\nAgreement of walkers that were shown the same\n" +
            AgreementText(summary.agreement, "  ");

  if (fuzz || summary.coverage.reason.empty())
    text += "\nCoverage\n" + CoverageSection(summary.coverage, summary.progress);

  if (fuzz) {
    text += "\nScenes\n";
    if (summary.scenes.empty()) text += "  none reported yet\n";
    for (const SceneRow& scene : summary.scenes)
      if (scene.tried > 0) text += SceneText(scene);
  }

  return text + SectionOf("Totals", TotalsOfRun(summary)) +
         SectionOf("Identity", IdentityOfRun(summary));
}

}  // namespace walkhammer
