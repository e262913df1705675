// SPDX-License-Identifier: Apache-2.0
// The table of walkers, shared by parent and child.
// Signal-safe: yes (constant data).
#ifndef WALKHAMMER_HARNESS_REQUEST_WALKER_TABLE_H_
#define WALKHAMMER_HARNESS_REQUEST_WALKER_TABLE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace walkhammer {

// A return code that the documents of a walker's API declare.
struct DeclaredCode {
  int32_t code;
  const char* name;
};

// How `fuzz` and its engines walk; see WalkerInfo::refused_mode.
inline constexpr std::string_view kSynthetic = "synthetic";

// True of synthetic walks, and of modes in which a thread that is sampled walks itself.
bool WalksOwnThread(std::string_view mode);

struct WalkerInfo {
  const char* name;  // as in --walker and in .walk files
  const char* what;  // one line for `show walkers`
  const char* symbol =
      nullptr;          // the function that libjvm must export for provider jdk; null: none
  bool puzzle = false;  // a planted bug that tests the harness; hidden unless asked for
  std::span<const DeclaredCode> codes = {};
  const char* covered_function =
      nullptr;  // puzzles for engines: the extern "C" function to cover; else null
  // Returns why this walker cannot walk in `mode` (of samples: "handler", "parked", ...;
  // kSynthetic), or null if it can. A null pointer: it can in every mode.
  const char* (*refused_mode)(std::string_view mode) = nullptr;
  const char* provider = "jdk";  // what implements the walker: "jdk" or "ref"
  // True if a library that the user names (--provider FILE.so) may replace libjvm as the source of
  // the walker's functions.
  bool replaceable = false;
  // The API's documents leave the codes below this one to the implementation.
  int32_t private_codes_below = INT32_MIN;
  uint32_t options = 0;  // bits of WalkRequest::options that the API defines
  // True if a walk only asks, which code 0 says was heard: the stack trace comes later, and another
  // way.
  bool answers_later = false;
  // Mangled names of the walker's function, or their beginnings, one for each name that releases
  // gave it, where no library exports it: a replacing library holds one of them in .symtab. Empty:
  // `symbol` counts.
  std::span<const char* const> local_functions = {};
  // True if the walker's Java frames are those of AsyncGetCallTrace, so that its known issues are
  // the walker's, too.
  bool calls_agct = false;
};

// Mangled names of functions that profilers do not export, without their parameters.
inline constexpr const char* kWalkVm[] = {"_ZN11StackWalker6walkVME"};  // of both profilers
// Of java-profiler, which renamed it in 1.41.
inline constexpr const char* kDdprofWalkVm[] = {"_ZN11StackWalker6walkVME",
                                                "_ZN14HotspotSupport6walkVME"};
inline constexpr const char* kWalkDwarf[] = {"_ZN11StackWalker9walkDwarfE"};
inline constexpr const char* kWalkFp[] = {"_ZN11StackWalker6walkFPE"};
inline constexpr const char* kGetNativeTrace[] = {"_ZN8Profiler14getNativeTraceE"};

// Rows of walker_rows.inc and puzzle_rows.inc. harness/walkers/makers.h makes the walkers.
std::span<const WalkerInfo> AllWalkers();
// Index of the walker called `name`, or NAME@PROVIDER: "asgst@ref" is asgst from provider ref.
std::optional<int> FindWalker(std::string_view name);
const char* CodeName(const WalkerInfo& walker, int32_t code);  // null: not declared

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_REQUEST_WALKER_TABLE_H_
