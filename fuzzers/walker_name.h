// SPDX-License-Identifier: Apache-2.0
// WalkerName: which walker a fuzz target is for where no parent says it: the environment's
// WALKHAMMER_WALKER, or the one that the program is named after. Signal-safe: no.
#ifndef WALKHAMMER_FUZZERS_WALKER_NAME_H_
#define WALKHAMMER_FUZZERS_WALKER_NAME_H_

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

namespace walkhammer {

// A copy of the target `generic` that is named agct`suffix` is for agct; `generic` itself, too.
inline std::string WalkerName(std::string_view program, std::string_view suffix,
                              std::string_view generic) {
  if (const char* name = std::getenv("WALKHAMMER_WALKER"); name != nullptr) return name;
  program.remove_prefix(std::min(program.size(), program.find_last_of('/') + 1));
  if (program == generic || !program.ends_with(suffix)) return "agct";
  return std::string(program.substr(0, program.size() - suffix.size()));
}

}  // namespace walkhammer

#endif  // WALKHAMMER_FUZZERS_WALKER_NAME_H_
