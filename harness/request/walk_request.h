// SPDX-License-Identifier: Apache-2.0
// WalkRequest: everything that a walker gets to see, position independent.
// Made by engines, corpus files and importers; consumed by fuzz, replay and minimise alike.
// Signal-safe: yes (fixed size, no pointers; zeroed memory is a valid one).
#ifndef WALKHAMMER_HARNESS_REQUEST_WALK_REQUEST_H_
#define WALKHAMMER_HARNESS_REQUEST_WALK_REQUEST_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "harness/request/symbol_table.h"

namespace walkhammer {

// symbol + addend (bytes, wraps). Symbol ids belong to one SymbolTable.
struct Value {
  int64_t addend = 0;
  uint32_t symbol = 0;
  // 1: with a signature on it, as return addresses have under pointer authentication.
  uint32_t is_signed = 0;
  bool operator==(const Value&) const = default;
};

enum class EditOp : uint8_t { kSet, kXor, kAdd, kCount };

// Changes one stack word before the walk; undone afterwards. Later edits see earlier ones.
struct Edit {
  int32_t slot = 0;  // bytes above stack+0, a multiple of 8, 0 <= slot < WalkRequest::kMaxSlot
  EditOp op = EditOp::kSet;
  uint8_t reserved[3] = {};
  Value value;
  bool operator==(const Edit&) const = default;
};

// What JavaThread::_anchor shows. HotSpot takes the top frame from the anchor when it is set,
// from the ucontext otherwise.
enum class AnchorMode : uint8_t { kCleared, kTrue, kCustom, kCount };

// JavaThreadState as JDK 8 to 27 number it (_thread_new = 2, ...); see ThreadStates for others.
inline constexpr uint8_t kStateInNative = 4;
inline constexpr uint8_t kStateInVm = 6;
inline constexpr uint8_t kStateInJava = 8;
inline constexpr uint8_t kStateBlocked = 10;

// kSample: what a signal showed in a running JVM, word for word. Any change makes it kMade.
enum class Origin : uint8_t { kMade, kSample, kCount };

// A copy costs its UsedBytes: engines copy one for each walk, and few have many edits.
struct WalkRequest {
  static constexpr int kMaxEdits = 512;          // as many words as a sample holds
  static constexpr int kUsualEdits = 32;         // engines add none beyond
  static constexpr uint16_t kMaxDepth = 16384;   // frames; the capacity of the frame buffer
  static constexpr int32_t kMaxSlot = 64 << 20;  // bytes; every edit slot is below

  uint8_t walker = 0;  // index into the walker table
  uint8_t scene = 0;   // index into the scene table
  uint8_t state = kStateInJava;
  AnchorMode anchor = AnchorMode::kCleared;
  uint16_t depth = 128;  // frames, 1 .. kMaxDepth
  uint16_t edit_count = 0;
  uint32_t options = 0;           // walker specific bits
  Origin origin = Origin::kMade;  // not in the binary form
  // The walker that is shown the same first, so that the answers are compared: index into the
  // table, plus 1; 0: none. Not in the binary form.
  uint8_t against = 0;
  uint8_t reserved[2] = {};
  Value pc{0, SymbolTable::IdOf(SymbolKind::kPristine)};
  Value sp{0, SymbolTable::IdOf(SymbolKind::kPristine)};
  Value fp{0, SymbolTable::IdOf(SymbolKind::kPristine)};
  Value lr{0, SymbolTable::IdOf(SymbolKind::kPristine)};  // ignored where there is no lr
  Value anchor_sp, anchor_pc, anchor_fp;                  // with AnchorMode::kCustom
  // Beyond edit_count they are neither initialised nor copied.
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

  // The header and the edits in use; never beyond the request, even when it is damaged.
  size_t UsedBytes() const {
    return offsetof(WalkRequest, edits) + std::min<size_t>(edit_count, kMaxEdits) * sizeof(Edit);
  }
};

bool operator==(const WalkRequest& a, const WalkRequest& b);

// How close a request is to what a profiler meets in the field; lower is more real. A sample is
// genuine whatever it takes to show it again.
enum class Realism : uint8_t { kGenuine, kShifted, kRandomRegisters, kEditedStack, kCount };
inline constexpr int kRealisms = static_cast<int>(Realism::kCount);
Realism RealismOf(const WalkRequest& request);
// For choosing an input to show: the more real first, then the smaller.
constexpr int kRanksOfRealism = 2 * WalkRequest::kMaxEdits;
int RankOf(const WalkRequest& request);
std::string_view RealismWord(Realism realism);  // "genuine", "shifted", ...

// "in_Java", or nullptr for a value that HotSpot does not declare.
const char* StateWord(uint8_t state);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_REQUEST_WALK_REQUEST_H_
