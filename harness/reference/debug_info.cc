#include "harness/reference/debug_info.h"

namespace walkhammer {
namespace {

constexpr uint64_t kMostPcs = 1 << 20;  // in one nmethod

}  // namespace

bool DebugInfo::FindTables(Tables& t) const {
  const WalkLayout& l = layout_;
  const uint64_t blob = nmethod_.blob;
  int32_t pcs = 0, pcs_end = 0, scopes = 0, metadata = 0;
  uint64_t base = blob;
  if (l.immutable_data >= 0 && !memory_.ReadWord(blob + l.immutable_data, base)) return false;
  if (!memory_.Read(blob + l.pcs_offset, pcs) || !memory_.Read(blob + l.pcs_end_offset, pcs_end))
    return false;
  t.pcs = base + pcs;
  t.pcs_end = base + pcs_end;
  if (l.scopes_begin >= 0) {
    if (!memory_.ReadWord(blob + l.scopes_begin, t.scopes)) return false;
  } else {
    if (!memory_.Read(blob + l.scopes_offset, scopes)) return false;
    t.scopes = base + scopes;
  }
  if (l.metadata_offset >= 0) {
    if (!memory_.Read(blob + l.metadata_offset, metadata)) return false;
    t.metadata = blob + metadata;
  } else {
    if (!memory_.ReadWord(blob + l.mutable_data, t.metadata) ||
        !memory_.Read(blob + l.relocation_size, metadata))
      return false;
    t.metadata += metadata;
  }
  return t.pcs <= t.pcs_end && (t.pcs_end - t.pcs) / l.pc_desc_size <= kMostPcs;
}

bool DebugInfo::Innermost(uint64_t pc, Scope& scope) const {
  Tables t{};
  if (!FindTables(t)) return false;
  // Sorted by offset; the first and the last one are sentinels.
  const int32_t wanted = static_cast<int32_t>(pc - nmethod_.begin);
  uint64_t low = 0, high = (t.pcs_end - t.pcs) / layout_.pc_desc_size;
  const uint64_t count = high;
  while (low < high) {
    const uint64_t middle = (low + high) / 2;
    int32_t offset = 0;
    if (!memory_.Read(t.pcs + middle * layout_.pc_desc_size + layout_.pc_offset, offset))
      return false;
    if (offset < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  int32_t decode = 0;
  if (low == 0 || low + 1 >= count ||
      !memory_.Read(t.pcs + low * layout_.pc_desc_size + layout_.scope_offset, decode))
    return false;
  return decode > 0 && At(decode, scope);
}

bool DebugInfo::At(int32_t offset, Scope& scope) const {
  Tables t{};
  if (!FindTables(t)) return false;
  uint64_t at = t.scopes + offset;
  uint32_t sender = 0, method = 0, bci = 0;
  if (!ReadNumber(at, sender) || !ReadNumber(at, method) || !ReadNumber(at, bci)) return false;
  // Numbers of methods count from 1; byte codes are stored one higher.
  if (method == 0 || !memory_.ReadWord(t.metadata + 8 * (method - 1ULL), scope.method))
    return false;
  scope.bci = static_cast<int32_t>(bci) - 1;
  scope.sender = static_cast<int32_t>(sender);
  // A caller's scope is written before those of what it inlined.
  return scope.sender >= 0 && scope.sender < offset;
}

// HotSpot's UNSIGNED5: up to five bytes, each but the last one not below `low`. Since JDK 20 no
// byte is zero, and all values are one higher (JDK-8292758).
bool DebugInfo::ReadNumber(uint64_t& at, uint32_t& number) const {
  const uint32_t excluded = layout_.null_free_numbers ? 1 : 0;
  constexpr uint32_t kHigh = 64;  // values of a byte that say that another one follows
  const uint32_t low = 256 - excluded - kHigh;
  number = 0;
  for (int i = 0; i < 5; i++) {
    uint8_t byte = 0;
    if (!memory_.Read(at, byte) || byte < excluded) return false;
    at++;
    number += (byte - excluded) << (6 * i);
    if (byte < excluded + low) return true;
  }
  return true;
}

}  // namespace walkhammer
