// SPDX-License-Identifier: Apache-2.0
// What `import` does with a crash report besides judging it. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_IMPORT_H_
#define WALKHAMMER_HARNESS_CLI_IMPORT_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/base/result.h"

namespace walkhammer {

struct ImportOptions {
  std::vector<std::string> files;
  std::string out, modules;
  bool json = false, redact = false, force = false, reproduce = false, walk = false;
  std::vector<std::string> jdks;  // with `reproduce` or `walk`
  // With `reproduce` alone:
  std::chrono::nanoseconds time = std::chrono::seconds(30), stress_time{};  // 0: as `time`
  std::string library;  // of the profiler whose walker crashed; empty: none
  uint64_t seed = 1;
  bool no_stress = false, no_known = false, no_minimize = false;
  // With `walk` alone:
  int32_t tid = 0;            // the thread to walk; 0: all
  bool native = false;        // frames of stubs, C and C++, too
  std::string expect, write;  // files of stacks; empty: none
};

// import --reproduce: replays of the candidates, guided fuzzing from them, and stress, on each JDK.
// Returns the exit code.
Result<ExitCode> RunReproduce(const ImportOptions& options,
                              const std::vector<std::string>& jvm_flags);

// import --walk: walks the Java stacks of the core. Returns the exit code.
Result<ExitCode> RunImportWalk(const ImportOptions& options);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_IMPORT_H_
