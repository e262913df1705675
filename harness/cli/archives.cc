// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/archives.h"

#include "workloads/archive.h"

namespace walkhammer {
namespace {

constexpr const char* kSuites[] = {"renaissance", "dacapo"};

StartJava JavaOf(const Jdk& jdk) {
  return [&jdk](const std::vector<std::string>& arguments) {
    std::vector<std::string> words = {jdk.home + "/bin/java"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    ProgramSetup setup;
    setup.arguments = jdk.platform.Command(words, setup.environment);
    return setup;
  };
}

}  // namespace

void AddArchiveOptions(Verb& verb, Archives& given) {
  for (const std::string suite : kSuites)
    verb.Text("--" + suite, given[suite],
              "Your copy of the suite, of any version: its jar, or the folder that holds it");
}

Result<Archives> FindArchives(const Archives& given) {
  Archives jars;
  for (const auto& [suite, path] : given) {
    if (path.empty()) continue;
    ASSIGN_OR_RETURN(jars[suite], FindArchive(suite, path));
  }
  return jars;
}

Status ArchiveLists::Check(const Workload& workload, const Jdk& jdk) {
  const auto jar = jars_.find(workload.suite);
  if (jar == jars_.end()) return Ok();
  std::lock_guard<std::mutex> lock(listing_);
  const std::string key = jar->second + "\n" + jdk.home;
  auto list = lists_.find(key);
  if (list == lists_.end())
    list = lists_.emplace(key, WorkloadsIn(jar->second, workload.list, JavaOf(jdk))).first;
  if (!list->second.ok()) return list->second.failure();
  return CheckArchiveHolds(workload, jar->second, list->second.value());
}

}  // namespace walkhammer
