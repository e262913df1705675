// SPDX-License-Identifier: Apache-2.0
// StructTables: what a libjvm.so says of its own structures in vmStructs, read from the file alone:
// no JVM is loaded, so that any JDK can be read on any machine. Signal-safe: no.
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
  std::map<std::string, int64_t> constants;  // int and long ones
  std::set<std::string> flags;               // empty: the file does not tell them
  std::set<std::string> symbols;             // that libjvm.so defines, mangled
  bool has_local_symbols = false;            // false: `symbols` are the exported ones alone
};

// Reads the tables of the file at `libjvm`, and of the separate debug file `debug_file`, if it is
// not empty, the symbols. Fails with kUnable if there are no tables in the file, with kBadInput if
// it cannot be read as ELF.
Result<StructTables> ReadStructTables(const std::string& libjvm,
                                      const std::string& debug_file = "");

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_IMAGES_STRUCT_TABLES_H_
