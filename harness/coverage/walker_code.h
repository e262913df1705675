// SPDX-License-Identifier: Apache-2.0
// WalkerCode: which code a walker's coverage is about: the API in libjvm and all that it can reach,
// or, of a puzzle for engines, its function in our own program. The child sets traps in it, reports
// name its blocks. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_COVERAGE_WALKER_CODE_H_
#define WALKHAMMER_HARNESS_COVERAGE_WALKER_CODE_H_

#include <string>

#include "harness/coverage/block_map.h"
#include "harness/request/walker_table.h"

namespace walkhammer {

struct WalkerCode {
  std::string path;  // of the file that holds it
  BlockMap map;
};

// `library` exports the API: libjvm, or what stands in for it (LibraryOf); `program` is our own
// executable, in which puzzles lie. Fails with kUnable where there is nothing
// that could be covered, with the reason.
Result<WalkerCode> FindWalkerCode(const WalkerInfo& walker, const std::string& library,
                                  const std::string& program);

// `provider`: as ChildSetup has it.
inline const std::string& LibraryOf(const WalkerInfo& walker, const std::string& libjvm,
                                    const std::string& provider) {
  return walker.replaceable && !provider.empty() ? provider : libjvm;
}

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_COVERAGE_WALKER_CODE_H_
