// SPDX-License-Identifier: Apache-2.0
#include "harness/coverage/walker_code.h"

#include "harness/elf/elf_functions.h"

namespace walkhammer {

Result<WalkerCode> FindWalkerCode(const WalkerInfo& walker, const std::string& library,
                                  const std::string& program) {
  const bool own = walker.covered_function != nullptr;
  std::vector<std::string> roots;
  if (own) roots.emplace_back(walker.covered_function);
  if (!own && walker.symbol != nullptr) roots.emplace_back(walker.symbol);
  for (const char* name : walker.local_functions)
    for (const ElfFunction& function : FindFunctionsLike(library, name))
      roots.push_back(function.name);
  if (roots.empty())
    return Unable(std::string("walker ") + walker.name + " has no code that could be covered");
  WalkerCode code;
  code.path = own ? program : library;
  ASSIGN_OR_RETURN(code.map, FindBlocks(code.path, roots));
  return code;
}

}  // namespace walkhammer
