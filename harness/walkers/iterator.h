// SPDX-License-Identifier: Apache-2.0
// iterator, iterator-frame: the ASGST iterator from a ucontext, and from pc, sp and fp alone, as
// libasgst.so implements it on a stock JDK; with @jdk, as a JDK exports it.
#ifndef WALKHAMMER_HARNESS_WALKERS_ITERATOR_H_
#define WALKHAMMER_HARNESS_WALKERS_ITERATOR_H_

#include "harness/request/walker_table.h"

namespace walkhammer {

extern const DeclaredCode kIteratorCodes[7];  // of all walkers that use libasgst.so's iterator

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_ITERATOR_H_
