// SPDX-License-Identifier: Apache-2.0
// However a log reaches people, nobody gets a wrong "no", and no walker is blamed for what it did
// not do. A sample runs as a unit test; WALKHAMMER_TEXTS is the number of texts.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "harness/base/text.h"
#include "harness/crash/guilt.h"
#include "harness/crash/imported_crash.h"
#include "harness/hs_err/plain_text.h"
#include "harness/hs_err/testing/crash_log.h"
#include "harness/hs_err/testing/wrappings.h"

namespace walkhammer {
namespace {

// nullopt: nothing of a crash is recognised, and import refuses the text.
std::optional<Guilt> GuiltIn(const std::string& bytes) {
  const auto text = PlainText(bytes, "a.log");
  if (!text.ok()) return std::nullopt;
  const CrashReport report = ParseCrashReport(text.value());
  if (report.text_kind == CrashText::kNone || report.text_kind == CrashText::kThreadDump)
    return std::nullopt;
  return JudgeGuilt(report, ChainOf(report)).guilt;
}

// What a verdict on a text may not be, given that on the bare log.
std::string Wrong(std::optional<Guilt> bare, std::optional<Guilt> found) {
  if (bare != Guilt::kNone && found == Guilt::kNone) return "a \"no\" without the data for it";
  if (bare == Guilt::kNone && found == Guilt::kWalker) return "an innocent walker is blamed";
  return "";
}

// The requests that import makes of a text, without their comments, which name lines of the text.
std::vector<std::string> RequestsOf(const std::string& bytes) {
  const auto text = PlainText(bytes, "a.log");
  const auto crashes = ImportTexts(text.ok() ? text.value() : "", "a.log", {});
  std::vector<std::string> requests;
  if (!crashes.ok()) return requests;
  for (const CrashCandidate& candidate : crashes.value()[0].candidates) {
    std::string request;
    for (const std::string& line : Split(candidate.text, '\n'))
      if (!line.starts_with('#')) request += line + '\n';
    requests.push_back(request);
  }
  return requests;
}

// What reproduces from a log reproduces from it in each wrapping.
TEST(WrappedGuilt, TheRequestsAreThoseOfTheLog) {
  size_t guilty = 0;
  for (const CrashLog& log : CrashLogs(WALKHAMMER_CRASH_LOGS)) {
    if (GuiltIn(log.text) != Guilt::kWalker) continue;
    const std::vector<std::string> bare = RequestsOf(log.text);
    EXPECT_EQ(bare.empty(), ParseCrashReport(log.text).vm == CrashVm::kOpenJ9) << log.name;
    for (size_t k = 0; k < 10; k++) {
      const size_t which = (10 * guilty + k) % WrappingCount();
      EXPECT_EQ(RequestsOf(WrappedBy(which, log.text)), bare)
          << log.name << ", " << NameOfWrapping(which);
    }
    guilty++;
  }
  EXPECT_GE(guilty, 5u);
}

TEST(WrappedGuilt, NoTextGetsAWrongNo) {
  const size_t texts = TextsWanted(400);
  const std::vector<CrashLog> logs = CrashLogs(WALKHAMMER_CRASH_LOGS);
  std::mt19937 random(2);
  size_t judged = 0;
  for (size_t i = 0; i < texts && !testing::Test::HasFailure(); i++) {
    const size_t which = i % WrappingCount();
    const CrashLog& log = logs[random() % logs.size()];
    SCOPED_TRACE(fmt::format("text {}: {}, {}", i, log.name, NameOfWrapping(which)));
    const std::optional<Guilt> bare = GuiltIn(log.text);
    const std::string whole = WrappedBy(which, log.text);
    EXPECT_EQ(GuiltIn(whole), bare);
    const size_t at = random() % whole.size();
    EXPECT_EQ(Wrong(bare, GuiltIn(whole.substr(0, at))), "") << "up to " << at;
    EXPECT_EQ(Wrong(bare, GuiltIn(whole.substr(at))), "") << "from " << at;
    // A lost or cut frame cannot be noticed, so a walker that is to blame may be gone.
    const std::optional<Guilt> damaged = GuiltIn(WrappedBy(which, Damaged(log.text, random)));
    EXPECT_FALSE(bare == Guilt::kNone && damaged == Guilt::kWalker) << "damaged";
    judged += damaged.has_value();
  }
  EXPECT_GT(judged, texts / 2);
}

}  // namespace
}  // namespace walkhammer
