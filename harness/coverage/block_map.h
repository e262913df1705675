// SPDX-License-Identifier: Apache-2.0
// BlockMap: the basic blocks of a walker's code in an uninstrumented libjvm, found in its file
// alone (.symtab for the bounds of functions, Capstone for their instructions, relocations for
// vtables). The child arms traps on them, the parent and reports name them. Pure: no JVM is needed.
// What counts as a walker's code: direct calls and jumps from the roots, transitively, and virtual
// calls into the classes of reach_rules.cc; calls into other libraries are not followed.
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
  uint32_t code;      // the first four bytes: memory is compared with the file before it is patched
};

// How the walker gets into a function.
enum class Reach : uint8_t {
  kRoot,    // the API itself
  kDirect,  // a direct call or jump from a reached function
  kVtable,  // an indirect call through a slot of a vtable that it may have
};

struct BlockFunction {
  std::string name;  // demangled
  uint64_t address, size;
  uint32_t first_block, block_count;
  Reach reach;
};

// A function that may be called and is not in the map, and why.
struct LeftOut {
  std::string name;
  std::string reason;  // "an indirect call at +0x12 whose target ...", ...
};

// Where the JVM begins to report its own death, as VMError::report_and_die.
struct DeathEntry {
  uint64_t address;
  uint32_t code;  // as in Block
};

struct BlockMap {
  // At most this many blocks; what is beyond is left out, with the reason.
  static constexpr size_t kMaxBlocks = 16384;

  std::vector<BlockFunction> functions;  // by address
  std::vector<Block> blocks;             // by address
  std::vector<LeftOut> left_out;         // by name
  std::vector<DeathEntry> deaths;        // by address

  // The block whose leader is `address` (ELF virtual address), or -1.
  int Find(uint64_t address) const;
};

// The blocks reachable from `roots` (symbol names, e.g. "AsyncGetCallTrace") in the shared library
// `path`. The same file gives the same map, in the same order. Fails with kUnable where the file
// has no .symtab: the sentence says that coverage needs one.
Result<BlockMap> FindBlocks(const std::string& path, const std::vector<std::string>& roots);

// One instruction a line, "+0x1c  mov rax, qword ptr [rdi]"; of one block of `path`.
Result<std::string> DisassembleBlock(const std::string& path, const BlockMap& map, size_t block);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_COVERAGE_BLOCK_MAP_H_
