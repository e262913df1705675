// SPDX-License-Identifier: Apache-2.0
// RandomRequests: the random engine. A seeded stream of requests for one scene, drawn from the
// vocabulary; the same seed and vocabulary give the same requests. Guided engines are compared with
// this baseline.
// Signal-safe: no (but allocates nothing in Next).
#ifndef WALKHAMMER_HARNESS_GENERATE_RANDOM_REQUESTS_H_
#define WALKHAMMER_HARNESS_GENERATE_RANDOM_REQUESTS_H_

#include <cstdint>

#include "harness/base/random.h"
#include "harness/request/vocabulary.h"
#include "harness/request/walk_request.h"

namespace walkhammer {

class RandomRequests {
 public:
  // `vocabulary` must outlive this object and must have `scene`.
  RandomRequests(const Vocabulary& vocabulary, uint8_t walker, uint8_t scene)
      : vocabulary_(vocabulary), stack_(vocabulary.scenes[scene]), walker_(walker), scene_(scene) {}

  void Next(Random& random, WalkRequest& request) const;

 private:
  Value AnyValue(Random& random) const;
  Value CodeValue(Random& random) const;
  Value StackValue(Random& random) const;
  Value Shifted(Random& random) const;
  Value FromPool(Random& random, SymbolKind kind) const;
  Value Literal(Random& random) const;
  uint32_t SlotOffset(Random& random, Value& fitting) const;
  void AddEdits(Random& random, WalkRequest& request) const;
  void PickState(Random& random, WalkRequest& request) const;

  const Vocabulary& vocabulary_;
  const SceneWords& stack_;
  uint8_t walker_, scene_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_GENERATE_RANDOM_REQUESTS_H_
