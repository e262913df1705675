// SPDX-License-Identifier: Apache-2.0
// The compact binary form of a request, for fuzz engines and storage.
// Any bytes decode to a valid request. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_REQUEST_BINARY_FORM_H_
#define WALKHAMMER_HARNESS_REQUEST_BINARY_FORM_H_

#include <cstdint>
#include <span>
#include <string>

#include "harness/request/walk_request.h"

namespace walkhammer {

// DecodeBinary(EncodeBinary(r)) == r for every valid r whose origin is kMade: an engine that flips
// bytes must not make samples.
std::string EncodeBinary(const WalkRequest& request, const SymbolTable& symbols);

// Never fails: missing bytes read as zero, numbers are brought into range, names are cleaned.
// Names unknown to `symbols` are interned.
WalkRequest DecodeBinary(std::span<const uint8_t> bytes, SymbolTable& symbols);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_REQUEST_BINARY_FORM_H_
