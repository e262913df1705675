// What all verbs share: look-ups in the tables, failures and results as the user sees them.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_COMMON_H_
#define WALKHAMMER_HARNESS_CLI_COMMON_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/names.h"
#include "harness/base/result.h"
#include "harness/jvm/jdk.h"

namespace walkhammer {

// The JDKs that --jdk named, in that order; none named: DefaultJdk. The first failure wins.
Result<std::vector<Jdk>> OpenJdks(const std::vector<std::string>& paths);

// "walkhammer: MESSAGE" as one line on stderr. Returns the exit code.
int PrintFailure(const Failure& failure);

// Checked look-ups in the tables, for options; the value is the index.
Result<int> WalkerNamed(std::string_view name);
Result<int> SceneNamed(std::string_view name);

// Indented JSON and a newline on stdout; bytes that are not UTF-8 are replaced.
void PrintJson(const nlohmann::json& json);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_COMMON_H_
