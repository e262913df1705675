// SPDX-License-Identifier: Apache-2.0
// Random requests for tests; the same seed gives the same requests. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_REQUEST_REQUEST_TESTING_H_
#define WALKHAMMER_HARNESS_REQUEST_REQUEST_TESTING_H_

#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <string_view>

#include "harness/request/scene_table.h"
#include "harness/request/walk_request.h"
#include "harness/request/walker_table.h"

namespace walkhammer {

inline std::span<const uint8_t> AsBytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// True if a value or a request is valid.
inline bool IsValidValue(const Value& value, const SymbolTable& symbols) {
  if (value.symbol >= symbols.size() || value.is_signed > 1) return false;
  const Symbol& symbol = symbols.at(value.symbol);
  return IsNamed(symbol.kind) == (symbol.name[0] != 0);
}

inline bool IsValid(const WalkRequest& request, const SymbolTable& symbols) {
  bool valid = request.walker < AllWalkers().size() && request.scene < AllScenes().size() &&
               request.anchor < AnchorMode::kCount && request.depth >= 1 &&
               request.depth <= WalkRequest::kMaxDepth && request.origin < Origin::kCount &&
               request.against <= AllWalkers().size() && request.reserved[0] == 0 &&
               request.reserved[1] == 0 && request.edit_count <= WalkRequest::kMaxEdits;
  for (const Value* value : {&request.pc, &request.sp, &request.fp, &request.lr})
    valid = valid && IsValidValue(*value, symbols);
  for (const Value* value : {&request.anchor_sp, &request.anchor_pc, &request.anchor_fp})
    valid = valid && IsValidValue(*value, symbols) &&
            (request.anchor == AnchorMode::kCustom || *value == Value{});
  for (int i = 0; valid && i < request.edit_count; i++) {
    const Edit& edit = request.edits[i];
    valid = edit.slot % 8 == 0 && edit.slot >= 0 && edit.slot < WalkRequest::kMaxSlot &&
            edit.op < EditOp::kCount && IsValidValue(edit.value, symbols) &&
            edit.reserved[0] == 0 && edit.reserved[1] == 0 && edit.reserved[2] == 0;
  }
  return valid;
}

class AnyRequests {
 public:
  explicit AnyRequests(uint64_t seed) : random_(seed) {}

  uint64_t Below(uint64_t limit) { return random_() % limit; }

  // Random bytes, below 256 or below 48: with small bytes the decoder reaches more fields.
  std::string Bytes() {
    const uint64_t limit = Below(2) == 0 ? 256 : 48;
    std::string bytes(Below(600), 0);
    for (char& byte : bytes) byte = static_cast<char>(Below(limit));
    return bytes;
  }

  WalkRequest Request(SymbolTable& symbols) {
    WalkRequest request;
    request.walker = static_cast<uint8_t>(Below(AllWalkers().size()));
    request.scene = static_cast<uint8_t>(Below(AllScenes().size()));
    if (Below(2) == 0) request.state = static_cast<uint8_t>(Below(256));
    request.anchor = static_cast<AnchorMode>(Below(3));
    if (Below(2) == 0) request.depth = static_cast<uint16_t>(1 + Below(WalkRequest::kMaxDepth));
    if (Below(2) == 0) request.options = static_cast<uint32_t>(random_());
    for (Value* value : {&request.pc, &request.sp, &request.fp, &request.lr})
      if (Below(2) == 0) *value = RandomValue(symbols);
    if (request.anchor == AnchorMode::kCustom)
      for (Value* value : {&request.anchor_sp, &request.anchor_pc, &request.anchor_fp})
        *value = RandomValue(symbols);
    // Seldom makes more edits than engines do.
    const int most = Below(50) == 0 ? WalkRequest::kMaxEdits : WalkRequest::kUsualEdits;
    request.edit_count = static_cast<uint16_t>(Below(static_cast<uint64_t>(most) + 1));
    for (Edit& edit : std::span(request.edits, request.edit_count)) {
      edit = Edit{};
      edit.slot = static_cast<int32_t>(Below(WalkRequest::kMaxSlot / 8) * 8);
      edit.op = static_cast<EditOp>(Below(3));
      edit.value = RandomValue(symbols);
    }
    return request;
  }

  Value RandomValue(SymbolTable& symbols) {
    Value value;
    const auto kind = static_cast<SymbolKind>(Below(kSymbolKinds));
    // There are few names, so that the table does not fill up.
    value.symbol = symbols.Intern(kind, IsNamed(kind) ? RandomName() : "");
    constexpr int64_t kEdges[] = {0,
                                  1,
                                  -1,
                                  64,
                                  -(int64_t{1} << 32),
                                  -(int64_t{1} << 32) - 1,
                                  std::numeric_limits<int64_t>::max(),
                                  std::numeric_limits<int64_t>::min()};
    value.addend = Below(2) == 0 ? kEdges[Below(std::size(kEdges))]
                                 : static_cast<int64_t>(random_()) >> Below(64);
    value.is_signed = Below(8) == 0 ? 1 : 0;
    return value;
  }

 private:
  std::string RandomName() {
    std::mt19937_64 random(Below(500));
    std::string name(1 + random() % 200, 0);
    for (char& c : name) c = static_cast<char>(random());
    return name;
  }

  std::mt19937_64 random_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_REQUEST_REQUEST_TESTING_H_
