// SPDX-License-Identifier: Apache-2.0
// The Forbidden buckets of a run as SARIF 2.1.0 (OASIS standard). A walker has no sources here: the
// place of a result is the input that shows it, below the run's folder, and its logical location
// the function that the walker was in.
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "harness/base/json_text.h"
#include "harness/base/numbers.h"
#include "harness/base/text.h"
#include "harness/findings/crash_folder.h"
#include "reports/markup.h"
#include "reports/report_output.h"

namespace walkhammer {
namespace {

using Json = nlohmann::ordered_json;

std::string RuleId(const BucketRow& bucket) { return bucket.oracle + "/" + bucket.outcome; }

Json RuleJson(const BucketRow& bucket) {
  const Oracle* oracle = FindOracle(bucket.oracle);
  const std::string why = WhyGraded(bucket);
  Json rule = {{"id", RuleId(bucket)}, {"name", RuleId(bucket)}};
  rule["shortDescription"]["text"] =
      oracle == nullptr ? "an oracle that this walkhammer does not know" : oracle->what;
  if (!why.empty()) rule["fullDescription"]["text"] = why;
  rule["defaultConfiguration"]["level"] = "error";
  return rule;
}

Json LocationsJson(const BucketRow& bucket, const BucketFiles& files,
                   const BucketExample& example) {
  Json location = Json::object();
  // GitHub refuses results without a file: without an input, the folder's explanation.
  const std::string path = files.input.empty() ? bucket.folder + "/" + kExplainName : files.input;
  location["physicalLocation"]["artifactLocation"] = {{"uri", UrlPath(path)}, {"uriBaseId", "RUN"}};
  location["physicalLocation"]["region"]["startLine"] = 1;
  if (!example.function.empty())
    location["logicalLocations"] =
        Json::array({{{"fullyQualifiedName", Printable(example.function)}, {"kind", "function"}}});
  return Json::array({std::move(location)});
}

Json ResultJson(const OutputSource& source, size_t index, size_t rule) {
  const BucketRow& bucket = source.summary.buckets[index];
  const BucketExample& example = source.examples[index];
  std::string message = OnOneLine(bucket.signature.title);
  if (!example.finding.detail.empty()) message += ": " + OnOneLine(example.finding.detail);
  if (!example.replay.empty()) message += ". Reproduce: " + example.replay;
  const bool is_news = IsNews(bucket, source.summary.names[index]);
  Json result = {{"ruleId", RuleId(bucket)},
                 {"ruleIndex", rule},
                 {"level", is_news ? "error" : "note"},
                 {"baselineState", is_news ? "new" : "unchanged"}};
  result["message"]["text"] = message;
  result["locations"] = LocationsJson(bucket, source.summary.files[index], example);
  // The title is the same for all builds: the same bug stays one alert.
  result["partialFingerprints"]["bucketTitle/v1"] =
      RuleId(bucket) + " " + Printable(bucket.signature.title);
  result["occurrenceCount"] = std::max<uint64_t>(bucket.count, 1);
  result["properties"] = {{"walker", Printable(example.walker)},
                          {"realism", std::string(RealismWord(bucket.realism))},
                          {"confirmed", bucket.confirmed},
                          {"tries", bucket.tries}};
  return result;
}

}  // namespace

std::string SarifReport(const OutputSource& source) {
  const RunSummary& summary = source.summary;
  const RunIdentity& identity = summary.run.identity;
  Json rules = Json::array(), results = Json::array();
  std::map<std::string, size_t> known;
  for (size_t i = 0; i < summary.buckets.size(); i++) {
    const BucketRow& bucket = summary.buckets[i];
    if (bucket.grade != Grade::kForbidden) continue;
    const auto [rule, is_new] = known.try_emplace(RuleId(bucket), rules.size());
    if (is_new) rules.push_back(RuleJson(bucket));
    results.push_back(ResultJson(source, i, rule->second));
  }
  Json run;
  run["tool"]["driver"] = {
      {"name", "walkhammer"}, {"version", identity.tool_version}, {"rules", std::move(rules)}};
  run["originalUriBaseIds"]["RUN"]["description"]["text"] = "the run's folder";
  // What the run could not look at is not a result, and no success.
  run["invocations"] =
      Json::array({{{"executionSuccessful", summary.verdict.exit != ExitCode::kToolFailed &&
                                                summary.verdict.exit != ExitCode::kUnable},
                    {"exitCode", static_cast<int>(summary.verdict.exit)},
                    {"exitCodeDescription",
                     summary.verdict.word + ": " + OnOneLine(summary.verdict.sentence)}}});
  run["results"] = std::move(results);
  Json log = {{"$schema",
               "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
               "sarif-schema-2.1.0.json"},
              {"version", "2.1.0"}};
  log["runs"] = Json::array({std::move(run)});
  return JsonText(log) + "\n";
}

}  // namespace walkhammer
