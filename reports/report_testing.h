// SPDX-License-Identifier: Apache-2.0
// A run store in a temporary folder, and the reports of it, for tests.
#ifndef WALKHAMMER_REPORTS_REPORT_TESTING_H_
#define WALKHAMMER_REPORTS_REPORT_TESTING_H_

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "harness/store/record_testing.h"
#include "harness/store/run_writer.h"
#include "reports/report_output.h"
#include "reports/run_summary.h"

namespace walkhammer {

// A fixture: `run_` is a new run in the folder "run". The reports read it from the disk.
class ReportedRun : public testing::Test {
 protected:
  RunReader Opened() { return std::move(RunReader::Open(dir_.Under("run")).value()); }
  RunSummary Summary() { return ReadRun(Opened()).value(); }
  std::string Text() { return TextReport(Summary()); }
  std::string FirstLine() {
    const std::string text = Text();
    return text.substr(0, text.find('\n'));
  }
  nlohmann::json ReadJson() {
    const RunReader run = Opened();
    return nlohmann::json::parse(JsonReport(run, ReadRun(run).value()).value());
  }
  template <typename Row>
  void Save(int64_t cell, const std::vector<Row>& rows) {
    ASSERT_TRUE(run_->Replace(cell, rows).ok());
  }
  // Writes a bug into a store, which is new if need be. Its patterns are "agct: " and `title`, and
  // what begins so.
  void Know(const std::string& store, const std::string& id, const std::string& title,
            const std::string& more = "affected = \"[25,26)\"\n") {
    std::filesystem::create_directory(dir_.Under(store.c_str()));
    std::ofstream(dir_.Under((store + "/" + id + ".toml").c_str()))
        << "title = \"about " << title << "\"\nsignatures = [\"agct: " << title
        << "*\"]\nstate = \"open\"\n"
        << more;
  }
  // What these stores know; "" for none.
  Judging Knowing(const char* issues, const char* team = "") {
    const auto path = [&](const char* name) { return *name == 0 ? "" : dir_.Under(name); };
    auto known = KnownBugs::Read(path(issues), path(team));
    EXPECT_TRUE(known.ok()) << known.failure().message;
    return {std::make_shared<const KnownBugs>(std::move(known.value())), *ParseDay("2026-11-27")};
  }
  std::unique_ptr<RunWriter> NewRun() {
    return std::make_unique<RunWriter>(
        std::move(RunWriter::Create(dir_.Under("run"), TestIdentity()).value()));
  }

  TemporaryFolder dir_;
  std::unique_ptr<RunWriter> run_ = NewRun();
};

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_REPORT_TESTING_H_
