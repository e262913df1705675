#include "harness/jvm/code_finder.h"

#include <algorithm>
#include <cstring>

namespace walkhammer {
namespace {

constexpr uint8_t kFreeSegment = 0xff;
constexpr int kMostHops = 4096;  // through a segment map that changes under us

template <typename T>
T Read(uint64_t address) {
  return *reinterpret_cast<const volatile T*>(address);
}

}  // namespace

Result<CodeFinder> CodeFinder::Open(const VmStructs& structs) {
  CodeFinder f;
  StructReader read(structs);
  f.low_ = read.NeedStatic("CodeCache", "_low_bound");
  f.high_ = read.NeedStatic("CodeCache", "_high_bound");
  auto* heaps = read.NeedStatic("CodeCache", "_heaps");
  auto* interpreter = read.NeedStatic("AbstractInterpreter", "_code");
  const int len = read.Need("GrowableArrayBase", "_len"),
            data = read.Need("GrowableArray<int>", "_data");
  const int memory = read.Need("CodeHeap", "_memory"), map = read.Need("CodeHeap", "_segmap");
  const int low = read.Need("VirtualSpace", "_low"), high = read.Need("VirtualSpace", "_high");
  f.memory_low_ = memory + low;
  f.memory_high_ = memory + high;
  f.map_low_ = map + low;
  f.log2_segment_ = read.Need("CodeHeap", "_log2_segment_size");
  f.block_used_ = read.Need("HeapBlock::Header", "_used");
  f.block_size_ = static_cast<int>(structs.SizeOf("HeapBlock").value_or(16));
  f.blob_name_ = read.Need("CodeBlob", "_name");
  f.frame_complete_ = read.Optional("CodeBlob", "_frame_complete_offset");
  f.frame_complete_is_short_ = structs.FieldType("CodeBlob", "_frame_complete_offset") == "int16_t";
  f.code_begin_ = read.Optional("CodeBlob", "_code_begin");
  f.code_end_ = read.Optional("CodeBlob", "_code_end");
  f.code_offset_ = read.Optional("CodeBlob", "_code_offset");
  f.data_offset_ = read.Optional("CodeBlob", "_data_offset");
  f.level_ = read.Need("nmethod", "_comp_level");
  f.level_is_byte_ = structs.FieldType("nmethod", "_comp_level") != "int" &&
                     structs.SizeOf("CompLevel").value_or(4) == 1;
  const int buffer = read.Need("StubQueue", "_stub_buffer"),
            end = read.Need("StubQueue", "_queue_end");
  // One of the two ways in which JDKs tell where a blob's code is.
  if (f.code_begin_ < 0 && f.code_offset_ < 0) read.Need("CodeBlob", "_code_begin");
  const Status complete = read.Complete();
  if (!complete.ok()) return complete.failure();
  if (*heaps == 0 || *interpreter == 0) return ToolFailed("the JVM has no code heaps yet");
  const uint64_t first = Read<uint64_t>(*heaps + data);
  f.heap_count_ = std::min(Read<int32_t>(*heaps + len), kMostHeaps);
  for (int i = 0; i < f.heap_count_; i++) f.heaps_[i] = Read<uint64_t>(first + 8 * i);
  f.interpreter_begin_ = Read<uint64_t>(*interpreter + buffer);
  f.interpreter_end_ = f.interpreter_begin_ + Read<int32_t>(*interpreter + end);
  return f;
}

FoundCode CodeFinder::Find(uint64_t pc) const {
  FoundCode found;
  if (!InCodeCache(pc)) return found;
  if (pc >= interpreter_begin_ && pc < interpreter_end_) {
    found.kind = CodeKind::kCodelet;
    found.begin = interpreter_begin_;
    found.end = interpreter_end_;
    return found;
  }
  for (int i = 0; i < heap_count_; i++) {
    const uint64_t heap = heaps_[i], low = Read<uint64_t>(heap + memory_low_);
    if (pc < low || pc >= Read<uint64_t>(heap + memory_high_)) continue;
    const int log2 = Read<int32_t>(heap + log2_segment_);
    const uint64_t map = Read<uint64_t>(heap + map_low_);
    uint64_t segment = (pc - low) >> log2;
    // Each entry tells how far back its block's start may be.
    for (int hop = 0; hop < kMostHops; hop++) {
      const auto back = Read<uint8_t>(map + segment);
      if (back == kFreeSegment || back > segment) return found;
      if (back == 0) break;
      segment -= back;
    }
    const uint64_t block = low + (segment << log2);
    if (Read<uint8_t>(block + block_used_) == 0) return found;
    found.blob = block + block_size_;
    break;
  }
  if (found.blob == 0) return found;
  const auto* name = Read<const char*>(found.blob + blob_name_);
  if (code_begin_ >= 0) {
    found.begin = Read<uint64_t>(found.blob + code_begin_);
    found.end = Read<uint64_t>(found.blob + code_end_);
  } else {
    found.begin = found.blob + Read<int32_t>(found.blob + code_offset_);
    found.end = found.blob + Read<int32_t>(found.blob + data_offset_);
  }
  found.kind = CodeKind::kStub;
  if (name != nullptr &&
      (std::strcmp(name, "nmethod") == 0 || std::strcmp(name, "native nmethod") == 0)) {
    found.kind = CodeKind::kNmethod;
    found.level =
        level_is_byte_ ? Read<int8_t>(found.blob + level_) : Read<int32_t>(found.blob + level_);
  }
  if (frame_complete_ >= 0)
    found.frame_complete = frame_complete_is_short_ ? Read<int16_t>(found.blob + frame_complete_)
                                                    : Read<int32_t>(found.blob + frame_complete_);
  return found;
}

}  // namespace walkhammer
