// SPDX-License-Identifier: Apache-2.0
#include "harness/elf/demangle.h"

#include <cxxabi.h>

#include <cstdlib>

namespace walkhammer {

std::string Demangle(std::string_view symbol) {
  std::string mangled(symbol);
  int status = 0;
  char* name = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  if (name == nullptr) return mangled;
  std::string out(name);
  std::free(name);
  return out;
}

}  // namespace walkhammer
