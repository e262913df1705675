// ids: the ASGST iterator, with what the ids functions say of each frame's method and class, as
// libasgst.so implements them on a stock JDK.
#ifndef WALKHAMMER_HARNESS_WALKERS_IDS_H_
#define WALKHAMMER_HARNESS_WALKERS_IDS_H_

#include "harness/request/walker_table.h"

namespace walkhammer {

extern const WalkerInfo kIdsWalker;

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_IDS_H_
