// asgst: AsyncGetStackTrace, from libasgst.so (asgst) or from a JDK that exports it (asgst@jdk):
// see asgst_layout.h.
#ifndef WALKHAMMER_HARNESS_WALKERS_ASGST_H_
#define WALKHAMMER_HARNESS_WALKERS_ASGST_H_

#include "harness/request/walker_table.h"

namespace walkhammer {

extern const WalkerInfo kAsgstWalker, kAsgstJdkWalker;

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_ASGST_H_
