// SPDX-License-Identifier: Apache-2.0
#include "harness/elf/demangle.h"

#include <cxxabi.h>

#include <cstdlib>

namespace walkhammer {

std::string Demangle(std::string_view symbol) {
  std::string mangled(symbol);
  if (symbol.starts_with("__Z")) mangled.erase(0, 1);  // of macOS
  // Else a function of C may pass for a type: "f" is that of float.
  if (!mangled.starts_with("_Z")) return std::string(symbol);
  int status = 0;
  char* name = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  if (name == nullptr) return std::string(symbol);
  std::string out(name);
  std::free(name);
  return out;
}

}  // namespace walkhammer
