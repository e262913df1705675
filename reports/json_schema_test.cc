// SPDX-License-Identifier: Apache-2.0
// Holds what `report --json` prints to docs/reference/report.schema.json, and the schema to what is
// printed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "reports/report_testing.h"

namespace walkhammer {
namespace {

using nlohmann::json;

// Checks values against the part of JSON Schema that our schema uses, and fails on any other.
// Stricter than the standard: a key that the schema does not have is an error.
class SchemaCheck {
 public:
  explicit SchemaCheck(json schema) : schema_(std::move(schema)) {}

  void Check(const json& value) { Check(value, schema_, "#"); }
  const std::vector<std::string>& errors() const { return errors_; }
  // "cell/label" for each property, by the definition that has it.
  std::set<std::string> Unseen() const {
    std::set<std::string> unseen;
    Collect(schema_, "#", unseen);
    for (const std::string& seen : seen_) unseen.erase(seen);
    return unseen;
  }

 private:
  static bool IsOfType(const json& value, const std::string& type) {
    return type == "integer" ? value.is_number_integer() : type == value.type_name();
  }

  // `where`: the path in the schema.
  void Check(const json& value, const json& schema, const std::string& where) {
    for (const auto& [key, rule] : schema.items()) CheckRule(value, schema, key, rule, where);
  }

  void CheckRule(const json& value, const json& schema, const std::string& key, const json& rule,
                 const std::string& where) {
    const auto holds = [&](bool good) {
      if (!good) errors_.push_back(where + ": " + key + " " + rule.dump() + ": " + value.dump());
    };
    if (key == "$ref") {
      const std::string path = rule.get<std::string>().substr(1);
      Check(value, schema_.at(json::json_pointer(path)), "#" + path);
    } else if (key == "type") {
      bool any = rule.is_string() && IsOfType(value, rule);
      if (rule.is_array())
        for (const json& type : rule) any |= IsOfType(value, type);
      holds(any);
    } else if (key == "const") {
      holds(value == rule);
    } else if (key == "enum") {
      holds(std::find(rule.begin(), rule.end(), value) != rule.end());
    } else if (key == "minimum") {
      holds(!value.is_number() || value.get<double>() >= rule.get<double>());
    } else if (key == "exclusiveMinimum") {
      holds(!value.is_number() || value.get<double>() > rule.get<double>());
    } else if (key == "maximum") {
      holds(!value.is_number() || value.get<double>() <= rule.get<double>());
    } else if (key == "pattern") {
      holds(!value.is_string() ||
            std::regex_search(value.get<std::string>(), std::regex(rule.get<std::string>())));
    } else if (key == "required") {
      for (const json& name : rule) holds(!value.is_object() || value.contains(name));
    } else if (key == "items") {
      for (size_t i = 0; value.is_array() && i < value.size(); i++)
        Check(value[i], rule, where + "/items");
    } else if (key == "properties") {
      CheckProperties(value, rule, where + "/properties/");
    } else {
      const std::set<std::string> words = {"$schema", "$id",         "$comment",
                                           "title",   "description", "$defs"};
      holds(words.contains(key) && !(key == "$defs" && &schema != &schema_));
    }
  }

  void CheckProperties(const json& value, const json& properties, const std::string& where) {
    if (!value.is_object()) return;
    for (const auto& [name, part] : value.items()) {
      if (!properties.contains(name)) {
        errors_.push_back(where + name + " is not in the schema");
        continue;
      }
      seen_.insert(where + name);
      Check(part, properties[name], where + name);
    }
  }

  static void Collect(const json& schema, const std::string& where, std::set<std::string>& all) {
    if (!schema.is_object()) return;
    for (const auto& [key, part] : schema.items()) {
      const std::string path = where + "/" + key;
      if (key == "properties")
        for (const auto& [name, property] : part.items()) all.insert(path + "/" + name);
      Collect(part, path, all);
    }
  }

