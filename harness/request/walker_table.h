// SPDX-License-Identifier: Apache-2.0
// The names of the walkers, known to parent and child alike.
// Signal-safe: yes (constant data).
#ifndef WALKHAMMER_HARNESS_REQUEST_WALKER_TABLE_H_
#define WALKHAMMER_HARNESS_REQUEST_WALKER_TABLE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace walkhammer {

class Walker;

// A return code that the API's documents declare.
struct DeclaredCode {
  int32_t code;
  const char* name;
};

struct WalkerInfo {
  const char* name;    // as in --walker and in .walk files
  const char* what;    // one line for `list walkers`
  const char* symbol;  // what libjvm must export for provider jdk; null: none
  bool puzzle;         // a planted bug that tests the harness; hidden unless asked for
  std::span<const DeclaredCode> codes;
  std::unique_ptr<Walker> (*make)();
  const char* covered_function =
      nullptr;  // of a puzzle for engines: the extern "C" function to cover
  // Why samples cannot be walked in a mode ("handler", "parked", ...), or null. Null: all can.
  const char* (*refused_mode)(std::string_view mode) = nullptr;
  const char* provider = "jdk";  // who implements it: jdk, ref
  // Its functions may come from a library that the user names (--provider FILE.so), not from
  // libjvm.
  bool replaceable = false;
  // Codes below this are the implementation's own, by the API's documents.
  int32_t private_codes_below = INT32_MIN;
  uint32_t options = 0;  // bits of WalkRequest::options that the API knows
};

std::span<const WalkerInfo> AllWalkers();
// By its name in the table, or by name and provider: asgst@ref is asgst.
std::optional<int> FindWalker(std::string_view name);
const char* CodeName(const WalkerInfo& walker, int32_t code);  // null if not declared

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_REQUEST_WALKER_TABLE_H_
