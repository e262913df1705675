// SPDX-License-Identifier: Apache-2.0
// Secrets of each kind in each place of real logs: none survives redaction, and what makes a log
// useful does.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "harness/base/testing/sanitized.h"
#include "harness/hs_err/crash_report.h"
#include "harness/hs_err/redact.h"
#include "harness/hs_err/testing/crash_log.h"
#include "harness/hs_err/testing/planted_secrets.h"
#include "harness/hs_err/testing/report_items.h"

namespace walkhammer {
namespace {

std::vector<CrashLog> HsErrLogs() {
  std::vector<CrashLog> logs;
  for (CrashLog& log : CrashLogs(WALKHAMMER_CRASH_LOGS))
    if (log.is_hs_err()) logs.push_back(std::move(log));
  return logs;
}

// Those that are quickly read: thousands of texts are made of them.
std::vector<CrashLog> ShortLogs() {
  constexpr size_t kLongest = 16 << 10;
  std::vector<CrashLog> logs = HsErrLogs();
  std::erase_if(logs, [](const CrashLog& log) { return log.text.size() > kLongest; });
  return logs;
}

// What a verdict rests on.
std::string FactsOf(const std::string& text) {
  const CrashReport report = ParseCrashReport(text);
  std::string facts;
  for (const char* item : {"text",
                           "error",
                           "signal",
                           "code",
                           "address",
                           "computed address",
                           "pc",
                           "sp",
                           "tid",
                           "feature",
                           "gc",
                           "platform",
                           "problematic frame",
                           "frame",
                           "signal frame",
                           "java frame",
                           "register",
                           "word",
                           "pointee",
                           "instructions",
                           "vm state",
                           "code heap"})
    for (const std::string& value : ValuesOf(report, item))
      facts += fmt::format("{}: {}\n", item, value);
  return facts;
}

// Under sanitizers one of some.
bool IsTried(size_t number) {
  constexpr size_t kOneOf = 16;
  return !kSanitized || number % kOneOf == 0;
}

// The places are in turn in each of the logs.
TEST(PlantedSecret, DoesNotSurvive) {
  const std::vector<CrashLog> logs = ShortLogs();
  ASSERT_GE(logs.size(), 20u);
  ASSERT_GE(PlantedSecrets().size(), 40u);
  ASSERT_GE(PlantingPlaces().size(), 50u);
  size_t number = 0, survived = 0;
  for (const PlantedSecret& secret : PlantedSecrets()) {
    for (const PlantingPlace& place : PlantingPlaces()) {
      const CrashLog& log = logs[number++ % logs.size()];
      if (!IsTried(number)) continue;
      const std::string text = Planted(log.text, place, secret.text);
      const std::string redacted = Redact(text, nullptr);
      for (const std::string_view hidden : secret.hidden) {
        const size_t at = redacted.find(hidden);
        if (at == redacted.npos) continue;
        survived++;
        const size_t begin = redacted.rfind('\n', at) + 1;
        ADD_FAILURE() << place.name << ", " << log.name << ": "
                      << redacted.substr(begin, redacted.find('\n', at) - begin);
      }
      EXPECT_EQ(FactsOf(redacted), FactsOf(text)) << secret.text << ", " << place.name;
      EXPECT_EQ(Redact(redacted, nullptr), redacted) << secret.text << ", " << place.name;
    }
  }
  EXPECT_EQ(survived, 0u) << "of " << number;
}

TEST(PlantedSecret, WouldBeFound) {
  for (const PlantedSecret& secret : PlantedSecrets())
    for (const PlantingPlace& place : PlantingPlaces())
      for (const std::string_view hidden : secret.hidden)
        EXPECT_NE(Planted("", place, secret.text).find(hidden), std::string::npos) << secret.text;
}

TEST(PlantedInnocent, Stays) {
  const std::vector<CrashLog> logs = ShortLogs();
  size_t number = 0;
  for (const std::string_view innocent : PlantedInnocents()) {
    for (const PlantingPlace& place : PlantingPlaces()) {
      const std::string line = Planted("", place, innocent);
      if (!place.hides_all) {
        EXPECT_EQ(Redact(line, nullptr), line) << place.name;
      }
      const std::string text = Planted(logs[number++ % logs.size()].text, place, innocent);
      if (IsTried(number)) {
        EXPECT_EQ(FactsOf(Redact(text, nullptr)), FactsOf(text)) << place.name;
      }
    }
  }
}

// The logs were redacted before they came here: but for who built their JDKs nothing is personal.
TEST(PlantedInnocent, ARedactedLogHasNothingElseToRedact) {
  for (const CrashLog& log : HsErrLogs()) {
    std::vector<Redaction> done;
    Redact(log.text, &done);
    for (const Redaction& redaction : done)
      if (redaction.what != "who built the JDK") {
        EXPECT_TRUE(log.name == "macos-aarch64.log" && redaction.what == "time zone")
            << log.name << ": " << redaction.what << " in line " << redaction.first_line;
      }
  }
}

}  // namespace
}  // namespace walkhammer
