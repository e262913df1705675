#include "harness/jvm/images/jdk_choice.h"

#include <utility>

namespace walkhammer {
namespace {

// Doctor describes such a JDK; nothing else can be done with it.
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
    Result<Jdk> jdk = WithVmStructs(DefaultJdk());
    if (!jdk.ok()) return jdk.failure();
    jdks.push_back(std::move(jdk.value()));
  }
  for (const std::string& path : paths) {
    Result<Jdk> jdk = WithVmStructs(OpenJdk(path));
    if (!jdk.ok()) return jdk.failure();
    jdks.push_back(std::move(jdk.value()));
  }
  return jdks;
}

}  // namespace walkhammer
