// SPDX-License-Identifier: Apache-2.0
// The files of corpora/known-issues: each is read, and says what it is.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
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
