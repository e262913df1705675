// SPDX-License-Identifier: Apache-2.0
// Names of C++ functions, as in source code. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_ELF_DEMANGLE_H_
#define WALKHAMMER_HARNESS_ELF_DEMANGLE_H_

#include <string>
#include <string_view>

namespace walkhammer {

// Returns the demangled name, or `symbol` itself if it is not a mangled name.
std::string Demangle(std::string_view symbol);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_ELF_DEMANGLE_H_
