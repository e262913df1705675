// SPDX-License-Identifier: Apache-2.0
// Functions that make values, for both generators. Their choices of values differ: those of the
// random engine are fixed (same seed, same request hash), those of the mutator follow what walkers
// are seen to read.
// Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_GENERATE_VALUES_H_
#define WALKHAMMER_HARNESS_GENERATE_VALUES_H_

#include <cstdint>

#include "harness/request/symbol_table.h"
#include "harness/request/walk_request.h"

namespace walkhammer {

inline constexpr Value ValueOf(SymbolKind kind, int64_t addend) {
  return {addend, SymbolTable::IdOf(kind), 0};
}
inline constexpr Value OnStack(int64_t offset) { return ValueOf(SymbolKind::kStack, offset); }
// `value` with `by` bytes added to its addend, which wraps.
inline Value Moved(Value value, int64_t by) {
  value.addend =
      static_cast<int64_t>(static_cast<uint64_t>(value.addend) + static_cast<uint64_t>(by));
  return value;
}
inline constexpr Value Number(int64_t number) { return ValueOf(SymbolKind::kLiteral, number); }

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_GENERATE_VALUES_H_
