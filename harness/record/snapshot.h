#ifndef WALKHAMMER_HARNESS_RECORD_SNAPSHOT_H_
#define WALKHAMMER_HARNESS_RECORD_SNAPSHOT_H_

#include "harness/record/stress_state.h"
#include "harness/request/walk_request.h"

namespace walkhammer {

inline WalkRequest RequestOfSample(const Sample& sample, const StressState&, SymbolTable&) {
  WalkRequest request;
  request.walker = sample.walker;
  request.state = sample.state;
  return request;
}

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_RECORD_SNAPSHOT_H_
