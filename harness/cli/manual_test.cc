// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/manual.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "harness/base/shell.h"
#include "harness/base/text.h"
#include "harness/cli/command.h"
#include "harness/cli/manual_rows.h"

namespace walkhammer {
namespace {

using testing::HasSubstr;
using testing::Not;

void AddWords(const VerbHelp& verb, std::set<std::string>& words) {
  words.insert(verb.words());
  for (const VerbHelp& below : verb.verbs) AddWords(below, words);
}

std::set<std::string> WordsOfAll() {
  std::set<std::string> words;
  AddWords(HelpOfAll(AllVerbs()), words);
  return words;
}

std::string PageOf(const VerbHelp& verb) { return ManualPage(VerbHelp(), verb).value(); }

VerbHelp Doctor() {
  VerbHelp verb;
  verb.path = "walkhammer doctor";
  verb.what = "What it does";
  return verb;
}

TEST(ManualRowsTest, EachVerbHasOneRowWithExamples) {
  std::set<std::string> rows;
  for (const ManualRow& row : AllManualRows()) {
    EXPECT_TRUE(rows.insert(row.verb).second) << row.verb;
    EXPECT_FALSE(row.examples.empty()) << row.verb;
  }
  EXPECT_EQ(rows, WordsOfAll());
}

TEST(ManualRowsTest, EachExampleParses) {
  for (const ManualRow& row : AllManualRows())
    for (const ManualExample& example : row.examples) {
      std::vector<std::string> words = QuotedWords(example.command).value();
      ASSERT_EQ(words[0], "walkhammer");
      words.erase(words.begin());
      const Status parsed = CheckArguments(AllVerbs(), words);
      EXPECT_TRUE(parsed.ok()) << example.command << ": " << parsed.failure().message;
      const std::string verb = row.verb;
      const std::string begin = "walkhammer " + (verb == "walkhammer" ? "" : verb + " ");
      EXPECT_THAT(example.command + std::string(" "), testing::StartsWith(begin));
    }
  EXPECT_FALSE(CheckArguments(AllVerbs(), {"fuzz", "--no-such"}).ok());
  EXPECT_FALSE(CheckArguments(AllVerbs(), {"show", "a", "--", "-Xint"}).ok());
}

TEST(ManualRowsTest, NotesNameVerbs) {
  const std::set<std::string> all = WordsOfAll();
  for (const auto* notes : {&ManualVariables(), &ManualFiles()})
    for (const ManualNote& note : *notes)
      for (const std::string& verb : Split(note.verbs, ','))
        EXPECT_TRUE(all.contains(verb)) << verb;
}

TEST(ManualTest, WhatIsTypedStaysAsItIs) {
  VerbHelp verb = Doctor();
  verb.options = {
      {"-x,--ex-act", "A|B", ".dot 'quote' ~home back\\slash", true, false, {"--b"}, {}}};
  const std::string page = PageOf(verb);
  EXPECT_THAT(page,
              HasSubstr(".TP\n\\fB\\-x\\fR, \\fB\\-\\-ex\\-act\\fR \\fIA|B\\fR ...\n"
                        "\\&.dot \\(aqquote\\(aq \\(tihome back\\eslash. It needs \\-\\-b.\n"));
  EXPECT_THAT(page, HasSubstr("\n.SH NAME\nwalkhammer\\-doctor \\- what it does\n"));
}

TEST(ManualTest, NotesStandWhereTheyMatter) {
  const std::string page = PageOf(Doctor());
  EXPECT_THAT(page, HasSubstr("WALKHAMMER_JDK"));
  EXPECT_THAT(page, Not(HasSubstr("XDG_CACHE_HOME")));
}

TEST(ManualTest, AVerbWithoutARowIsAFailure) {
  VerbHelp verb;
  verb.path = "walkhammer nothing";
  EXPECT_THAT(ManualPage(verb, verb).failure().message, HasSubstr("no row of walkhammer nothing"));
}

}  // namespace
}  // namespace walkhammer
