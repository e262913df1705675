// SPDX-License-Identifier: Apache-2.0
// HsErrHead: the error that the head of an hs_err log states, as text that compares across runs.
// Used by the signature of a child's death. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_FINDINGS_CRASH_ERROR_TEXT_H_
#define WALKHAMMER_HARNESS_FINDINGS_CRASH_ERROR_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace walkhammer {

// HsErrHead::error of a JVM that had no memory, or could not start a thread.
inline constexpr char kNoMemoryError[] = "insufficient memory";

struct HsErrHead {
  std::string error;    // "Internal Error (frame.cpp:123)", "SIGSEGV"; empty: not understood
  std::string message;  // "guarantee(x) failed: ...", hexadecimal numbers as "0x?"; may be empty
  std::string module;   // of the problematic frame: "libjvm.so"; may be empty
  std::string frame;    // "frame::sender(RegisterMap*) const+0x1f", "StubRoutines::call_stub"
};

// Parses an hs_err log. Accepts any text; fields that are not understood stay empty.
HsErrHead ParseHsErrHead(std::string_view text);

// Error, message, module and frame in one line: "SIGSEGV libjvm.so f(X*)+0x1f". The module only if
// it is asked for, and if the frame does not begin with it.
std::string HsErrHeadText(const HsErrHead& head, bool with_module);

// Who killed the JVM that wrote this hs_err log, if its signal came from another process: "SIGSEGV
// of pid 4711"; else empty.
std::string KilledBy(std::string_view hs_err);

// Replaces "0x" numbers of at least `shortest` digits, and bare words of 12 or 16 hexadecimal
// digits, by "0x?", so that text compares across runs.
std::string NormalizeHex(std::string_view text, size_t shortest = 1);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_FINDINGS_CRASH_ERROR_TEXT_H_
