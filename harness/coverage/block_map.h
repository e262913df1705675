// SPDX-License-Identifier: Apache-2.0
// BlockMap: the basic blocks of a walker's code in an uninstrumented libjvm, found in the library's
// file alone: function bounds from .symtab, instructions by Capstone, vtables from relocations. The
// child arms traps on the blocks; the parent and reports name them. No JVM is needed.
// A walker's code is what the roots reach by direct calls and jumps, transitively, and by virtual
// calls into the classes of reach_rules.cc. Calls into other libraries are not followed.
// Signal-safe: no (reading a finished map yes).
#ifndef WALKHAMMER_HARNESS_COVERAGE_BLOCK_MAP_H_
#define WALKHAMMER_HARNESS_COVERAGE_BLOCK_MAP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "harness/base/result.h"

namespace walkhammer {

// Straight-line code that is entered only at its first instruction.
struct Block {
  uint64_t address;   // ELF virtual address of the first instruction, the block's leader
  uint32_t size;      // bytes up to the next leader or the function's end
  uint32_t function;  // index into BlockMap::functions
  uint32_t code;      // first four bytes in the file: compared with memory before it is patched
  bool operator==(const Block&) const = default;
};

// How the walker reaches a function.
enum class Reach : uint8_t {
  kRoot,    // the API itself
  kDirect,  // a call or jump with a known target, from a reached function
  kVtable,  // an indirect call through a vtable that the receiver may have
};

struct BlockFunction {
  std::string name;  // demangled
  uint64_t address, size;
  uint32_t first_block, block_count;
  Reach reach;
  bool operator==(const BlockFunction&) const = default;
};

// A gap in the map: a function that is not in it, or one whose indirect call is not followed.
struct LeftOut {
  std::string name;
  std::string reason;  // "an indirect call at +0x12 whose target ...", ...
  bool operator==(const LeftOut&) const = default;
};

// Entry of a function that reports the death of the JVM: VMError::report_and_die.
struct DeathEntry {
  uint64_t address;
  uint32_t code;  // first four bytes in the file
};

struct BlockMap {
  // Most blocks in a map. Functions that would exceed the limit are in `left_out`.
  static constexpr size_t kMaxBlocks = 16384;

  std::vector<BlockFunction> functions;  // by address
  std::vector<Block> blocks;             // by address
  std::vector<LeftOut> left_out;         // by name
  std::vector<DeathEntry> deaths;        // by address

  // Index of the block whose leader is `address` (ELF virtual address), or -1.
  int Find(uint64_t address) const;
};

// Finds the blocks reachable from `roots` (symbol names, e.g. "AsyncGetCallTrace") in the ELF file
// `path`. The same file gives the same map, in the same order. Fails with kUnable if the file has
// no .symtab or lacks a root, with kBadInput if it cannot be read as ELF.
Result<BlockMap> FindBlocks(const std::string& path, const std::vector<std::string>& roots);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_COVERAGE_BLOCK_MAP_H_
