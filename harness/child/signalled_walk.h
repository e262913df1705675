// SPDX-License-Identifier: Apache-2.0
// WalkInSignalHandler: one walk as a profiler does it: in the handler of a signal, and without the
// guard. If the walker crashes, the JVM handles the fault, as it would under that profiler: it
// writes its hs_err log and dies. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CHILD_SIGNALLED_WALK_H_
#define WALKHAMMER_HARNESS_CHILD_SIGNALLED_WALK_H_

#include "harness/walkers/walker.h"

namespace walkhammer {

// Sends SIGPROF to the calling thread. The handler puts `registers` into the signal's own context,
// shows that to `walker` instead of input.context, and undoes the change. Installs the handler.
Trace WalkInSignalHandler(Walker& walker, const WalkInput& input, const Registers& registers);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CHILD_SIGNALLED_WALK_H_
