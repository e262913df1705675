// SPDX-License-Identifier: Apache-2.0
// StructTables: the vmStructs and the symbols of a libjvm.so, read from the file. No JVM is loaded,
// so this works for a JDK of any supported architecture on any machine. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_JVM_IMAGES_STRUCT_TABLES_H_
#define WALKHAMMER_HARNESS_JVM_IMAGES_STRUCT_TABLES_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "harness/base/result.h"

namespace walkhammer {

struct StructTables {
  struct Field {
    std::string type;  // as declared: "Method*", "volatile int"
    bool is_static;
  };
  std::map<std::string, Field> fields;       // by "Type::field"
  std::map<std::string, uint64_t> sizes;     // of types, in bytes
  std::map<std::string, int64_t> constants;  // VMIntConstants and VMLongConstants, by name
  std::set<std::string> flags;               // names of JVM flags; empty: not found in the file
  std::set<std::string> symbols;             // that libjvm.so defines; mangled
  bool has_local_symbols = false;            // false: `symbols` has exported symbols only
};

// Reads tables and symbols of the file `libjvm`, and the symbols of its separate debug file
// `debug_file`, unless that is empty. Fails with kUnable if `libjvm` has no vmStructs, with
// kBadInput if it cannot be read as ELF. A debug file that cannot be read adds nothing.
Result<StructTables> ReadStructTables(const std::string& libjvm,
                                      const std::string& debug_file = "");

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_IMAGES_STRUCT_TABLES_H_
