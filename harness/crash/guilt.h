// SPDX-License-Identifier: Apache-2.0
// JudgeGuilt: whether a stack walker is in the chain of calls that crashed, and whose it is.
// A profiler that is merely loaded is not guilty. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CRASH_GUILT_H_
#define WALKHAMMER_HARNESS_CRASH_GUILT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "harness/crash/crashed_chain.h"

namespace walkhammer {

// A function that runs in a stack walk only.
struct WalkerPattern {
  const char* function;  // the comparable name begins with it, or is it if it ends in '$'
  const char* module;    // the file name begins with it; "": any
  const char* walker;    // a name of `walkhammer show walkers` that shows the same code, or ""
  const char* whose;     // "AsyncGetCallTrace", "JFR's thread sampler", ..
};

enum class Guilt : uint8_t {
  kNone,      // no walker is in the chain
  kWalker,    // a walker is in the chain
  kPossible,  // the text does not tell enough of the chain
};

struct GuiltVerdict {
  Guilt guilt = Guilt::kNone;
  const WalkerPattern* pattern = nullptr;  // with kWalker only
  std::string function;                    // the walker's frame, with kWalker only
  int line = 0;                            // where the text tells it
  std::string protection;             // the crash protection inside which it ran; empty: none seen
  std::vector<std::string> innocent;  // profilers that are loaded, but not in the chain
  std::string why;                    // one sentence
};

GuiltVerdict JudgeGuilt(const CrashReport& report, const CrashedChain& chain);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CRASH_GUILT_H_
