// The child's end of SharedState. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SHARED_STATE_H_
#define WALKHAMMER_HARNESS_SHARED_STATE_H_

#include "harness/base/result.h"
#include "harness/shared/shared_state.h"

namespace walkhammer {

// Maps what the environment's WALKHAMMER_STATE names. Null where the variable is not set: nobody
// supervises this process.
Result<SharedState*> OpenState();

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SHARED_STATE_H_
