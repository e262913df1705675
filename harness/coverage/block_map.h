// SPDX-License-Identifier: Apache-2.0
// BlockMap: the basic blocks of a walker's code in an uninstrumented libjvm. The file suffices:
// function bounds are from .symtab, instructions from Capstone, vtables from relocations. The child
// arms traps on the blocks; the parent and reports name them.
// A walker's code is what the roots reach, transitively. Calls and jumps are followed if they are
// direct, have a known target, or are virtual calls into the classes of reach_rules.cc. Functions
// that reach_rules.cc excludes, and other libraries, are not followed.
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
  uint32_t code;      // first four bytes in the file, in memory order
  bool operator==(const Block&) const = default;
};

// How the walker reaches a function.
enum class Reach : uint8_t {
  kRoot,    // the API itself
  kDirect,  // a call or jump with a known target, from a reached function
  kVtable,  // a virtual call, through the vtable of a class that the receiver may have
};

struct BlockFunction {
  std::string name;        // demangled
  uint64_t address, size;  // ELF virtual address; bytes
  uint32_t first_block, block_count;
  Reach reach;
  bool operator==(const BlockFunction&) const = default;
};

// A gap in the map: a function that it lacks, or an indirect call that is not followed.
struct LeftOut {
  std::string name;
  std::string reason;  // "an indirect call at +0x12 whose target ...", ...
  bool operator==(const LeftOut&) const = default;
};

// Entry of a function that reports the death of the JVM: VMError::report_and_die.
struct DeathEntry {
  uint64_t address;  // ELF virtual address
  uint32_t code;     // see Block::code
};

struct BlockMap {
  // Most blocks in a map. Functions whose blocks would exceed it are in `left_out`.
  static constexpr size_t kMaxBlocks = 16384;

  std::vector<BlockFunction> functions;  // by address
  std::vector<Block> blocks;             // by address
  std::vector<LeftOut> left_out;         // by name
  std::vector<DeathEntry> deaths;        // by address

  // Returns the index of the block whose leader is at the ELF virtual address `address`, or -1.
  int Find(uint64_t address) const;
};

// Finds the blocks reachable from `roots`, symbols such as "AsyncGetCallTrace", in the ELF file
// `path`. The same file gives the same map, in the same order. Fails with kBadInput if it cannot
// be read as ELF. Fails with kUnable if it has no .symtab, lacks a root, or is for an unsupported
// architecture.
Result<BlockMap> FindBlocks(const std::string& path, const std::vector<std::string>& roots);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_COVERAGE_BLOCK_MAP_H_
