// SPDX-License-Identifier: Apache-2.0
#include "harness/coverage/walker_code.h"

namespace walkhammer {

Result<WalkerCode> FindWalkerCode(const WalkerInfo& walker, const std::string& library,
                                  const std::string& program) {
  const bool own = walker.covered_function != nullptr;
  if (!own && walker.symbol == nullptr)
    return Unable(std::string("walker ") + walker.name + " has no code that could be covered");
  WalkerCode code;
  code.path = own ? program : library;
  ASSIGN_OR_RETURN(code.map,
                   FindBlocks(code.path, {own ? walker.covered_function : walker.symbol}));
  return code;
}

}  // namespace walkhammer
