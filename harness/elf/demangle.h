// SPDX-License-Identifier: Apache-2.0
// Names of C++ functions as people write them. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_ELF_DEMANGLE_H_
#define WALKHAMMER_HARNESS_ELF_DEMANGLE_H_

#include <string>
#include <string_view>

namespace walkhammer {

// `symbol` itself where it is no mangled name.
std::string Demangle(std::string_view symbol);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_ELF_DEMANGLE_H_
