// SPDX-License-Identifier: Apache-2.0
// WalkerCode: the code whose coverage is measured for a walker: the API in libjvm and all that the
// API can reach; for a puzzle for engines, the puzzle's function in our own program. The child sets
// traps in this code, reports name its blocks. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_COVERAGE_WALKER_CODE_H_
#define WALKHAMMER_HARNESS_COVERAGE_WALKER_CODE_H_

#include <string>

#include "harness/coverage/block_map.h"
#include "harness/request/walker_table.h"

namespace walkhammer {

struct WalkerCode {
  std::string path;  // of the file that holds the code
  BlockMap map;
};

// Finds the code of `walker`. `library`: the one that exports the API, see LibraryOf. `program`:
// our own executable, which holds the puzzles. Fails with kUnable and the reason if the walker has
// no code that could be covered, or as FindBlocks does.
Result<WalkerCode> FindWalkerCode(const WalkerInfo& walker, const std::string& library,
                                  const std::string& program);

// The library that exports the walker's API, one of the arguments: `provider` (see
// ChildSetup::provider) if the walker is replaceable and `provider` is not empty, else `libjvm`.
inline const std::string& LibraryOf(const WalkerInfo& walker, const std::string& libjvm,
                                    const std::string& provider) {
  return walker.replaceable && !provider.empty() ? provider : libjvm;
}

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_COVERAGE_WALKER_CODE_H_