  json schema_;
  std::vector<std::string> errors_;
  std::set<std::string> seen_;
};

json Schema() { return json::parse(ReadFile(WALKHAMMER_REPORT_SCHEMA)); }

class JsonSchema : public ReportedRun {
 protected:
  // Saves rows of every table that reports show.
  void FillRun() {
    FindingRecord record = TestRecord("crash", "fault", "crash in a", Realism::kGenuine);
    record.cell = 0;
    ASSERT_TRUE(run_->SaveCell(TestCell(0)).ok());
    const int64_t bucket = run_->AddFinding(record).value().bucket;
    ASSERT_TRUE(run_->SetMinimized(bucket, 2, 5, 5).ok());
    Save(0, TestThreads());
    Save(0, TestRegions());
    Save(0, TestRanges());
    Save<FramePlaceRow>(0, {{0, "stub", "sp+8", 9, 3, 20, 12, 10, 2, 4, 7, 1}});
    Save<FrameWalkerRow>(0, {{0, "agct", "stub", "sp+8", 5, 4, 3, 2, 1}});
    Save<FrameDifferenceRow>(0, {{0, "stub", "a", -1, 4, "sp+8", "sp+16", 2, "+0x4  ret"}});
    Save<FramePredictionRow>(0, {{0, "agct", "stub", "right", "sp + frame size", 9, 8, 7, 6}});
    Save<FrameRefutedRow>(0, {{0, "agct", "stub", "a", -1, 4, "right", "sp + frame size", "sp+8",
                               "+0x4  ret", 3, 2, 1}});
    Save<AgreementRow>(0, {{0, "asgst", "agct", Realism::kGenuine, "codelet", "none", 80}});
    Save<AgreementRow>(kNoCell,
                       {{kNoCell, "asgst", "agct", Realism::kShifted, "codelet", "bci", 80}});
    Save<EvidenceRow>(0, {{0, "asgst", "agct", "codelet", "bci", "byte-code", "other", 12}});
    Save<WalkEndRow>(0, {{0, "asgst", "whole", 20}});
    Save<NoteRow>(kNoCell, {{kNoCell, NoteKind::kDropped, "findings", 3, ""}});
    Save<NoteRow>(0, {{0, NoteKind::kInForce, "interposition", 0, ""}});
    const std::vector<CountRow> counts = {
        {"agct", CellLabel(TestCell(0)), "in_Java", "nmethod", "-5", 7}};
    ASSERT_TRUE(run_->SaveCounts(counts).ok());
    const auto shared = std::make_unique<SharedState>();
    shared->scenes[0].tried = 1;
    ASSERT_TRUE(run_->SaveScenes(SceneRowsOf(*shared)).ok());
    ASSERT_TRUE(run_->SetCoverage(TestCoverage()).ok());
    const std::vector<uint8_t> hit = {1, 0, 0, 0, 0, 0};
    ASSERT_TRUE(run_->SaveBlocks(hit, 1000).ok());
    RunTotals totals = TestTotals();
    totals.churn = {1, 2, 3};
    totals.failed_loads = {6, 3, 1, 1, 1, 0, 2};
    totals.settle = {3000, 100, 1, 2};
    ASSERT_TRUE(run_->SaveProgress(totals).ok());
    ASSERT_TRUE(run_->Finish(RunStatus::kCleanEnd, totals).ok());
  }
};

TEST_F(JsonSchema, HasEachKeyThatIsPrintedAndNoOther) {
  ASSERT_NO_FATAL_FAILURE(FillRun());
  const RunReader run = Opened();
  RunSummary summary = ReadRun(run).value();
  HoldToGoal(summary, 10);
  SchemaCheck check(Schema());
  check.Check(json::parse(JsonReport(run, summary).value()));
  EXPECT_THAT(check.errors(), testing::IsEmpty());
  EXPECT_THAT(check.Unseen(), testing::IsEmpty());
}

TEST_F(JsonSchema, FitsARunThatHasNothing) {
  ASSERT_TRUE(run_->SetNoCoverage("not asked for").ok());
  SchemaCheck check(Schema());
  check.Check(ReadJson());
  EXPECT_THAT(check.errors(), testing::IsEmpty());
}

// The check itself: what the schema does not allow is found.
TEST_F(JsonSchema, RefusesWhatIsNotInIt) {
  const json good = ReadJson();
  const auto errors = [](const json& value) {
    SchemaCheck check(Schema());
    check.Check(value);
    return check.errors().size();
  };
  EXPECT_EQ(errors(good), 0u);
  for (const char* change : {R"({"new": 1})", R"({"totals": {"walks": null}})",  // null: without it
                             R"({"totals": {"walks": "7"}})", R"({"totals": {"walks": -1}})",
                             R"({"schema": 2})", R"({"identity": {"seed": "0x1"}})"}) {
    json changed = good;
    changed.merge_patch(json::parse(change));
    EXPECT_EQ(errors(changed), 1u) << change;
  }
}

}  // namespace
}  // namespace walkhammer
