// SPDX-License-Identifier: Apache-2.0
// The files of corpora/known-issues: each is read, and says what it is.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include "harness/base/testing/fails_with.h"
#include "harness/bugs/bug_store.h"

namespace walkhammer {
namespace {

namespace fs = std::filesystem;

constexpr char kIssues[] = WALKHAMMER_CORPORA "/known-issues";

std::map<std::string, Bug> Issues() { return Must(BugStore::Read(kIssues)).bugs(); }

// OpenJDK's tracker, and that of a profiler.
bool IsOfTrackers(const std::string& id) {
  return id.starts_with("JDK-") || id.starts_with("async-profiler-");
}

TEST(KnownIssuesTest, EachSaysWhatItIs) {
  const auto issues = Issues();
  size_t replayed = 0, crashes = 0, proofs = 0;
  for (const auto& [id, bug] : issues) {
    for (const std::string& text : {bug.cause, bug.trigger, bug.upstream_status})
      EXPECT_TRUE(text.ends_with('.')) << id << ": " << text;
    EXPECT_TRUE(!IsOfTrackers(id) || std::count(bug.upstream.begin(), bug.upstream.end(), id))
        << id;
    for (const std::string& text : bug.texts) EXPECT_NE(text.find("\nexpect "), text.npos) << id;
    replayed += !bug.walk.empty() || !bug.texts.empty();
    crashes += !bug.crash.functions.empty() || !bug.crash.check.empty();
    proofs += bug.proof != BugProof{};
    EXPECT_EQ(bug.proof == BugProof{} || bug.walk.empty(), bug.proof.silent.empty()) << id;
    EXPECT_TRUE(bug.walk.empty() || bug.walk.find("\nexpect ") != bug.walk.npos) << id;
    EXPECT_EQ(bug.proof.bucket.empty(), bug.proof.fuzz.empty() && bug.proof.stress.empty()) << id;
  }
  EXPECT_EQ(proofs, 5U);
  EXPECT_GE(crashes, 16U);
  EXPECT_GE(replayed, 14U);
}

// True if the signature of a crash names function and access, and more of the caller than a star.
// Inlining makes callers differ between builds, so a star may stand for a part of one.
bool NamesTheFault(const std::string& signature) {
  static const std::regex fault(
      "[^ ]+: crash in [^*]+ (reading|writing) [0-9]+ bytes?( at [+-]0x[0-9a-f]+)?"
      "(, called from .*[^*].*)?");
  return std::regex_match(signature, fault);
}

TEST(KnownIssuesTest, ACrashIsKnownByMoreThanItsFunction) {
  for (const char* exact : {"agct: crash in f reading 8 bytes",
                            "agct: crash in f writing 1 byte at -0x18, called from *forte_*"})
    EXPECT_TRUE(NamesTheFault(exact)) << exact;
  for (const char* broad :
       {"agct: crash in f", "agct: crash in f*", "agct: crash in f reading *",
        "agct: crash in f reading 8 bytes*", "agct: crash in f reading 8 bytes at +0x8*",
        "agct: crash in f* reading 8 bytes at +0x8",
        "agct: crash in f reading 8 bytes at +0x8, called from *"})
    EXPECT_FALSE(NamesTheFault(broad)) << broad;
}

// Those that name less have a comment above them that says why.
TEST(KnownIssuesTest, BroadSignaturesOfCrashesHaveAReason) {
  const std::regex crash("\"([^\"]*: crash in [^\"]*)\"");
  size_t crashes = 0;
  for (const auto& entry : fs::directory_iterator(kIssues)) {
    if (entry.path().extension() != ".toml") continue;
    std::ifstream file(entry.path());
    bool has_reason = false, above = false;
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with("  # Broad: ")) {
        EXPECT_TRUE(line.ends_with('.')) << entry.path() << ": " << line;
        has_reason = above = true;
        continue;
      }
      std::smatch found;
      const bool is_crash = std::regex_search(line, found, crash);
      const bool broad = is_crash && !NamesTheFault(found[1]);
      EXPECT_TRUE(!broad || has_reason) << entry.path() << ": " << line;
      EXPECT_TRUE(broad || !above) << entry.path() << ": the reason is for nothing: " << line;
      crashes += is_crash;
      has_reason = has_reason && broad;
      above = false;
    }
  }
  EXPECT_GE(crashes, 50U);
}

TEST(KnownIssuesTest, NoRequestIsForgotten) {
  const auto issues = Issues();
  std::set<std::string> named;
  for (const auto& [id, bug] : issues)
    for (const std::string& request : bug.requests)
      named.insert(fs::canonical(fs::path(kIssues) / request));
  for (const auto& entry :
       fs::recursive_directory_iterator(fs::path(WALKHAMMER_CORPORA) / "regressions"))
    EXPECT_TRUE(entry.is_directory() || named.contains(fs::canonical(entry.path())))
        << entry.path();
  for (const auto& entry : fs::directory_iterator(kIssues))
    if (entry.path().extension() != ".toml") {
      EXPECT_EQ(entry.path().extension(), ".walk") << entry.path();
      EXPECT_TRUE(fs::exists(fs::path(entry.path()).replace_extension(".toml"))) << entry.path();
    }
}

}  // namespace
}  // namespace walkhammer
