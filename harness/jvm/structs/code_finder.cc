// SPDX-License-Identifier: Apache-2.0
#include "harness/jvm/structs/code_finder.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace walkhammer {
namespace {

constexpr uint8_t kFreeSegment = 0xff;
constexpr int kMostHops = 4096;                  // each hop skips at most 254 segments
constexpr uint64_t kMostCodeBytes = 1ULL << 31;  // HotSpot's CODE_CACHE_SIZE_LIMIT

// The value at `address`; zero if it cannot be read.
template <typename T>
T At(const MemoryReader& memory, uint64_t address) {
  T value{};
  memory.Read(address, value);
  return value;
}

uint64_t Address(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

template <typename Memory>
bool IsInCache(const CodeLayout& layout, const Memory& memory, uint64_t pc) {
  uint64_t low = 0, high = 0;
  return memory.ReadWord(layout.cache_low, low) && memory.ReadWord(layout.cache_high, high) &&
         pc >= low && pc < high;
}

// The address of the CodeBlob that holds `pc`, or 0. Sets found.heap_low and found.heap_high.
template <typename Memory>
uint64_t BlobOf(const CodeLayout& l, const Memory& memory, uint64_t pc, FoundCode& found) {
  for (int i = 0; i < l.heap_count; i++) {
    uint64_t low = 0, high = 0, map = 0, map_high = 0;
    int32_t log2 = 0;
    if (!memory.ReadWord(l.heaps[i] + l.memory_low, low) ||
        !memory.ReadWord(l.heaps[i] + l.memory_high, high))
      return 0;
    if (pc < low || pc >= high) continue;
    if (!memory.Read(l.heaps[i] + l.log2_segment, log2) ||
        !memory.ReadWord(l.heaps[i] + l.map_low, map) ||
        !memory.ReadWord(l.heaps[i] + l.map_high, map_high))
      return 0;
    uint64_t segment = (pc - low) >> (log2 & 63);
    // A growing heap commits its memory first and its map afterwards.
    if (map + segment >= map_high) return 0;
    // Each entry says how many segments to go back towards the block's start; 0: this is the start.
    for (int hop = 0; hop < kMostHops; hop++) {
      uint8_t back = 0;
      if (!memory.Read(map + segment, back) || back == kFreeSegment || back > segment) return 0;
      if (back == 0) break;
      segment -= back;
    }
    const uint64_t block = low + (segment << (log2 & 63));
    uint8_t used = 0;
    if (!memory.Read(block + l.block_used, used) || used == 0) return 0;
    found.heap_low = low;
    found.heap_high = high;
    return block + static_cast<uint64_t>(l.block_size);
  }
  return 0;
}

bool IsNmethod(const MemoryReader& memory, uint64_t name) {
  uint8_t text[15];
  if (!memory.ReadBytes(name, text, 8)) return false;
  if (std::memcmp(text, "nmethod", 8) == 0) return true;
  return std::memcmp(text, "native n", 8) == 0 && memory.ReadBytes(name + 8, text + 8, 7) &&
         std::memcmp(text + 8, "method", 7) == 0;
}

// Describes the blob at `blob`. The kind stays kNone if the blob cannot be read or makes no sense.
// `memory` reads the code cache's own structures; `is_nmethod` takes the address of a blob's name.
template <typename Memory, typename IsName>
FoundCode Describe(const CodeLayout& l, const Memory& memory, IsName is_nmethod, uint64_t blob,
                   FoundCode found) {
  if (!memory.ReadWord(blob + l.blob_name, found.name) ||
      !memory.Read(blob + l.frame_size, found.frame_words))
    return found;
  if (l.code_begin >= 0) {
    if (!memory.ReadWord(blob + l.code_begin, found.begin) ||
        !memory.ReadWord(blob + l.code_end, found.end))
      return found;
  } else {
    int32_t begin = 0, end = 0;
    if (!memory.Read(blob + l.code_offset, begin) || !memory.Read(blob + l.data_offset, end))
      return found;
    found.begin = blob + begin;
    found.end = blob + end;
  }
  // A blob under construction may hold any content: debug builds paint its memory.
  if (found.begin < blob || found.end < found.begin || found.end - blob > kMostCodeBytes)
    return FoundCode{};
  found.blob = blob;
  found.kind = CodeKind::kStub;
  if (found.name != 0 && is_nmethod(found.name)) {
    found.kind = CodeKind::kNmethod;
    int8_t byte = -1;
    if (!l.level_is_byte)
      memory.Read(blob + l.level, found.level);
    else if (memory.Read(blob + l.level, byte))
      found.level = byte;
  }
  int16_t complete = -1;
  if (l.frame_complete >= 0 && !l.frame_complete_is_short)
    memory.Read(blob + l.frame_complete, found.frame_complete);
  else if (l.frame_complete >= 0 && memory.Read(blob + l.frame_complete, complete))
    found.frame_complete = complete;
  if (found.frame_complete > static_cast<int64_t>(found.end - found.begin)) return FoundCode{};
  return found;
}

template <typename Memory, typename IsName>
FoundCode Find(const CodeLayout& l, const Memory& memory, IsName is_nmethod, uint64_t pc) {
  FoundCode found;
  if (!IsInCache(l, memory, pc)) return found;
  if (l.InInterpreter(pc)) {
    found.kind = CodeKind::kCodelet;
    found.begin = l.interpreter_begin;
    found.end = l.interpreter_end;
    return found;
  }
  const uint64_t blob = BlobOf(l, memory, pc, found);
  // A segment map that is just changing may lead to the end of the committed memory.
  const bool fits =
      blob < found.heap_high && found.heap_high - blob >= static_cast<uint64_t>(l.header_bytes);
  return blob == 0 || !fits ? FoundCode{} : Describe(l, memory, is_nmethod, blob, found);
}

// All fields have at most 8 bytes.
int HeaderBytes(const CodeLayout& l) {
  return 8 + std::max({l.blob_name, l.frame_size, l.frame_complete, l.code_begin, l.code_end,
                       l.code_offset, l.data_offset, l.level, l.method, l.original_pc,
                       l.deopt_begin, l.deopt_offset});
}

// JDK 8 has one heap, whose committed memory is the code cache; later JDKs have a list of heaps.
void ReadHeaps(StructReader& read, const VmStructs& structs, const MemoryReader& memory,
               CodeLayout& l) {
  if (const void* only = structs.Static("CodeCache", "_heap")) {
    const auto heap = At<uint64_t>(memory, Address(only));
    l.heaps[0] = heap;
    l.heap_count = heap == 0 ? 0 : 1;
    l.cache_low = heap + l.memory_low;
    l.cache_high = heap + l.memory_high;
    return;
  }
  l.cache_low = Address(read.NeedStatic("CodeCache", "_low_bound"));
  l.cache_high = Address(read.NeedStatic("CodeCache", "_high_bound"));
  const auto* list = read.NeedStatic("CodeCache", "_heaps");
  const int len = read.Need("GrowableArrayBase", "_len", "GenericGrowableArray");
  const int data = read.Need("GrowableArray<int>", "_data");
  if (!read.Complete().ok()) return;
  const auto heaps = At<uint64_t>(memory, Address(list));
  if (heaps == 0) return;
  const auto first = At<uint64_t>(memory, heaps + data);
  l.heap_count = std::clamp(At<int32_t>(memory, heaps + len), 0, CodeLayout::kMostHeaps);
  for (int i = 0; i < l.heap_count; i++) l.heaps[i] = At<uint64_t>(memory, first + 8 * i);
}

}  // namespace

Result<CodeLayout> ReadCodeLayout(const VmStructs& structs, const MemoryReader& memory) {
  CodeLayout l{};
  StructReader read(structs);
  auto* interpreter = read.NeedStatic("AbstractInterpreter", "_code");
  const int space = read.Need("CodeHeap", "_memory"), map = read.Need("CodeHeap", "_segmap");
  const int low = read.Need("VirtualSpace", "_low"), high = read.Need("VirtualSpace", "_high");
  l.memory_low = space + low;
  l.memory_high = space + high;
  l.map_low = map + low;
  l.map_high = map + high;
  l.log2_segment = read.Need("CodeHeap", "_log2_segment_size");
  l.block_used = read.Need("HeapBlock::Header", "_used");
  l.block_size = static_cast<int>(structs.SizeOf("HeapBlock").value_or(16));
  l.blob_name = read.Need("CodeBlob", "_name");
  l.frame_complete = read.Optional("CodeBlob", "_frame_complete_offset");
  l.frame_complete_is_short = structs.FieldType("CodeBlob", "_frame_complete_offset") == "int16_t";
  l.frame_size = read.Need("CodeBlob", "_frame_size");
  l.code_begin = read.Optional("CodeBlob", "_code_begin");
  l.code_end = read.Optional("CodeBlob", "_code_end");
  l.code_offset = read.Optional("CodeBlob", "_code_offset");
  l.data_offset = read.Optional("CodeBlob", "_data_offset");
  l.level = read.Need("nmethod", "_comp_level");
  l.method = read.Need("nmethod", "_method", "CompiledMethod");
  l.original_pc = read.Need("nmethod", "_orig_pc_offset");
  l.deopt_begin = read.Optional("CompiledMethod", "_deopt_handler_begin");
  l.deopt_offset = -1;
  // JDK 23 to 25; later JDKs; JDK 8
  for (const char* field :
       {"_deopt_handler_offset", "_deopt_handler_entry_offset", "_deoptimize_offset"})
    l.deopt_offset = std::max(l.deopt_offset, read.Optional("nmethod", field));
  l.level_is_byte = structs.FieldType("nmethod", "_comp_level") != "int" &&
                    structs.SizeOf("CompLevel").value_or(4) == 1;
  const int buffer = read.Need("StubQueue", "_stub_buffer");
  const int end = read.Need("StubQueue", "_queue_end");
  // Each JDK has one of two pairs of fields for a blob's code. Without either, report one missing.
  if (l.code_begin < 0 && l.code_offset < 0) read.Need("CodeBlob", "_code_begin");
  l.header_bytes = HeaderBytes(l);
  ReadHeaps(read, structs, memory, l);
  RETURN_IF_ERROR(read.Complete());
  const auto queue = At<uint64_t>(memory, Address(interpreter));
  if (l.heap_count == 0 || queue == 0) return ToolFailed("the JVM has no code heaps yet");
  l.interpreter_begin = At<uint64_t>(memory, queue + buffer);
  l.interpreter_end = l.interpreter_begin + At<int32_t>(memory, queue + end);
  return l;
}

bool InCodeCache(const CodeLayout& layout, const MemoryReader& memory, uint64_t pc) {
  return IsInCache(layout, memory, pc);
}

FoundCode FindCode(const CodeLayout& layout, const MemoryReader& memory, uint64_t pc) {
  return Find(
      layout, memory, [&](uint64_t name) { return IsNmethod(memory, name); }, pc);
}

FoundCode FindLiveCode(const CodeLayout& layout, const MemoryReader& text, uint64_t pc) {
  // All nmethods share the address of their name.
  static std::atomic<uint64_t> known{0};
  const auto is_nmethod = [&](uint64_t name) {
    if (name == known.load(std::memory_order_relaxed)) return true;
    if (!IsNmethod(text, name)) return false;
    known.store(name, std::memory_order_relaxed);
    return true;
  };
  return Find(layout, PlainMemory(), is_nmethod, pc);
}

FoundCode DescribeBlob(const CodeLayout& layout, const MemoryReader& memory, uint64_t blob) {
  return Describe(
      layout, memory, [&](uint64_t name) { return IsNmethod(memory, name); }, blob, FoundCode{});
}

CodeFinder::CodeFinder() {
  static const uint64_t empty_cache = 0;  // its lower and its upper bound
  layout_.cache_low = layout_.cache_high = Address(&empty_cache);
}

Result<CodeFinder> CodeFinder::Open(const VmStructs& structs) {
  ASSIGN_OR_RETURN(auto layout, ReadCodeLayout(structs));
  CodeFinder finder;
  finder.layout_ = layout;
  return finder;
}

}  // namespace walkhammer
