// SPDX-License-Identifier: Apache-2.0
#include "harness/jvm/images/jdk_choice.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "harness/jvm/images/jdk_version.h"

namespace walkhammer {
namespace {

namespace fs = std::filesystem;

// Fails for a JDK without vmStructs: only doctor and stress can handle such a JDK.
Result<Jdk> WithVmStructs(Result<Jdk> jdk) {
  if (!jdk.ok() || jdk.value().Exports("gHotSpotVMStructs")) return jdk;
  return Unable(jdk.value().libjvm +
                " exports no vmStructs (gHotSpotVMStructs): it is OpenJ9, or a HotSpot without the "
                "serviceability agent. Choose a HotSpot build with it, or stress --walker agct, "
                "which needs none");
}

// Whether `a` is older than `b`; a JDK without a version is older than all others.
bool HasOlderVersion(const Jdk& a, const Jdk& b) {
  const auto left = ParseJdkVersion(a.version), right = ParseJdkVersion(b.version);
  if (!left || !right) return !left && right;
  return *left < *right;
}

}  // namespace

Result<std::vector<Jdk>> JdksIn(const std::string& folder, std::vector<Failure>* unusable) {
  std::error_code error;
  std::vector<fs::path> homes;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    if (!entry.path().filename().string().starts_with(".") && entry.is_directory(error))
      homes.push_back(entry.path());
  std::sort(homes.begin(), homes.end());
  std::vector<Jdk> jdks;
  for (const fs::path& home : homes) {
    auto jdk = WithVmStructs(OpenJdk(home));
    if (!jdk.ok()) {
      if (unusable != nullptr) unusable->push_back(jdk.failure());
      continue;
    }
    const auto same = [&](const Jdk& other) { return other.libjvm == jdk.value().libjvm; };
    if (std::none_of(jdks.begin(), jdks.end(), same)) jdks.push_back(std::move(jdk.value()));
  }
  if (jdks.empty())
    return BadInput(folder + " holds no JDK that can be used: ci/setup/jdks.sh fills one");
  std::stable_sort(jdks.begin(), jdks.end(), HasOlderVersion);
  return jdks;
}

Result<std::vector<Jdk>> OpenJdks(const std::vector<std::string>& paths,
                                  const std::vector<std::string>& folders) {
  std::vector<Jdk> jdks;
  if (paths.empty() && folders.empty()) {
    ASSIGN_OR_RETURN(auto jdk, WithVmStructs(DefaultJdk()));
    jdks.push_back(std::move(jdk));
  }
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(auto jdk, WithVmStructs(OpenJdk(path)));
    jdks.push_back(std::move(jdk));
  }
  for (const std::string& folder : folders) {
    ASSIGN_OR_RETURN(auto all, JdksIn(folder));
    for (Jdk& jdk : all) jdks.push_back(std::move(jdk));
  }
  return jdks;
}

Result<Jdk> OpenOneJdk(const std::vector<std::string>& paths, const std::string& verb) {
  if (paths.size() > 1) return BadInput(verb + " takes one --jdk; run it once for each JDK");
  ASSIGN_OR_RETURN(auto jdks, OpenJdks(paths));
  return std::move(jdks.front());
}

Result<Jdk> DefaultJdkOfLine(int feature) {
  if (const char* named = std::getenv("WALKHAMMER_JDK"); named == nullptr || *named == '\0') {
    std::vector<Jdk> jdks = FindJdks();
    std::erase_if(
        jdks, [&](const Jdk& jdk) { return jdk.feature != feature || !WithVmStructs(jdk).ok(); });
    if (!jdks.empty()) return *std::max_element(jdks.begin(), jdks.end(), HasOlderVersion);
  }
  return WithVmStructs(DefaultJdk());
}

}  // namespace walkhammer
