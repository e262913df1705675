// SPDX-License-Identifier: Apache-2.0
// Runs a verb of the command within a test. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_VERB_TESTING_H_
#define WALKHAMMER_HARNESS_CLI_VERB_TESTING_H_

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/cli/command.h"

namespace walkhammer {

struct Outcome {
  int exit_code;
  std::string out, err;
};

// "walkhammer VERB ARGUMENTS..."
inline Outcome RunVerb(const char* verb, AddVerb add, const std::vector<std::string>& arguments) {
  std::vector<const char*> argv = {"walkhammer", verb};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  Invocation chosen;
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int code =
      RunCommand({{"Verbs", {add}}}, chosen, static_cast<int>(argv.size()), argv.data());
  const std::string out = testing::internal::GetCapturedStdout();
  return {code, out, testing::internal::GetCapturedStderr()};
}

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_VERB_TESTING_H_
