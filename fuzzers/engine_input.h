// SPDX-License-Identifier: Apache-2.0
// The bytes that fuzz engines keep, and the shared mutator over them: either form of a request goes
// in, the binary form comes out. Used by the libFuzzer hooks and by AFL++'s mutator library.
// Signal-safe: no.
#ifndef WALKHAMMER_FUZZERS_ENGINE_INPUT_H_
#define WALKHAMMER_FUZZERS_ENGINE_INPUT_H_

#include <cstdint>
#include <span>

#include "harness/generate/mutator.h"
#include "harness/request/symbol_table.h"
#include "harness/request/walk_request.h"

namespace walkhammer {

// A mutator and the table whose symbols its requests name.
struct InputMutator {
  Mutator mutator;
  SymbolTable& symbols;
};

// Names an input among others; never 0.
uint64_t InputHash(std::span<const uint8_t> input);

// Corpora hold text, written by people, and bytes, written by engines. Any input decodes.
WalkRequest DecodeInput(std::span<const uint8_t> input, SymbolTable& symbols);

// Changes the `size` bytes at `data`, of which there are at most `max_size`; returns the new size.
size_t MutateInput(const InputMutator& mutator, uint8_t* data, size_t size, size_t max_size,
                   uint64_t seed);
size_t CrossInputs(const InputMutator& mutator, std::span<const uint8_t> a,
                   std::span<const uint8_t> b, uint8_t* out, size_t max_size, uint64_t seed);

}  // namespace walkhammer

#endif  // WALKHAMMER_FUZZERS_ENGINE_INPUT_H_
