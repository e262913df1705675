// SPDX-License-Identifier: Apache-2.0
// Which code blob an address lies in, found through the code heaps' segment maps as HotSpot itself
// does it. Reads memory that other threads change: an answer about code that is being freed may be
// wrong.
// Signal-safe: FindCode and CodeFinder::Find yes; reading the layout no.
#ifndef WALKHAMMER_HARNESS_JVM_STRUCTS_CODE_FINDER_H_
#define WALKHAMMER_HARNESS_JVM_STRUCTS_CODE_FINDER_H_

#include <cstdint>

#include "harness/base/result.h"
#include "harness/jvm/structs/memory.h"
#include "harness/jvm/structs/vm_structs.h"

namespace walkhammer {

enum class CodeKind : uint8_t { kNone, kNmethod, kCodelet, kStub };

struct FoundCode {
  CodeKind kind = CodeKind::kNone;
  uint64_t blob = 0;            // the CodeBlob object, 0 for kNone and kCodelet
  uint64_t name = 0;            // address of CodeBlob::_name's text, with a blob
  uint64_t begin = 0;           // first instruction
  uint64_t end = 0;             // exclusive
  int32_t level = -1;           // compile level of an nmethod, 0 for a native wrapper
  int32_t frame_complete = -1;  // bytes from begin until the frame is set up; < 0: never said
  uint64_t heap_low = 0, heap_high = 0;  // what is committed of its heap, with a blob
  int32_t frame_words = 0;  // size of its frame, return address included; 0 or less: none
};

// Where a JVM keeps its code: addresses, and byte offsets in its structures; -1: there is no such
// field in this JDK. All from vmStructs.
struct CodeLayout {
  static constexpr int kMostHeaps = 8;

  uint64_t cache_low, cache_high;               // of CodeCache::_low_bound and _high_bound
  uint64_t interpreter_begin, interpreter_end;  // the interpreter's generated code
  uint64_t heaps[kMostHeaps];                   // CodeHeap*
  int heap_count;
  int memory_low, memory_high, map_low, map_high, log2_segment;  // CodeHeap
  int block_used, block_size;                                    // HeapBlock
  int blob_name, frame_complete, frame_size;                     // CodeBlob
  bool frame_complete_is_short;
  int code_begin, code_end;      // CodeBlob, JDK 11 to 21: addresses
  int code_offset, data_offset;  // CodeBlob, JDK 8 and later ones: offsets in the blob
  // nmethod
  int level, method, original_pc;
  bool level_is_byte;
  int deopt_begin, deopt_offset;  // of the deoptimisation handler: an address, or an offset

  bool InInterpreter(uint64_t pc) const { return pc >= interpreter_begin && pc < interpreter_end; }
};

// Fails when a vmStructs entry is missing, or the code heaps are not made yet.
Result<CodeLayout> ReadCodeLayout(const VmStructs& structs);

bool InCodeCache(const CodeLayout& layout, const MemoryReader& memory, uint64_t pc);
FoundCode FindCode(const CodeLayout& layout, const MemoryReader& memory, uint64_t pc);
// FindCode for the JVM of this process, several times faster, as memory is read plainly: code heaps
// stay where they are as long as the JVM lives, and what is committed of them stays so. Only the
// names, which a blob that is just being made may not have yet, are read through `text`.
FoundCode FindLiveCode(const CodeLayout& layout, const MemoryReader& text, uint64_t pc);

// What lies at a CodeBlob's address in this process, which must be that of a blob. No heap is told.
FoundCode DescribeBlob(const CodeLayout& layout, uint64_t blob);

// In this process, in the JVM whose layout it is.
class CodeFinder {
 public:
  CodeFinder() = default;
  static Result<CodeFinder> Open(const VmStructs& structs);

  FoundCode Find(uint64_t pc) const { return FindLiveCode(layout_, memory_, pc); }
  bool InInterpreter(uint64_t pc) const { return layout_.InInterpreter(pc); }
  bool IsInCache(uint64_t pc) const { return InCodeCache(layout_, memory_, pc); }

 private:
  CodeLayout layout_{};
  PlainMemory memory_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_STRUCTS_CODE_FINDER_H_
