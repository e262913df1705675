// SPDX-License-Identifier: Apache-2.0
// JudgeGuilt: whether a stack walker is in the chain of calls that crashed, and whose it is.
// A profiler that is merely loaded is not to blame. "No" needs a chain that is given in full, see
// missing_part.h. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CRASH_GUILT_H_
#define WALKHAMMER_HARNESS_CRASH_GUILT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "harness/crash/crashed_chain.h"
#include "harness/request/walker_table.h"

namespace walkhammer {

// The library that a walker's function must be of. Two walkers may have functions of one name.
enum class WalkerLibrary : uint8_t {
  kOfAny,
  kOfLibjvm,
  kOfOthers,
  kOfAsyncProfiler,
  kOfJavaProfiler
};

// A function that runs in a stack walk only.
struct WalkerPattern {
  const char* function;  // the comparable name begins with it, or is it if it ends in '$'
  WalkerLibrary library;
  const char* walker;  // of `walkhammer show walkers`, which runs the same code; "": none does
  const char* whose;   // "AsyncGetCallTrace", "JFR's thread sampler", ..
};

enum class Guilt : uint8_t {
  kNone,      // no walker is in the chain, which is given in full
  kWalker,    // a walker is in the chain, or its own check failed
  kPossible,  // the text does not tell enough of the chain
};

struct GuiltVerdict {
  Guilt guilt = Guilt::kNone;
  const WalkerPattern* pattern = nullptr;  // with kWalker only
  std::string function;                    // the walker's frame, with kWalker only
  int line = 0;                            // where the text tells it
  std::string protection;             // the crash protection inside which it ran; empty: none seen
  std::string unprotected;            // why that protection does not hold here; empty: it may
  std::vector<std::string> innocent;  // profilers that are loaded, but not in the chain
  std::string why;                    // one sentence
  std::string help;                   // with kPossible: what would tell
  std::string command;                // to type for that; may be empty
};

GuiltVerdict JudgeGuilt(const CrashReport& report, const CrashedChain& chain);

// Index into AllWalkers() of the walker that runs that one's code, or of AsyncGetCallTrace,
// which stands in for others: it runs the same frame code of libjvm. `library`: path of the
// profiler's library, out of which its own walker comes; empty: there is none. If nobody knows
// which walker is to blame, it is the one that this library's profiler uses by default.
int WalkerFor(const GuiltVerdict& guilt, const std::string& library);
// True if the walker to blame is known, and comes out of a profiler's library.
bool IsOfLibrary(const GuiltVerdict& guilt);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CRASH_GUILT_H_
