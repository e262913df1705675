// report: what a run folder holds, without a JVM.
#include <fmt/format.h>

#include <memory>

#include "harness/cli/common.h"
#include "harness/cli/verb.h"
#include "reports/json_report.h"
#include "reports/run_summary.h"
#include "reports/text_report.h"

namespace walkhammer {
namespace {

struct Options {
  std::vector<std::string> runs;
  bool json = false;
};

int RunReport(const Options& options) {
  int worst = 0;
  for (const std::string& dir : options.runs) {
    auto db = RunDb::Open(dir);
    if (!db.ok()) return PrintFailure(db.failure());
    auto summary = ReadRun(db.value());
    if (!summary.ok()) return PrintFailure(summary.failure());
    if (options.json) {
      auto text = JsonReport(db.value(), summary.value());
      if (!text.ok()) return PrintFailure(text.failure());
      fmt::print("{}", text.value());
    } else {
      fmt::print("{}", TextReport(summary.value()));
    }
    worst = std::max(worst, static_cast<int>(summary.value().verdict.exit));
  }
  return worst;
}

}  // namespace

void AddReport(CLI::App& app, Invocation& chosen) {
  CLI::App* verb = app.add_subcommand("report", "What a run found, from its folder alone");
  auto o = std::make_shared<Options>();
  verb->add_option("runs", o->runs, "Run folders")->required();
  AddJsonFlag(*verb, o->json);
  verb->callback([&chosen, o] { chosen.run = [o] { return RunReport(*o); }; });
}

}  // namespace walkhammer
