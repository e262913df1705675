// SPDX-License-Identifier: Apache-2.0
// Checked look-ups in the tables by the names that users type. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_REQUEST_LOOKUP_H_
#define WALKHAMMER_HARNESS_REQUEST_LOOKUP_H_

#include <string_view>

#include "harness/base/result.h"

namespace walkhammer {

// The index in the table; kBadInput with the nearest names where there is none.
Result<int> WalkerNamed(std::string_view name);
Result<int> SceneNamed(std::string_view name);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_REQUEST_LOOKUP_H_
