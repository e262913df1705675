// SPDX-License-Identifier: Apache-2.0
// CodeFinder: finds the code blob that contains an address, through the segment maps of the code
// heaps, as HotSpot does. Other threads may change the memory that it reads, so the result may be
// wrong for code that is being installed or freed.
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
  uint64_t begin = 0;           // first instruction; kCodelet: of the whole interpreter
  uint64_t end = 0;             // exclusive
  int32_t level = -1;           // compile level of an nmethod; 0 for a native wrapper
  int32_t frame_complete = -1;  // bytes from begin until the frame is set up; < 0: not known
  uint64_t heap_low = 0, heap_high = 0;  // committed memory of the blob's heap; with a blob only
  int32_t frame_words = 0;  // size of the code's frame with return address; 0 or less: none
};

// Where a JVM keeps its code: addresses, and byte offsets of fields in HotSpot's structures, all
// from vmStructs. Offset -1: this JDK has no such field.
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
  int deopt_begin, deopt_offset;  // fields with the deoptimisation handler's address, or its offset
  int header_bytes;               // bytes of a CodeBlob up to the end of the last of these fields

  bool InInterpreter(uint64_t pc) const { return pc >= interpreter_begin && pc < interpreter_end; }
};

// Fails with kUnable, and names the entry, if vmStructs lack one; with kToolFailed if the JVM has
// no code heaps yet. `memory`: of the JVM whose vmStructs these are.
Result<CodeLayout> ReadCodeLayout(const VmStructs& structs,
                                  const MemoryReader& memory = kOwnMemory);

bool InCodeCache(const CodeLayout& layout, const MemoryReader& memory, uint64_t pc);
// Returns the code that contains `pc`; kNone if there is none, or if it cannot be read.
FoundCode FindCode(const CodeLayout& layout, const MemoryReader& memory, uint64_t pc);
// As FindCode, for the JVM of this process. Several times faster, because it reads memory without
// checks: code heaps never move, and their committed memory stays committed. Only names are read
// through `text`, because a blob under construction may not have a valid name yet.
FoundCode FindLiveCode(const CodeLayout& layout, const MemoryReader& text, uint64_t pc);

// Describes the CodeBlob at `blob`. heap_low and heap_high stay 0. Returns kNone if the blob cannot
// be read or makes no sense.
FoundCode DescribeBlob(const CodeLayout& layout, const MemoryReader& memory, uint64_t blob);

// Finds code of the JVM in this process.
class CodeFinder {
 public:
  // A finder that finds nothing, for a JVM without vmStructs.
  CodeFinder();
  // Fails as ReadCodeLayout does.
  static Result<CodeFinder> Open(const VmStructs& structs);

  bool finds_code() const { return layout_.heap_count != 0; }

  FoundCode Find(uint64_t pc) const { return FindLiveCode(layout_, memory_, pc); }
  bool InInterpreter(uint64_t pc) const { return layout_.InInterpreter(pc); }
  bool IsInCache(uint64_t pc) const { return InCodeCache(layout_, memory_, pc); }
  // Returns the Method* of `nmethod`, which must not be freed during the call. An nmethod with an
  // activation is not freed.
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
