// SPDX-License-Identifier: Apache-2.0
// The walkers' table, puzzles aside. A walker is a file of its own and a row here.
#ifndef WALKHAMMER_HARNESS_WALKERS_ROWS_H_
#define WALKHAMMER_HARNESS_WALKERS_ROWS_H_

#include "harness/request/walker_table.h"

// Append only: requests in binary form hold the index.
#define WALKHAMMER_WALKERS(ROW) \
  ROW(kAgctWalker)              \
  ROW(kAsgstWalker)             \
  ROW(kIteratorWalker)          \
  ROW(kIteratorFrameWalker)     \
  ROW(kAsgstJdkWalker)          \
  ROW(kIteratorJdkWalker)       \
  ROW(kIteratorFrameJdkWalker)  \
  ROW(kIdsWalker)               \
  ROW(kQueueWalker)             \
  ROW(kIteratorCWalker)         \
  ROW(kAsprofVmWalker)          \
  ROW(kDdprofVmWalker)          \
  ROW(kDdprofFpWalker)          \
  ROW(kDdprofDwarfWalker)       \
  ROW(kRequestWalker)           \
  ROW(kAsprofFpWalker)          \
  ROW(kAsprofDwarfWalker)

namespace walkhammer {

#define WALKHAMMER_DECLARE_WALKER(walker) extern const WalkerInfo walker;
WALKHAMMER_WALKERS(WALKHAMMER_DECLARE_WALKER)
#undef WALKHAMMER_DECLARE_WALKER

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_ROWS_H_
