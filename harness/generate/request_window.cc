// SPDX-License-Identifier: Apache-2.0
#include "harness/generate/request_window.h"

namespace walkhammer {
namespace {

uint64_t HashOf(const Value& value, const std::vector<uint64_t>& names) {
  return names[value.symbol] * 31 + static_cast<uint64_t>(value.addend);
}

// Order-sensitive and independent of symbol ids, so that two runs can be compared.
uint64_t Extend(uint64_t hash, const WalkRequest& r, const std::vector<uint64_t>& names) {
  auto add = [&](uint64_t x) { hash = (hash ^ x) * kGoldenRatio + 1; };
  add(r.scene | r.state << 8 | static_cast<uint64_t>(r.anchor) << 16 |
      static_cast<uint64_t>(r.depth) << 32);
  add(HashOf(r.pc, names));
  add(HashOf(r.sp, names));
  add(HashOf(r.fp, names));
  for (int i = 0; i < r.edit_count; i++)
    add(HashOf(r.edits[i].value, names) + static_cast<uint64_t>(r.edits[i].slot) +
        static_cast<uint64_t>(r.edits[i].op) * 7);
  return hash;
}

}  // namespace

std::vector<uint64_t> NameHashes(const SymbolTable& symbols) {
  std::vector<uint64_t> out(SymbolTable::kCapacity);
  for (uint32_t i = 0; i < symbols.size(); i++) {
    uint64_t hash = kFnvBegin + static_cast<uint64_t>(symbols.at(i).kind);
    for (const char* c = symbols.at(i).name; *c != 0; c++)
      hash = Fnv1a(hash, static_cast<uint8_t>(*c));
    out[i] = hash;
  }
  return out;
}

const WalkRequest& RequestWindow::Next() {
  requests_.Next(random_, request_);
  request_.options &= source_.options;
  hash_ = Extend(hash_, request_, source_.names);
  return request_;
}

}  // namespace walkhammer
