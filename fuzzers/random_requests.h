// RandomRequests: the random engine. A seeded stream of requests for one scene, drawn from the
// landscape's pool; the same seed and pool give the same requests.
// Signal-safe: no (but allocates nothing in Next).
#ifndef WALKHAMMER_FUZZERS_RANDOM_REQUESTS_H_
#define WALKHAMMER_FUZZERS_RANDOM_REQUESTS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "fuzzers/random.h"
#include "harness/request/walk_request.h"
#include "harness/scenes/landscape.h"
#include "harness/scenes/scenes.h"

namespace walkhammer {

// What the engine must know of a scene's stack: offsets from stack+0 in bytes. Taken from the
// frames' structure and not from what words happen to hold, they are the same in every process.
struct StackSketch {
  uint32_t words;                  // worth editing, from stack+0 on
  std::vector<uint32_t> code;      // return addresses
  std::vector<uint32_t> pointers;  // links and other addresses of the same stack
  std::vector<uint32_t> methods;   // Method* of interpreted frames
};

StackSketch Sketch(const ParkedScene& scene, const Jvm& jvm);

class RandomRequests {
 public:
  RandomRequests(const Landscape& landscape, const StackSketch& sketch, uint8_t walker,
                 uint8_t scene)
      : landscape_(landscape), sketch_(sketch), walker_(walker), scene_(scene) {}

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

  const Landscape& landscape_;
  const StackSketch& sketch_;
  uint8_t walker_, scene_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_FUZZERS_RANDOM_REQUESTS_H_
