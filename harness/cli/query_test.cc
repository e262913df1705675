// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/cli/options.h"
#include "harness/store/record_testing.h"
#include "harness/store/run_query.h"

namespace walkhammer {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct Outcome {
  int exit_code;
  std::string out, err;
};

Outcome Query(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"walkhammer", "query"});
  std::vector<const char*> argv;
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  Invocation chosen;
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int code = RunCommand({AddQuery}, chosen, static_cast<int>(argv.size()), argv.data());
  std::string out = testing::internal::GetCapturedStdout();
  return {code, std::move(out), testing::internal::GetCapturedStderr()};
}

class QueryVerb : public testing::Test {
 protected:
  void SetUp() override {
    run_ = temp_.Under("run");
    Result<RunDb> run = RunDb::Create(run_, TestIdentity());
    ASSERT_TRUE(run.ok());
    for (const char* title : {"falls", "\x1b[2Jh\xc3\xa4lt\nnot"})
      ASSERT_TRUE(
          run.value().AddFinding(TestRecord("crash", "fault", title, Realism::kGenuine)).ok());
  }
  TempDir temp_;
  std::string run_;
};

TEST_F(QueryVerb, ATableIsAlignedAndTame) {
  const Outcome outcome =
      Query({"--sql", "SELECT title, id * 100 AS n, NULL AS none FROM bucket", run_});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out,
            "title           n  none\n"
            "falls         100     -\n"
            "?[2Jh\xc3\xa4lt?not  200     -\n");
}

TEST_F(QueryVerb, ALongValueIsShortenedOnlyAsText) {
  const std::string sql = "SELECT printf('%.*c', 500, 'x') AS x";
  const Outcome text = Query({"--sql", sql, run_}), json = Query({"--sql", sql, "--json", run_});
  EXPECT_EQ(text.out, "x\n" + std::string(117, 'x') + "...\n");
  EXPECT_THAT(json.out, HasSubstr(std::string(500, 'x')));
}

TEST_F(QueryVerb, JsonHasRowsAsObjects) {
  const Outcome outcome = Query({"--sql", "SELECT id, title, NULL AS no, 0.5 AS half FROM bucket",
                                 "--rows", "1", "--json", run_});
  EXPECT_EQ(
      nlohmann::json::parse(outcome.out),
      nlohmann::json::parse(R"({"rows": [{"id": 1, "title": "falls", "no": null, "half": 0.5}],
                                      "more": true, "empty_tables": []})"));
  EXPECT_THAT(Query({"--sql", "SELECT 1 AS a, 2 AS a", "--json", run_}).err,
              HasSubstr("two columns have the name \"a\""));
}

TEST_F(QueryVerb, NoRowsAreSaidToBeNone) {
  const Outcome none = Query({"--sql", "SELECT * FROM bucket WHERE id = 9", run_});
  EXPECT_EQ(none.out, "no rows\n");
  EXPECT_EQ(none.exit_code, 0);
  EXPECT_EQ(Query({"unwalkable", run_}).out, "no rows: the run has nothing in cell, step_region\n");
}

TEST_F(QueryVerb, RowsThatAreLeftOutAreNamed) {
  const std::string sql = "SELECT id FROM bucket";
  EXPECT_THAT(Query({"--sql", sql, "--rows", "1", run_}).out,
              EndsWith("... and more: --rows N shows more than 1\n"));
  EXPECT_THAT(Query({"--sql", sql, "--rows", "2", run_}).out, Not(HasSubstr("more")));
}

TEST_F(QueryVerb, QuestionsAreListedAndAsked) {
  const Outcome list = Query({"--list"});
  EXPECT_EQ(list.exit_code, 0);
  for (const RunQuestion& question : RunQuestions()) {
    EXPECT_THAT(list.out, HasSubstr(std::string(question.name) + " "));
    EXPECT_EQ(Query({std::string(question.name), run_}).exit_code, 0) << question.name;
  }
  EXPECT_EQ(nlohmann::json::parse(Query({"--list", "--json"}).out).size(), RunQuestions().size());
  EXPECT_THAT(Query({"crashes", run_}).out, StartsWith("title "));
}

TEST_F(QueryVerb, BadInputIsOneSentence) {
  const std::vector<std::vector<std::string>> bad = {{},
                                                     {"crashes"},
                                                     {"crashs", run_},
                                                     {run_},
                                                     {"crashes", temp_.Under("none")},
                                                     {"crashes", run_, run_},
                                                     {"crashes", run_, "--time", "soon"},
                                                     {"crashes", run_, "--rows", "0"},
                                                     {"--sql", "DELETE FROM run", run_},
                                                     {"--sql", "SELECT x FROM run", run_}};
  for (const auto& arguments : bad) {
    const Outcome outcome = Query(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
  EXPECT_THAT(Query(bad[2]).err, HasSubstr("no question \"crashs\"; nearest: crashes, "));
}

}  // namespace
}  // namespace walkhammer
