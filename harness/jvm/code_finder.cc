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
  std::string missing;
  auto need = [&](const char* type, const char* field) {
    auto offset = structs.Offset(type, field);
    if (!offset) missing = std::string(type) + "::" + field;
    return offset.value_or(0);
  };
  auto optional = [&](const char* type, const char* field) {
    return structs.Offset(type, field).value_or(-1);
  };
  auto statics = [&](const char* type, const char* field) {
    auto* address = static_cast<uint64_t*>(structs.Static(type, field));
    if (address == nullptr) missing = std::string(type) + "::" + field;
    return address;
  };
  f.low_ = statics("CodeCache", "_low_bound");
  f.high_ = statics("CodeCache", "_high_bound");
  auto* heaps = statics("CodeCache", "_heaps");
  auto* interpreter = statics("AbstractInterpreter", "_code");
  const int len = need("GrowableArrayBase", "_len"), data = need("GrowableArray<int>", "_data");
  const int memory = need("CodeHeap", "_memory"), map = need("CodeHeap", "_segmap");
  const int low = need("VirtualSpace", "_low"), high = need("VirtualSpace", "_high");
  f.memory_low_ = memory + low;
  f.memory_high_ = memory + high;
  f.map_low_ = map + low;
  f.log2_segment_ = need("CodeHeap", "_log2_segment_size");
  f.block_used_ = need("HeapBlock::Header", "_used");
  f.block_size_ = static_cast<int>(structs.SizeOf("HeapBlock").value_or(16));
  f.blob_name_ = need("CodeBlob", "_name");
  f.frame_complete_ = optional("CodeBlob", "_frame_complete_offset");
  f.frame_complete_is_short_ = structs.FieldType("CodeBlob", "_frame_complete_offset") == "int16_t";
  f.code_begin_ = optional("CodeBlob", "_code_begin");
  f.code_end_ = optional("CodeBlob", "_code_end");
  f.code_offset_ = optional("CodeBlob", "_code_offset");
  f.data_offset_ = optional("CodeBlob", "_data_offset");
  f.level_ = need("nmethod", "_comp_level");
  f.level_is_byte_ = structs.FieldType("nmethod", "_comp_level") != "int" &&
                     structs.SizeOf("CompLevel").value_or(4) == 1;
  const int buffer = need("StubQueue", "_stub_buffer"), end = need("StubQueue", "_queue_end");
  if (f.code_begin_ < 0 && f.code_offset_ < 0) missing = "CodeBlob::_code_begin";
  if (!missing.empty())
    return Unable("this libjvm's vmStructs lack " + missing + ", which walkhammer needs");
  if (*heaps == 0 || *interpreter == 0) return ToolFailed("the JVM has no code heaps yet");
  const uint64_t first = Read<uint64_t>(*heaps + data);
  f.heap_count_ = std::min(Read<int32_t>(*heaps + len), kMostHeaps);
  for (int i = 0; i < f.heap_count_; i++) f.heaps_[i].heap = Read<uint64_t>(first + 8 * i);
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
    const uint64_t heap = heaps_[i].heap, low = Read<uint64_t>(heap + memory_low_);
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
