// CodeFinder: which code blob an address lies in, found through the code heaps' segment maps as
// HotSpot itself does it. Reads memory that other threads change: an answer about code that is
// being freed may be wrong, and is for counts and names, never for decisions that must be right.
// Signal-safe: Find and RegionOf yes; Open no.
#ifndef WALKHAMMER_HARNESS_JVM_CODE_FINDER_H_
#define WALKHAMMER_HARNESS_JVM_CODE_FINDER_H_

#include <cstdint>

#include "harness/base/result.h"
#include "harness/jvm/vm_structs.h"

namespace walkhammer {

enum class CodeKind : uint8_t { kNone, kNmethod, kCodelet, kStub };

struct FoundCode {
  CodeKind kind = CodeKind::kNone;
  uint64_t blob = 0;            // the CodeBlob object, 0 for kNone
  uint64_t begin = 0;           // first instruction
  uint64_t end = 0;             // exclusive
  int32_t level = -1;           // compile level of an nmethod, 0 for a native wrapper
  int32_t frame_complete = -1;  // bytes from begin until the frame is set up; < 0: never said
};

class CodeFinder {
 public:
  // Fails when a vmStructs entry is missing, or the code heaps are not made yet.
  static Result<CodeFinder> Open(const VmStructs& structs);

  FoundCode Find(uint64_t pc) const;
  bool InCodeCache(uint64_t pc) const { return pc >= *low_ && pc < *high_; }
  bool InInterpreter(uint64_t pc) const {
    return pc >= interpreter_begin_ && pc < interpreter_end_;
  }

 private:
  static constexpr int kMostHeaps = 8;

  uint64_t* low_ = nullptr;   // CodeCache::_low_bound
  uint64_t* high_ = nullptr;  // CodeCache::_high_bound
  uint64_t interpreter_begin_ = 0, interpreter_end_ = 0;
  uint64_t heaps_[kMostHeaps] = {};  // CodeHeap*
  int heap_count_ = 0;
  int memory_low_ = 0, memory_high_ = 0, map_low_ = 0, log2_segment_ = 0;  // in CodeHeap
  int block_used_ = 0, block_size_ = 0;                                    // HeapBlock
  int blob_name_ = 0, frame_complete_ = -1;
  bool frame_complete_is_short_ = false;
  int code_begin_ = -1, code_end_ = -1;      // JDK 17: addresses in the blob
  int code_offset_ = -1, data_offset_ = -1;  // later: offsets
  int level_ = 0;
  bool level_is_byte_ = false;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_CODE_FINDER_H_
