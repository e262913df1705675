// queue: a frame goes through a safepoint queue and the walk begins at what comes out, as
// libasgst.so implements it on a stock JDK. No safepoint: its live tests are queue_api_test.cc.
#ifndef WALKHAMMER_HARNESS_WALKERS_QUEUE_H_
#define WALKHAMMER_HARNESS_WALKERS_QUEUE_H_

#include "harness/request/walker_table.h"

namespace walkhammer {

extern const WalkerInfo kQueueWalker;

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_QUEUE_H_
