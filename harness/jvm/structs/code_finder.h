// SPDX-License-Identifier: Apache-2.0
// Finds the code blob that holds an address, through the segment maps of the code heaps, as HotSpot
// itself does. Reads memory that other threads change: the result may be wrong for code that is
// being freed.
// Signal-safe: ReadCodeLayout and CodeFinder::Open no; the rest yes, if the MemoryReader is.
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
  uint64_t blob = 0;            // address of the CodeBlob object; 0 for kNone and kCodelet
  uint64_t name = 0;            // CodeBlob::_name: address of the text; with a blob only
  uint64_t begin = 0;           // first instruction
  uint64_t end = 0;             // exclusive
  int32_t level = -1;           // compile level of an nmethod; 0 for a native wrapper
  int32_t frame_complete = -1;  // bytes from begin until the frame is set up; < 0: not known
  uint64_t heap_low = 0, heap_high = 0;  // committed memory of the blob's heap; with a blob only
  int32_t frame_words = 0;  // size of the code's frame with return address; 0 or less: none
};

// Where a JVM keeps its code: addresses, and byte offsets in HotSpot's structures; -1: this JDK has
// no such field. All from vmStructs.
struct CodeLayout {
  static constexpr int kMostHeaps = 8;

  uint64_t cache_low, cache_high;               // addresses of the words with the cache's bounds
  uint64_t interpreter_begin, interpreter_end;  // the interpreter's generated code; end exclusive
  uint64_t heaps[kMostHeaps];                   // CodeHeap*
  int heap_count;
  int memory_low, memory_high, map_low, map_high, log2_segment;  // CodeHeap
  int block_used, block_size;                                    // HeapBlock
  int blob_name, frame_complete, frame_size;                     // CodeBlob
  bool frame_complete_is_short;
  int code_begin, code_end;      // CodeBlob, JDK 11 to 21: addresses
  int code_offset, data_offset;  // CodeBlob, JDK 8 and after 21: offsets in the blob
  // nmethod
  int level, method, original_pc;
  bool level_is_byte;
  int deopt_begin, deopt_offset;  // fields with the deoptimisation handler's address, or offset
  int header_bytes;               // bytes of a CodeBlob up to the end of the last of these fields

  bool InInterpreter(uint64_t pc) const { return pc >= interpreter_begin && pc < interpreter_end; }
};

// kUnable with the name of a missing vmStructs entry; kToolFailed if the JVM has no code heaps yet.
// `memory`: of the JVM whose vmStructs these are.
Result<CodeLayout> ReadCodeLayout(const VmStructs& structs,
                                  const MemoryReader& memory = kOwnMemory);

bool InCodeCache(const CodeLayout& layout, const MemoryReader& memory, uint64_t pc);
FoundCode FindCode(const CodeLayout& layout, const MemoryReader& memory, uint64_t pc);
// FindCode for the JVM of this process, several times faster, as it reads memory without checks:
// code heaps never move during the life of the JVM, and their committed memory stays committed.
// Only names are read through `text`: a blob under construction may not have a valid name yet.
FoundCode FindLiveCode(const CodeLayout& layout, const MemoryReader& text, uint64_t pc);

// Describes the blob at `blob`, which must be the address of a CodeBlob. heap_low and heap_high
// stay 0.
FoundCode DescribeBlob(const CodeLayout& layout, const MemoryReader& memory, uint64_t blob);

// Finds code of the JVM in this process.
class CodeFinder {
 public:
  // Finds nothing: of a JVM without vmStructs.
  CodeFinder();
  static Result<CodeFinder> Open(const VmStructs& structs);

  bool finds_code() const { return layout_.heap_count != 0; }

  FoundCode Find(uint64_t pc) const { return FindLiveCode(layout_, memory_, pc); }
  bool InInterpreter(uint64_t pc) const { return layout_.InInterpreter(pc); }
  bool IsInCache(uint64_t pc) const { return InCodeCache(layout_, memory_, pc); }
  // Method* of an nmethod that is not freed during the call, as one with an activation is not.
  uint64_t MethodOf(const FoundCode& nmethod) const {
    uint64_t method = 0;
    memory_.ReadWord(nmethod.blob + static_cast<uint64_t>(layout_.method), method);
    return method;
  }

 private:
  CodeLayout layout_{};
  PlainMemory memory_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_STRUCTS_CODE_FINDER_H_
