// SPDX-License-Identifier: Apache-2.0
// A redacted log has the verdict of the log itself, whatever was taken out of it.
#include <gtest/gtest.h>

#include "harness/crash/guilt.h"
#include "harness/hs_err/redact.h"
#include "harness/hs_err/testing/crash_log.h"
#include "harness/hs_err/testing/planted_secrets.h"

namespace walkhammer {
namespace {

std::string VerdictOf(const std::string& text) {
  const CrashReport report = ParseCrashReport(text);
  const GuiltVerdict verdict = JudgeGuilt(report, ChainOf(report));
  std::string words = verdict.function + "; " + verdict.why + "; " + verdict.protection;
  if (verdict.pattern != nullptr) words += std::string("; ") + verdict.pattern->whose;
  for (const std::string& innocent : verdict.innocent) words += "; " + innocent;
  return std::to_string(static_cast<int>(verdict.guilt)) + "; " + words;
}

TEST(RedactedGuilt, IsThatOfTheLog) {
  size_t number = 0, guilty = 0;
  for (const CrashLog& log : CrashLogs(WALKHAMMER_CRASH_LOGS)) {
    const PlantingPlace& place = PlantingPlaces()[number++ % PlantingPlaces().size()];
    std::string text = log.text;
    for (const PlantedSecret& secret : PlantedSecrets()) text = Planted(text, place, secret.text);
    const std::string verdict = VerdictOf(text);
    guilty += verdict.starts_with("1;") ? 1 : 0;
    EXPECT_EQ(VerdictOf(Redact(text, nullptr)), verdict) << log.name << ", " << place.name;
    EXPECT_EQ(VerdictOf(Redact(log.text, nullptr)), VerdictOf(log.text)) << log.name;
  }
  EXPECT_GE(guilty, 5u);
}

}  // namespace
}  // namespace walkhammer
