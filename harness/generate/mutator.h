// SPDX-License-Identifier: Apache-2.0
// Mutator: the structure-aware mutator and crossover that all guided engines share. What goes in
// and comes out is a valid request; libFuzzer and AFL++ wrap it with the binary form. Deterministic
// in the Random that is passed. Signal-safe: no (but allocates nothing).
#ifndef WALKHAMMER_HARNESS_GENERATE_MUTATOR_H_
#define WALKHAMMER_HARNESS_GENERATE_MUTATOR_H_

#include "harness/base/random.h"
#include "harness/request/vocabulary.h"
#include "harness/request/walk_request.h"

namespace walkhammer {

class Mutator {
 public:
  // `vocabulary` outlives the mutator; requests are made for `walker`.
  Mutator(const Vocabulary& vocabulary, uint8_t walker) : words_(vocabulary), walker_(walker) {}

  // One to several small changes, or now and then a fresh request.
  void Mutate(Random& random, WalkRequest& request) const;

  // A request that has something of both: the one's registers on the other's stack, edits of both,
  // one's edits in the other's scene.
  void CrossOver(Random& random, const WalkRequest& a, const WalkRequest& b,
                 WalkRequest& child) const;

 private:
  const Vocabulary& words_;
  uint8_t walker_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_GENERATE_MUTATOR_H_
