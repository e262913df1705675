// SPDX-License-Identifier: Apache-2.0
// CrashedChain: the native calls that led to a crash, apart from the code that they had
// interrupted, and the names by which calls are compared across builds. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CRASH_CRASHED_CHAIN_H_
#define WALKHAMMER_HARNESS_CRASH_CRASHED_CHAIN_H_

#include <string>
#include <string_view>
#include <vector>

#include "harness/hs_err/crash_report.h"

namespace walkhammer {

// What the calls end in, outwards. A chain without an end may go on in frames that are missing.
enum class ChainEnd : uint8_t {
  kNone,
  kSignal,  // the frame of a signal whose handler made the calls
  kJava,    // Java code or a stub of it, which made the calls or crashed by itself
  kStart    // the start of the thread, main, or the call of a Java method by the JVM
};

struct CrashedChain {
  // From the crash on outwards, innermost first, up to a signal or to Java code. What handled the
  // crash itself (VMError, abort) is left out. Mangled names are demangled.
  std::vector<CrashFrame> calls;
  // The code that a signal interrupted or from which Java code called, innermost first.
  std::vector<CrashFrame> interrupted;
  bool in_signal_handler = false;  // a signal frame ends `calls`
  ChainEnd end = ChainEnd::kNone;
  bool has_gap = false;      // the text leaves frames out before that end
  bool only_report = false;  // no call is given but those that handled the crash
};

CrashedChain ChainOf(const CrashReport& report);

// The name of a function for comparisons: without argument list, template arguments, return type
// and clone suffix; "frame::sender". Empty if the frame has no function.
std::string ComparableFunction(std::string_view symbol);

// True for libraries that crash on behalf of their callers: the C library, the loader, the vDSO.
bool IsRuntimeModule(std::string_view module);

// True for code of libjvm, also where a debugger tells the frame.
bool IsLibjvmFrame(const CrashFrame& frame);

// Index in `calls` of the frame to blame: the innermost of no runtime library that has a function;
// -1: there is none.
int BlamedFrame(const std::vector<CrashFrame>& calls);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CRASH_CRASHED_CHAIN_H_
