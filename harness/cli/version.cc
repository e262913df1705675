// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/version.h"

#include <fmt/format.h>
#include <gnu/libc-version.h>

// WALKHAMMER_COMMIT and WALKHAMMER_FEATURES, which ci/release/version.cmake writes at each build.
#include "version.inc"

namespace walkhammer {

std::string VersionText() {
#ifdef __clang__
  const char* compiler = "clang " __clang_version__;
#else
  const char* compiler = "g++ " __VERSION__;
#endif
  return fmt::format(
      "walkhammer {}\ncommit    {}\ncompiler  {}, for {}\nlibc      {} here, {}.{} at the build\n"
      "features  {}",
      WALKHAMMER_VERSION, WALKHAMMER_COMMIT, compiler, WALKHAMMER_ARCH, gnu_get_libc_version(),
      __GLIBC__, __GLIBC_MINOR__, WALKHAMMER_FEATURES);
}

}  // namespace walkhammer
