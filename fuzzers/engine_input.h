// SPDX-License-Identifier: Apache-2.0
// Engine inputs: the bytes that fuzz engines keep, and the shared mutator applied to them. Inputs
// are requests in text or binary form, outputs are in binary form. Used by the libFuzzer hooks and
// by AFL++'s mutator library. Signal-safe: no.
#ifndef WALKHAMMER_FUZZERS_ENGINE_INPUT_H_
#define WALKHAMMER_FUZZERS_ENGINE_INPUT_H_

#include <cstdint>
#include <span>

#include "harness/generate/mutator.h"
#include "harness/request/symbol_table.h"
#include "harness/request/walk_request.h"

namespace walkhammer {

// A mutator and the symbol table of its requests.
struct InputMutator {
  Mutator mutator;
  SymbolTable& symbols;
};

// Hash that identifies an input; never 0.
uint64_t InputHash(std::span<const uint8_t> input);

// Decodes an input in text form, as people write it, or in binary form, as engines write it. Any
// bytes decode.
WalkRequest DecodeInput(std::span<const uint8_t> input, SymbolTable& symbols);

// Mutates the `size` bytes at `data` in place and returns the new size, at most `max_size` bytes.
size_t MutateInput(const InputMutator& mutator, uint8_t* data, size_t size, size_t max_size,
                   uint64_t seed);
size_t CrossInputs(const InputMutator& mutator, std::span<const uint8_t> a,
                   std::span<const uint8_t> b, uint8_t* out, size_t max_size, uint64_t seed);

}  // namespace walkhammer

#endif  // WALKHAMMER_FUZZERS_ENGINE_INPUT_H_
