// SPDX-License-Identifier: Apache-2.0
// Whatever people paste: each log as collectors, builds, trackers and containers wrap it, whole,
// cut, or damaged. A sample runs as a unit test; WALKHAMMER_TEXTS is the number of texts.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "harness/base/text.h"
#include "harness/hs_err/crash_report.h"
#include "harness/hs_err/plain_text.h"
#include "harness/hs_err/testing/crash_log.h"
#include "harness/hs_err/testing/essence.h"
#include "harness/hs_err/testing/wrappings.h"

namespace walkhammer {
namespace {

CrashReport Read(const std::string& bytes) {
  const auto text = PlainText(bytes, "a.log");
  EXPECT_TRUE(text.ok());
  return ParseCrashReport(text.ok() ? text.value() : "");
}

// Lines that an application prints before, in the same wrapping.
std::string WithOutputBefore(const std::string& text, int lines) {
  std::string before;
  for (int i = 0; i < lines; i++)
    before += i % 2 == 0 ? "Started application in 3.25 seconds\n" : "GET /items/42 200 17 ms\n";
  return before + text;
}

// Bytes of any value at any place.
std::string Spoilt(std::string text, std::mt19937& random) {
  for (int i = 0; i < 40 && !text.empty(); i++)
    text[random() % text.size()] = static_cast<char>(random());
  return text;
}

std::vector<std::string> TextsOf(const CrashStack& stack) {
  std::vector<std::string> texts;
  for (const CrashFrame& frame : stack.frames) texts.push_back(frame.text);
  return texts;
}

class WrappedLog : public testing::Test {
 protected:
  // Whole: everything that matters is read as from the bare log.
  void CheckWhole(size_t which, const CrashLog& log, std::mt19937& random) const {
    const std::string text = WithOutputBefore(log.text, static_cast<int>(random() % 30));
    const std::string wanted = EssenceOf(ParseCrashReport(text));
    EXPECT_EQ(Difference(EssenceOf(Read(WrappedBy(which, text))), wanted), "") << log.name;
  }

  // Cut: a stack that is not whole says so.
  void CheckCut(size_t which, const CrashLog& log, std::mt19937& random) const {
    if (!log.is_hs_err()) return;
    const CrashStack whole = ParseCrashReport(log.text).native_stack;
    std::string text = WrappedBy(which, log.text);
    const size_t at = random() % text.size();
    const bool front = random() % 2 == 0;
    text = front ? text.substr(at) : text.substr(0, at);
    // A prefix is learned from two lines of a crash at least.
    constexpr int kFewestLines = 6;
    if (front && std::count(text.begin(), text.end(), '\n') < kFewestLines) return;
    const CrashStack cut = Read(text).native_stack;
    // Without their header, Java frames may seem to be native ones.
    if (!front) {
      EXPECT_LE(cut.frames.size(), whole.frames.size()) << log.name;
    }
    if (!cut.frames.empty() && TextsOf(cut) != TextsOf(whole)) {
      EXPECT_TRUE(cut.truncated) << log.name << (front ? " from " : " up to ") << at;
    }
  }

  // Damaged: nothing is read that is not there.
  void CheckDamaged(size_t which, const CrashLog& log, std::mt19937& random) const {
    const CrashReport whole = ParseCrashReport(log.text);
    const CrashReport damaged = Read(WrappedBy(which, Damaged(log.text, random)));
    if (damaged.signal.name.known() && log.is_hs_err()) {
      EXPECT_TRUE(whole.signal.name.value.starts_with(damaged.signal.name.value)) << log.name;
    }
    (void)ParseCrashReports(Spoilt(WrappedBy(which, log.text), random));
  }
};

TEST_F(WrappedLog, ReadsLikeTheLogItself) {
  const size_t texts = TextsWanted(360);
  const std::vector<CrashLog> logs = CrashLogs(WALKHAMMER_CRASH_LOGS);
  std::mt19937 random(1);
  for (size_t i = 0; i < texts; i++) {
    const size_t which = i % WrappingCount();
    const CrashLog& log = logs[random() % logs.size()];
    SCOPED_TRACE(fmt::format("text {}: {}", i, NameOfWrapping(which)));
    CheckWhole(which, log, random);
    CheckCut(which, log, random);
    CheckDamaged(which, log, random);
    constexpr int kMostFailures = 20;
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    if (test->result()->total_part_count() > kMostFailures) break;
  }
  EXPECT_GT(texts, WrappingCount());
}

}  // namespace
}  // namespace walkhammer
