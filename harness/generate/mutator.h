// SPDX-License-Identifier: Apache-2.0
// Mutator: the structure-aware mutator and crossover that all guided engines share. Input and
// output are valid requests; libFuzzer and AFL++ wrap them in the binary form. The same input and
// the same Random give the same output. Signal-safe: no (but allocates nothing).
#ifndef WALKHAMMER_HARNESS_GENERATE_MUTATOR_H_
#define WALKHAMMER_HARNESS_GENERATE_MUTATOR_H_

#include "harness/base/random.h"
#include "harness/request/vocabulary.h"
#include "harness/request/walk_request.h"

namespace walkhammer {

class Mutator {
 public:
  // `vocabulary` must outlive the mutator; all results are requests for `walker`.
  Mutator(const Vocabulary& vocabulary, uint8_t walker) : words_(vocabulary), walker_(walker) {}

  // Makes 1 to 5 changes, mostly small ones; now and then a change is a whole new request.
  void Mutate(Random& random, WalkRequest& request) const;

  // Makes `child` out of parts of both: the registers of one on the stack of the other, edits of
  // both, or the edits of one in the scene of the other.
  void CrossOver(Random& random, const WalkRequest& a, const WalkRequest& b,
                 WalkRequest& child) const;

 private:
  const Vocabulary& words_;
  uint8_t walker_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_GENERATE_MUTATOR_H_
