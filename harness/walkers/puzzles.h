// SPDX-License-Identifier: Apache-2.0
// Planted bugs that test the harness itself. See puzzles.cc.
#ifndef WALKHAMMER_HARNESS_WALKERS_PUZZLES_H_
#define WALKHAMMER_HARNESS_WALKERS_PUZZLES_H_

#include <vector>

#include "harness/request/walker_table.h"

namespace walkhammer {

// For the harness: caught by guard and oracles.
std::vector<WalkerInfo> Puzzles();
// For the engines: reached with guidance. See engine_puzzles.cc.
std::vector<WalkerInfo> EnginePuzzles();

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_PUZZLES_H_
