// SPDX-License-Identifier: Apache-2.0
// The compact binary form of a request, for fuzz engines and storage.
// Every byte string decodes to a valid request. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_REQUEST_BINARY_FORM_H_
#define WALKHAMMER_HARNESS_REQUEST_BINARY_FORM_H_

#include <cstdint>
#include <span>
#include <string>

#include "harness/request/walk_request.h"

namespace walkhammer {

// The binary form of `request`. The fields `origin`, `against` and `fault` are left out: an engine
// that flips bytes must not make samples. DecodeBinary(EncodeBinary(r)) == r for every valid r with
// origin kMade, against 0 and fault 0.
std::string EncodeBinary(const WalkRequest& request, const SymbolTable& symbols);

// The request that `bytes` encode. Never fails: missing bytes read as zero, numbers are brought
// into range, names are cleaned (CleanName). Names that `symbols` lacks are interned.
WalkRequest DecodeBinary(std::span<const uint8_t> bytes, SymbolTable& symbols);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_REQUEST_BINARY_FORM_H_
