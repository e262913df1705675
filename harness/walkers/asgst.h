// asgst: AsyncGetStackTrace, as JEP 435's draft has it and as libasgst.so implements it on a stock
// JDK.
#ifndef WALKHAMMER_HARNESS_WALKERS_ASGST_H_
#define WALKHAMMER_HARNESS_WALKERS_ASGST_H_

#include "harness/walkers/walker_table.h"

namespace walkhammer {

extern const WalkerInfo kAsgstWalker;

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_ASGST_H_
