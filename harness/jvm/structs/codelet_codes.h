// SPDX-License-Identifier: Apache-2.0
// CodeletCodes: which byte code the interpreter executes at an address of its own code. It has a
// codelet for each byte code, and for those of its own that it rewrites others to.
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
  int code;                 // InterpreterCodelet::_bytecode; -1: of no byte code, or not known
};

struct ExecutedCode {
  int code = -1;         // of the Java language's; -1: none, as between two of them
  int also = -1;         // the one behind it, which this codelet executes with it
  bool jumps = false;    // it may go on elsewhere than behind it
  bool returns = false;  // it leaves its method
};

class CodeletCodes {
 public:
  static constexpr int kWide = 0xc4;

  void Set(const std::vector<Codelet>& codelets);

  ExecutedCode At(uint64_t pc) const;
  // What a byte in a method's memory, which may be rewritten, stands for; -1: not known.
  int JavaCode(int code) const { return code < 0 || code > 255 ? -1 : executed_[code].code; }

 private:
  struct Place {
    uint64_t begin, end;
    int code;
  };
  std::vector<Place> places_;  // by address
  ExecutedCode executed_[256] = {};
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_STRUCTS_CODELET_CODES_H_
