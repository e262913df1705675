// SPDX-License-Identifier: Apache-2.0
#include "harness/request/symbol_table.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "harness/base/hash.h"

namespace walkhammer {
namespace {

constexpr std::string_view kKindWords[] = {
    "literal",  "pristine",  "stack",       "slot",        "stack-base", "stack-limit",
    "thread",   "heap",      "heap-end",    "metaspace",   "code-cache", "code-cache-end",
    "unmapped", "no-access", "zero-page",   "nmethod",     "stub",       "codelet",
    "method",   "library",   "library-end", "scene-stack", "bytecodes",
};
static_assert(std::size(kKindWords) == kSymbolKinds);

char CleanChar(char c) { return c < ' ' || c > '~' || c == '"' || c == '\\' ? '?' : c; }

// Fills each byte of `symbol`, so that equal symbols have equal bytes.
void FillSymbol(SymbolKind kind, std::string_view name, Symbol& symbol) {
  std::memset(&symbol, 0, sizeof symbol);
  symbol.kind = kind;
  if (!IsNamed(kind)) return;
  name = name.substr(0, Symbol::kMaxName);
  std::transform(name.begin(), name.end(), symbol.name, CleanChar);
}

uint32_t Hash(const Symbol& symbol) {
  uint32_t hash = Fnv1a32(kFnvBegin32, static_cast<uint8_t>(symbol.kind));
  for (const char* c = symbol.name; *c != 0; c++) hash = Fnv1a32(hash, static_cast<uint8_t>(*c));
  return hash;
}

bool SameSymbol(const Symbol& a, const Symbol& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

}  // namespace

std::string_view KindWord(SymbolKind kind) {
  size_t index = static_cast<size_t>(kind);
  return index < std::size(kKindWords) ? kKindWords[index] : kKindWords[0];
}

std::optional<SymbolKind> KindFromWord(std::string_view word) {
  const auto* found = std::find(std::begin(kKindWords), std::end(kKindWords), word);
  if (found == std::end(kKindWords)) return std::nullopt;
  return static_cast<SymbolKind>(found - std::begin(kKindWords));
}

void SymbolTable::Init() {
  std::memset(slots_, 0, sizeof slots_);
  for (int kind = 0; kind < kSymbolKinds; kind++)
    FillSymbol(static_cast<SymbolKind>(kind), "", symbols_[kind]);
  size_.store(kSymbolKinds, std::memory_order_release);
}

std::unique_ptr<SymbolTable> NewSymbolTable() {
  auto symbols = std::make_unique<SymbolTable>();
  symbols->Init();
  return symbols;
}

// Another process may call Find during Intern: Intern publishes a slot after its symbol is
// complete.
std::optional<uint32_t> SymbolTable::Find(SymbolKind kind, std::string_view name) const {
  if (kind >= SymbolKind::kCount) return std::nullopt;
  if (!IsNamed(kind)) return IdOf(kind);
  if (name.empty()) return std::nullopt;
  Symbol wanted;
  FillSymbol(kind, name, wanted);
  uint32_t slot = Hash(wanted) % kSlots;
  for (uint32_t probes = 0; probes < kSlots; probes++, slot = (slot + 1) % kSlots) {
    uint32_t entry = __atomic_load_n(&slots_[slot], __ATOMIC_ACQUIRE);
    if (entry == 0) return std::nullopt;
    if (SameSymbol(at(entry - 1), wanted)) return entry - 1;
  }
  return std::nullopt;
}

uint32_t SymbolTable::Intern(SymbolKind kind, std::string_view name) {
  if (std::optional<uint32_t> known = Find(kind, name)) return *known;
  const uint32_t id = size();
  if (!IsNamed(kind) || name.empty() || id >= kCapacity) return IdOf(SymbolKind::kUnmapped);
  FillSymbol(kind, name, symbols_[id]);
  uint32_t slot = Hash(symbols_[id]) % kSlots;
  while (slots_[slot] != 0) slot = (slot + 1) % kSlots;
  size_.store(id + 1, std::memory_order_release);
  __atomic_store_n(&slots_[slot], id + 1, __ATOMIC_RELEASE);
  return id;
}

std::string CleanName(std::string_view name) {
  std::string clean(name.substr(0, Symbol::kMaxName));
  std::transform(clean.begin(), clean.end(), clean.begin(), CleanChar);
  return clean;
}

}  // namespace walkhammer
