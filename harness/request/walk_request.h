// SPDX-License-Identifier: Apache-2.0
// WalkRequest: everything that is presented to a walker, position independent.
// Engines, corpus files and importers make walk requests; fuzz, replay and minimise consume them.
// Signal-safe: yes (fixed size, no pointers; zeroed memory is valid but for depth 0).
#ifndef WALKHAMMER_HARNESS_REQUEST_WALK_REQUEST_H_
#define WALKHAMMER_HARNESS_REQUEST_WALK_REQUEST_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "harness/request/symbol_table.h"

namespace walkhammer {

// The address symbol + addend (bytes; the sum wraps). Symbol ids belong to one SymbolTable.
struct Value {
  int64_t addend = 0;
  uint32_t symbol = 0;
  // 1: the address is signed, as return addresses are under pointer authentication.
  uint32_t is_signed = 0;
  bool operator==(const Value&) const = default;
};

enum class EditOp : uint8_t { kSet, kXor, kAdd, kCount };

// Changes one stack word before the walk and is undone after it. Edits apply in order: a later edit
// of the same slot starts from the result of the earlier one.
struct Edit {
  int32_t slot = 0;  // bytes above stack+0, a multiple of 8, 0 <= slot < WalkRequest::kMaxSlot
  EditOp op = EditOp::kSet;
  uint8_t reserved[3] = {};
  Value value;
  bool operator==(const Edit&) const = default;
};

// The content of JavaThread::_anchor during the walk. HotSpot takes the top frame from the anchor
// if the anchor is set, and from the ucontext otherwise.
enum class AnchorMode : uint8_t { kCleared, kTrue, kCustom, kCount };

// JavaThreadState with the numbers of JDK 8 to 27 (_thread_new = 2, ...); for other JDKs see
// ThreadStates.
inline constexpr uint8_t kStateInNative = 4;
inline constexpr uint8_t kStateInVm = 6;
inline constexpr uint8_t kStateInJava = 8;
inline constexpr uint8_t kStateBlocked = 10;

// kSample: exactly what a signal found in a running JVM. Code that changes such a request sets
// kMade.
enum class Origin : uint8_t { kMade, kSample, kCount };

// Copying takes time for UsedBytes only: engines copy a request for each walk, and few requests
// have many edits.
struct WalkRequest {
  static constexpr int kMaxEdits = 512;          // the number of stack words of a sample
  static constexpr int kUsualEdits = 32;         // engines add no edit beyond this number
  static constexpr uint16_t kMaxDepth = 16384;   // frames: the capacity of the frame buffer
  static constexpr int32_t kMaxSlot = 64 << 20;  // bytes: each Edit::slot is less

  uint8_t walker = 0;  // index into the walker table
  uint8_t scene = 0;   // index into the scene table
  uint8_t state = kStateInJava;
  AnchorMode anchor = AnchorMode::kCleared;
  uint16_t depth = 128;  // frames, 1 .. kMaxDepth
  uint16_t edit_count = 0;
  uint32_t options = 0;           // walker specific bits
  Origin origin = Origin::kMade;  // not in the binary form
  // Index into the walker table, plus 1, of a walker that walks the same request first, so that the
  // two answers are compared; 0: none. Not in the binary form.
  uint8_t against = 0;
  uint8_t reserved[2] = {};
  // Number, from 1, of the memory read of the walk that fails as if its page were gone; 0: none.
  // See FailingLoads, which also says which reads count. Not in the binary form.
  uint32_t fault = 0;
  uint32_t reserved_too = 0;
  Value pc{0, SymbolTable::IdOf(SymbolKind::kPristine)};
  Value sp{0, SymbolTable::IdOf(SymbolKind::kPristine)};
  Value fp{0, SymbolTable::IdOf(SymbolKind::kPristine)};
  Value lr{0, SymbolTable::IdOf(SymbolKind::kPristine)};  // ignored on machines without lr
  Value anchor_sp, anchor_pc, anchor_fp;                  // with AnchorMode::kCustom
  // Edits from edit_count on are neither initialised nor copied.
  union {
    Edit edits[kMaxEdits];
  };

  constexpr WalkRequest() {}
  WalkRequest(const WalkRequest& other) { *this = other; }
  WalkRequest& operator=(const WalkRequest& other) {
    if (this != &other)
      std::memcpy(static_cast<void*>(this), static_cast<const void*>(&other), other.UsedBytes());
    return *this;
  }

  // Size of the header and the edits in use; at most sizeof(WalkRequest), even if edit_count is
  // damaged.
  size_t UsedBytes() const {
    return offsetof(WalkRequest, edits) + std::min<size_t>(edit_count, kMaxEdits) * sizeof(Edit);
  }
};

bool operator==(const WalkRequest& a, const WalkRequest& b);

// How close a request is to what a profiler encounters in the field; lower values are more real. A
// request of Origin::kSample is kGenuine, whatever its registers, anchor and edits. A request with
// a read that fails is kFailingLoad, whatever else it holds.
enum class Realism : uint8_t {
  kGenuine,
  kShifted,
  kRandomRegisters,
  kEditedStack,
  kFailingLoad,
  kCount
};
inline constexpr int kRealisms = static_cast<int>(Realism::kCount);
Realism RealismOf(const WalkRequest& request);
// Orders requests for reports, the best first: more real ones, then those with fewer edits. Each
// value of Realism has kRanksOfRealism ranks.
constexpr int kRanksOfRealism = 2 * WalkRequest::kMaxEdits;
int RankOf(Realism realism, int edit_count);
std::string_view RealismWord(Realism realism);  // "genuine", "shifted", ...

// The name of a state, e.g. "in_Java"; nullptr if HotSpot declares no such value.
const char* StateWord(uint8_t state);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_REQUEST_WALK_REQUEST_H_
