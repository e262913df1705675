// SPDX-License-Identifier: Apache-2.0
#include "fuzzers/engine_input.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "harness/base/hash.h"
#include "harness/request/binary_form.h"
#include "harness/request/text_form.h"

namespace walkhammer {
namespace {

constexpr std::string_view kTextStart = "walk ";

// A text may begin with comments.
bool LooksLikeText(std::string_view bytes) {
  return bytes.starts_with(kTextStart) || bytes.starts_with('#');
}

// Encodes `request` into `out` and returns the size in bytes. Drops the last edits of a request
// that is longer than `max_size`.
size_t Put(WalkRequest& request, const SymbolTable& symbols, uint8_t* out, size_t max_size) {
  std::string bytes = EncodeBinary(request, symbols);
  while (bytes.size() > max_size && request.edit_count > 0) {
    request.edit_count--;
    bytes = EncodeBinary(request, symbols);
  }
  const size_t size = std::min(bytes.size(), max_size);
  std::copy_n(bytes.begin(), size, out);
  return size;
}

}  // namespace

// FNV-1a.
uint64_t InputHash(std::span<const uint8_t> input) {
  uint64_t hash = kFnvBegin;
  for (const uint8_t byte : input) hash = Fnv1a(hash, byte);
  return hash | 1;
}

WalkRequest DecodeInput(std::span<const uint8_t> input, SymbolTable& symbols) {
  const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
  WalkFile file;
  if (LooksLikeText(text) && ParseText(text, "input", symbols, file).empty()) return file.request;
  return DecodeBinary(input, symbols);
}

size_t MutateInput(const InputMutator& mutator, uint8_t* data, size_t size, size_t max_size,
                   uint64_t seed) {
  Random random(seed);
  WalkRequest request = DecodeInput({data, size}, mutator.symbols);
  mutator.mutator.Mutate(random, request);
  return Put(request, mutator.symbols, data, max_size);
}

size_t CrossInputs(const InputMutator& mutator, std::span<const uint8_t> a,
                   std::span<const uint8_t> b, uint8_t* out, size_t max_size, uint64_t seed) {
  Random random(seed);
  WalkRequest child;
  mutator.mutator.CrossOver(random, DecodeInput(a, mutator.symbols),
                            DecodeInput(b, mutator.symbols), child);
  return Put(child, mutator.symbols, out, max_size);
}

}  // namespace walkhammer
