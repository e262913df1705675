// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/judging.h"

#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "harness/base/names.h"
#include "harness/cli/identity.h"

namespace walkhammer {

void AddJudging(Verb& verb, JudgingOptions& options) {
  verb.Text("--known", options.known,
            "Folder of known issues (default: those that come with walkhammer)", "DIR");
  verb.Text("--bugs", options.bugs, "A team's store of bugs: what it knows is not new, either",
            "DIR");
  verb.Flag("--strict", options.strict, "Known bugs fail a run, too");
}

Result<Judging> ReadJudging(const JudgingOptions& options) {
  std::vector<std::string> dirs;
  const std::string shipped = BesideExecutable(kKnownIssuesName);
  std::error_code error;
  if (!options.known.empty())
    dirs.push_back(options.known);
  else if (std::filesystem::exists(shipped, error))
    dirs.push_back(shipped);
  if (!options.bugs.empty()) dirs.push_back(options.bugs);
  ASSIGN_OR_RETURN(KnownBugs known, KnownBugs::Read(dirs));
  return Judging{std::make_shared<const KnownBugs>(std::move(known)), Today(), options.strict};
}

}  // namespace walkhammer
