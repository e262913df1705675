// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/judging.h"

#include <filesystem>
#include <memory>
#include <utility>

#include "harness/base/names.h"
#include "harness/cli/identity.h"

namespace walkhammer {

void AddStores(Verb& verb, JudgingOptions& options) {
  verb.Text("--known", options.known,
            "Folder of known issues (default: those that come with walkhammer)", "DIR");
  verb.Text("--bugs", options.bugs, "A team's store of bugs: what it knows is not new", "DIR");
}

void AddJudging(Verb& verb, JudgingOptions& options) {
  AddStores(verb, options);
  verb.Flag("--strict", options.strict, "Known bugs fail a run, too");
}

Result<Judging> ReadJudging(const JudgingOptions& options) {
  std::string issues = options.known;
  std::error_code error;
  if (issues.empty()) issues = BesideExecutable(kKnownIssuesName);
  if (options.known.empty() && !std::filesystem::exists(issues, error)) issues.clear();
  ASSIGN_OR_RETURN(KnownBugs known, KnownBugs::Read(issues, options.bugs));
  return Judging{std::make_shared<const KnownBugs>(std::move(known)), Today(), options.strict};
}

}  // namespace walkhammer
