// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/walk/debug_info.h"

#include "harness/asgst/walk/number_stream.h"

namespace walkhammer::asgst {
namespace {

constexpr uint64_t kMostPcs = 1 << 20;  // in one nmethod

}  // namespace

void DebugInfo::Open(const FoundCode& nmethod, const MemoryReader& code) {
  blob_ = nmethod.blob;
  begin_ = nmethod.begin;
  code_ = &code;
  tables_ = nullptr;
  pc_count_ = 0;
  has_id_ = known_ != nullptr && code.Read(blob_ + layout_.compile_id, compile_id_);
}

// Finds the tables of the current nmethod: once, and only when a scope is not in the cache.
bool DebugInfo::FindTables() {
  if (tables_ != nullptr) return pc_count_ > 0;
  const WalkLayout& l = layout_;
  const MemoryReader& code = *code_;
  const uint64_t blob = blob_;
  int32_t pcs = 0, pcs_end = 0, scopes = 0, metadata = 0;
  uint64_t base = blob;
  // In JDKs without immutable data the tables are part of the nmethod, and as safe to read.
  tables_ = l.immutable_data >= 0 ? &memory_ : &code;
  if (l.immutable_data >= 0 && !code.ReadWord(blob + l.immutable_data, base)) return false;
  if (!code.Read(blob + l.pcs_offset, pcs) || !code.Read(blob + l.pcs_end_offset, pcs_end) ||
      pcs < 0 || pcs_end < pcs)
    return false;
  pcs_ = base + pcs;
  if (l.scopes_begin >= 0) {
    if (!code.ReadWord(blob + l.scopes_begin, scopes_)) return false;
  } else {
    if (!code.Read(blob + l.scopes_offset, scopes)) return false;
    scopes_ = base + scopes;
  }
  if (l.metadata_offset >= 0) {
    uint16_t part = 0;
    if (l.metadata_is_short) {  // JDK 23 and 24: bytes from the blob's data on
      if (!code.Read(blob + l.metadata_offset, part) ||
          !code.Read(blob + l.code.data_offset, metadata))
        return false;
      metadata += part;
    } else if (!code.Read(blob + l.metadata_offset, metadata)) {
      return false;
    }
    metadata_ = blob + metadata;
  } else {
    if (!code.ReadWord(blob + l.mutable_data, metadata_) ||
        !code.Read(blob + l.relocation_size, metadata))
      return false;
    metadata_ += metadata;
  }
  const uint64_t count = static_cast<uint64_t>(pcs_end - pcs) / layout_.pc_desc_size;
  if (count <= kMostPcs) pc_count_ = count;
  return pc_count_ > 0;
}

// Looks up a scope in the cache. `key`: a pc, or what At() makes of an offset.
bool DebugInfo::Known(uint64_t key, Scope& scope) {
  new_key_ = 0;
  if (!has_id_) return false;
  if (known_->Find(key, compile_id_, scope)) return true;
  new_key_ = key;
  return false;
}

bool DebugInfo::Innermost(uint64_t pc, Scope& scope) {
  if (Known(pc, scope) || (FindTables() && Search(pc, scope))) return true;
  new_key_ = 0;
  return false;
}

bool DebugInfo::At(int32_t offset, Scope& scope) {
  const uint64_t key = ~(begin_ + static_cast<uint64_t>(offset));  // never equal to a pc
  if (Known(key, scope) || (FindTables() && Decode(offset, scope))) return true;
  new_key_ = 0;
  return false;
}

bool DebugInfo::Search(uint64_t pc, Scope& scope) const {
  // PcDescs are sorted by offset; the first and the last one are sentinels.
  const int32_t wanted = static_cast<int32_t>(pc - begin_);
  uint64_t low = 0, high = pc_count_;
  while (low < high) {
    const uint64_t middle = (low + high) / 2;
    int32_t offset = 0;
    if (!tables_->Read(pcs_ + middle * layout_.pc_desc_size + layout_.pc_offset, offset))
      return false;
    if (offset < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  int32_t decode = 0;
  if (low == 0 || low + 1 >= pc_count_ ||
      !tables_->Read(pcs_ + low * layout_.pc_desc_size + layout_.scope_offset, decode))
    return false;
  return decode > 0 && Decode(decode, scope);
}

bool DebugInfo::Decode(int32_t offset, Scope& scope) const {
  NumberStream stream(*tables_, layout_.null_free_numbers, scopes_ + offset);
  uint32_t sender = 0, method = 0, bci = 0;
  if (!stream.Number(sender) || !stream.Number(method) || !stream.Number(bci)) return false;
  // Method numbers count from 1; the stored bci is one higher.
  if (method == 0 || !memory_.ReadWord(metadata_ + 8 * (method - 1ULL), scope.method)) return false;
  scope.bci = static_cast<int32_t>(bci) - 1;
  scope.sender = static_cast<int32_t>(sender);
  // A caller's scope is written before the scopes of the methods that are inlined into it.
  return scope.sender >= 0 && scope.sender < offset;
}

}  // namespace walkhammer::asgst
