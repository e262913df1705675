// SPDX-License-Identifier: Apache-2.0
// WalkerName: the walker of a fuzz target without a parent: the environment's WALKHAMMER_WALKER,
// else the walker that the program is named after. Signal-safe: no.
#ifndef WALKHAMMER_FUZZERS_WALKER_NAME_H_
#define WALKHAMMER_FUZZERS_WALKER_NAME_H_

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

namespace walkhammer {

// Returns WALKHAMMER_WALKER if set; else the file name of `program` (argv[0]) without `suffix`,
// such as "agct" for "agct_afl"; "agct" if `program` is `generic` or lacks `suffix`.
inline std::string WalkerName(std::string_view program, std::string_view suffix,
                              std::string_view generic) {
  if (const char* name = std::getenv("WALKHAMMER_WALKER"); name != nullptr) return name;
  program.remove_prefix(std::min(program.size(), program.find_last_of('/') + 1));
  if (program == generic || !program.ends_with(suffix)) return "agct";
  return std::string(program.substr(0, program.size() - suffix.size()));
}

}  // namespace walkhammer

#endif  // WALKHAMMER_FUZZERS_WALKER_NAME_H_
