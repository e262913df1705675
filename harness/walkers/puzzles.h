// Planted bugs that test the harness itself. See puzzles.cc.
#ifndef WALKHAMMER_HARNESS_WALKERS_PUZZLES_H_
#define WALKHAMMER_HARNESS_WALKERS_PUZZLES_H_

#include <vector>

#include "harness/walkers/walker_table.h"

namespace walkhammer {

std::vector<WalkerInfo> Puzzles();

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_PUZZLES_H_
