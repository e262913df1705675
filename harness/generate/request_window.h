// SPDX-License-Identifier: Apache-2.0
// RequestWindow: the requests that the random engine makes for one window of walks, one after the
// other. Who has the vocabulary of a process and a request's number can make the request again.
// Signal-safe: no (but allocates nothing in Next).
#ifndef WALKHAMMER_HARNESS_GENERATE_REQUEST_WINDOW_H_
#define WALKHAMMER_HARNESS_GENERATE_REQUEST_WINDOW_H_

#include <cstdint>
#include <vector>

#include "harness/base/hash.h"
#include "harness/base/random.h"
#include "harness/generate/random_requests.h"
#include "harness/request/symbol_table.h"

namespace walkhammer {

// Hashes of the symbols' names, by id: the same in every process.
std::vector<uint64_t> NameHashes(const SymbolTable& symbols);

// What all windows of a campaign share.
struct WindowSource {
  const Vocabulary& vocabulary;
  const std::vector<uint64_t>& names;  // NameHashes of the vocabulary's symbols
  uint64_t seed;
  uint8_t walker;
  uint32_t options;  // option bits that requests may have
};

class RequestWindow {
 public:
  // `number`: of the window in the campaign. `source` must outlive this object.
  RequestWindow(const WindowSource& source, uint8_t scene, uint64_t number)
      : source_(source),
        requests_(source.vocabulary, source.walker, scene),
        random_(source.seed * 0x2545f4914f6cdd1d + number),
        hash_(Scramble(number + 1)) {}

  const WalkRequest& Next();
  // Covers all requests so far and their order: the same in every process that made the same ones.
  uint64_t hash() const { return hash_; }

 private:
  const WindowSource& source_;
  RandomRequests requests_;
  Random random_;
  uint64_t hash_;
  WalkRequest request_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_GENERATE_REQUEST_WINDOW_H_
