// SPDX-License-Identifier: Apache-2.0
// Makes the walkers of request/walker_table.h. The file of a walker defines the function that its
// row of request/walker_rows.inc names.
#ifndef WALKHAMMER_HARNESS_WALKERS_MAKERS_H_
#define WALKHAMMER_HARNESS_WALKERS_MAKERS_H_

#include <memory>

#include "harness/request/walker_table.h"
#include "harness/walkers/walker.h"

namespace walkhammer {

#define ROW(make, ...) std::unique_ptr<Walker> make();
#include "harness/request/walker_rows.inc"
#undef ROW

std::unique_ptr<Walker> MakeWalker(const WalkerInfo& row);  // `row`: of AllWalkers()

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_MAKERS_H_
