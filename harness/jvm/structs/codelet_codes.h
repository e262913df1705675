// SPDX-License-Identifier: Apache-2.0
// CodeletCodes: which bytecode the interpreter executes at an address of the interpreter's code.
// The interpreter has a codelet for each bytecode of the Java language, and for each bytecode of
// its own to which it rewrites others.
// Signal-safe: At and JavaCode yes; Set no.
#ifndef WALKHAMMER_HARNESS_JVM_STRUCTS_CODELET_CODES_H_
#define WALKHAMMER_HARNESS_JVM_STRUCTS_CODELET_CODES_H_

#include <cstdint>
#include <string>
#include <vector>

namespace walkhammer {

struct Codelet {
  uint64_t begin, end;
  std::string description;  // InterpreterCodelet::_description
  int code;                 // InterpreterCodelet::_bytecode; -1: none, or not known
};

struct ExecutedCode {
  int code = -1;         // a bytecode of the Java language; -1: none, as between two bytecodes
  int also = -1;         // the next bytecode, if this codelet executes it, too; else -1
  bool jumps = false;    // `code` may continue at another bytecode than the next one
  bool returns = false;  // `code` leaves its method
};

class CodeletCodes {
 public:
  static constexpr int kWide = 0xc4;

  void Set(const std::vector<Codelet>& codelets);

  ExecutedCode At(uint64_t pc) const;
  // The bytecode of the Java language for a byte of a method's code, which HotSpot may have
  // rewritten; -1: not known.
  int JavaCode(int code) const { return code < 0 || code > 255 ? -1 : executed_[code].code; }

 private:
  struct Place {
    uint64_t begin, end;
    int code;
  };
  std::vector<Place> places_;  // sorted by begin
  ExecutedCode executed_[256] = {};
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_STRUCTS_CODELET_CODES_H_
