// SPDX-License-Identifier: Apache-2.0
// Planted bugs that test the harness itself. See puzzles.cc.
#ifndef WALKHAMMER_HARNESS_WALKERS_PUZZLES_H_
#define WALKHAMMER_HARNESS_WALKERS_PUZZLES_H_

#include <cstddef>
#include <memory>

#include "harness/walkers/walker.h"

namespace walkhammer {

// Makes the puzzle of a row of puzzle_rows.inc.
std::unique_ptr<Walker> MakePuzzle(size_t row);

// Puzzles for the engines: see engine_puzzles.cc.
std::unique_ptr<Walker> MakeMaze();
std::unique_ptr<Walker> MakeSlots();
std::unique_ptr<Walker> MakeStrand();

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_PUZZLES_H_
