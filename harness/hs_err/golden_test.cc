// SPDX-License-Identifier: Apache-2.0
// Whole logs, held against what was read from them before. WALKHAMMER_UPDATE_GOLDEN=1 in the
// environment writes the golden files anew; read the difference before you commit it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "harness/base/files.h"
#include "harness/base/testing/sanitized.h"
#include "harness/hs_err/crash_report.h"
#include "harness/hs_err/testing/report_text.h"

namespace walkhammer {
namespace {

std::vector<std::string> Logs() {
  std::vector<std::string> logs;
  for (const auto& entry : std::filesystem::directory_iterator(WALKHAMMER_CRASH_LOGS))
    if (entry.path().extension() != ".golden" && entry.path().extension() != ".md")
      logs.push_back(entry.path());
  std::sort(logs.begin(), logs.end());
  return logs;
}

TEST(GoldenLog, ReadsAsBefore) {
  const bool update = std::getenv("WALKHAMMER_UPDATE_GOLDEN") != nullptr;
  const std::vector<std::string> logs = Logs();
  ASSERT_GE(logs.size(), 50u);
  for (const std::string& log : logs) {
    const std::string text = ReportText(ParseCrashReport(ReadFile(log)));
    const std::string golden = std::filesystem::path(log).replace_extension(".golden");
    if (update) std::ofstream(golden, std::ios::binary) << text;
    EXPECT_EQ(text, ReadFile(golden)) << log;
  }
}

// How much of a report there is, for comparison with that of a text cut elsewhere.
struct Amount {
  size_t frames, registers, words, pointees, modules, events, flags, facts;
};

template <typename T>
size_t IsTold(const Told<T>& told) {
  return told.told() ? 1 : 0;
}

Amount AmountOf(const CrashReport& report) {
  const size_t facts = IsTold(report.signal.name) + IsTold(report.pid) + IsTold(report.pc) +
                       IsTold(report.version.jre) + IsTold(report.version.vm) +
                       IsTold(report.signal.code) + IsTold(report.internal.file) +
                       IsTold(report.command_line) + IsTold(report.vm_state);
  return {report.native_stack.frames.size(),
          report.registers.size(),
          report.stack_words.size(),
          report.register_pointees.size(),
          report.modules.size(),
          report.events.size(),
          report.flags.size(),
          facts};
}

class EachLog : public testing::TestWithParam<std::string> {};

// A cut may spoil the line it goes through, and takes nothing from what is before it.
TEST_P(EachLog, CutAnywhereKeepsWhatWasRead) {
  constexpr size_t kCuts = kSanitized ? 20 : 1000;
  const std::string& log = GetParam();
  const std::string text = ReadFile(log);
  Amount last = AmountOf(ParseCrashReport(""));
  for (size_t cut = 1; cut <= kCuts; cut++) {
    const CrashReport report =
        ParseCrashReport(std::string_view(text).substr(0, text.size() * cut / kCuts));
    const Amount now = AmountOf(report);
    ASSERT_GE(now.frames, last.frames) << log << " cut " << cut;
    ASSERT_GE(now.registers, last.registers) << log << " cut " << cut;
    ASSERT_GE(now.words, last.words) << log << " cut " << cut;
    ASSERT_GE(now.pointees, last.pointees) << log << " cut " << cut;
    ASSERT_GE(now.modules, last.modules) << log << " cut " << cut;
    ASSERT_GE(now.events, last.events) << log << " cut " << cut;
    ASSERT_GE(now.flags, last.flags) << log << " cut " << cut;
    ASSERT_GE(now.facts, last.facts) << log << " cut " << cut;
    last = now;
  }
}

// What is told in whole lines before a cut is told alike after it.
TEST_P(EachLog, CutBetweenLinesReadsTheSame) {
  const std::string& log = GetParam();
  const std::string text = ReadFile(log);
  const CrashReport whole = ParseCrashReport(text);
  for (size_t end = text.find('\n'); end != std::string::npos;
       end = text.find('\n', end + 1 + text.size() / (kSanitized ? 5 : 100))) {
    const CrashReport cut = ParseCrashReport(std::string_view(text).substr(0, end + 1));
    for (size_t i = 0; i < cut.registers.size(); i++) {
      ASSERT_LT(i, whole.registers.size());
      ASSERT_EQ(cut.registers[i].value, whole.registers[i].value) << log;
      ASSERT_EQ(cut.registers[i].line, whole.registers[i].line) << log;
    }
    if (cut.pc.told()) {
      ASSERT_EQ(cut.pc.value, whole.pc.value) << log;
    }
    if (cut.problematic_frame && log.ends_with(".log")) {
      ASSERT_EQ(cut.problematic_frame->text, whole.problematic_frame->text) << log;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Of, EachLog, testing::ValuesIn(Logs()), [](const auto& info) {
  std::string name = std::filesystem::path(info.param).stem();
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
});

}  // namespace
}  // namespace walkhammer
