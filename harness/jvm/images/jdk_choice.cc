// SPDX-License-Identifier: Apache-2.0
#include "harness/jvm/images/jdk_choice.h"

#include <utility>

namespace walkhammer {
namespace {

// Fails for a JDK without vmStructs: only doctor can handle such a JDK.
Result<Jdk> WithVmStructs(Result<Jdk> jdk) {
  if (!jdk.ok() || jdk.value().Exports("gHotSpotVMStructs")) return jdk;
  return Unable(jdk.value().libjvm +
                " exports no vmStructs (gHotSpotVMStructs): it is OpenJ9, or a HotSpot without the "
                "serviceability agent; choose a HotSpot build with it");
}

}  // namespace

Result<std::vector<Jdk>> OpenJdks(const std::vector<std::string>& paths) {
  std::vector<Jdk> jdks;
  if (paths.empty()) {
    ASSIGN_OR_RETURN(auto jdk, WithVmStructs(DefaultJdk()));
    jdks.push_back(std::move(jdk));
  }
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(auto jdk, WithVmStructs(OpenJdk(path)));
    jdks.push_back(std::move(jdk));
  }
  return jdks;
}

}  // namespace walkhammer
