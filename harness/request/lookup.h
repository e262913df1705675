// SPDX-License-Identifier: Apache-2.0
// Index of a walker or scene by the name that a user types. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_REQUEST_LOOKUP_H_
#define WALKHAMMER_HARNESS_REQUEST_LOOKUP_H_

#include <string_view>

#include "harness/base/result.h"

namespace walkhammer {

// The index in AllWalkers() or AllScenes(); kBadInput with the nearest names if no entry has
// `name`.
Result<int> WalkerNamed(std::string_view name);
Result<int> SceneNamed(std::string_view name);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_REQUEST_LOOKUP_H_
