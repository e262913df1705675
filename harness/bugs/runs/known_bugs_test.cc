// SPDX-License-Identifier: Apache-2.0
// The issues that ship with the tool, compared with what runs find.
#include "harness/bugs/runs/known_bugs.h"

#include <gtest/gtest.h>

#include <regex>

#include "harness/base/testing/fails_with.h"

namespace walkhammer {
namespace {

constexpr char kShippedIssues[] = WALKHAMMER_CORPORA "/known-issues";

class KnownBugsTest : public ::testing::Test {
 protected:
  KnownAs NameOn(const char* build, const std::string& signature) const {
    Sighting sighting;
    sighting.signature = signature;
    sighting.seen.build = build;
    return known_.NameOf(sighting, *ParseDay("2026-11-29"));
  }

  const KnownBugs known_ = Must(KnownBugs::Read(kShippedIssues, ""));
};

// A signature that `pattern` matches, with another access, and with another caller.
struct Planted {
  explicit Planted(const std::string& pattern)
      : known(std::regex_replace(pattern, std::regex("\\*"), "x")),
        access(std::regex_replace(known, std::regex(" bytes?( at [+-]0x[0-9a-f]+)?"),
                                  " bytes at +0x7f8")),
        caller(known.substr(0, known.find(", called from ")) + ", called from Planted::caller") {}

  std::string known, access, caller;
};

// Each issue of a crash is known by the whole fault, so another one in its function is new.
TEST_F(KnownBugsTest, APlantedCrashInAFunctionWithKnownOnesIsNew) {
  constexpr const char* kBuilds[] = {"8u504-b08", "11.0.33+8", "17.0.7+7", "17.0.21+3",
                                     "21.0.13+3", "25.0.5+3",  "28-ea+18"};
  const std::regex fault(R"(.*: crash in .*(reading|writing) [0-9]+ bytes?.*)");
  const BugStore issues = Must(BugStore::Read(kShippedIssues));
  int known = 0;
  for (const auto& [id, bug] : issues.bugs())
    for (const std::string& pattern : bug.signatures) {
      if (!std::regex_match(pattern, fault)) continue;
      const Planted planted(pattern);
      for (const char* build : kBuilds) {
        if (NameOn(build, planted.known).word.verdict == BugVerdict::kNew) continue;
        known++;
        EXPECT_EQ(NameOn(build, planted.access).word.verdict, BugVerdict::kNew)
            << id << " on " << build << ": " << planted.access;
        EXPECT_EQ(NameOn(build, planted.caller).word.verdict, BugVerdict::kNew)
            << id << " on " << build << ": " << planted.caller;
      }
    }
  EXPECT_GE(known, 100);
}

}  // namespace
}  // namespace walkhammer
