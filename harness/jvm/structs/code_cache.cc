// SPDX-License-Identifier: Apache-2.0
#include "harness/jvm/structs/code_cache.h"

namespace walkhammer {
namespace {

// The code of an InterpreterCodelet starts at the next address of this alignment after the header.
// This is CodeEntryAlignment's smallest value on the supported machines; only used to skip the
// header.
constexpr uint64_t kCodeletAlignment = 32;

}  // namespace

Result<CodeCache> CodeCache::Open(const VmStructs& structs, const MemoryReader& memory) {
  CodeCache c(memory);
  ASSIGN_OR_RETURN(c.layout_, ReadCodeLayout(structs, memory));
  StructReader read(structs);
  c.interpreter_ = reinterpret_cast<uint64_t>(read.NeedStatic("AbstractInterpreter", "_code"));
  c.block_length_ = read.Need("HeapBlock::Header", "_length");
  c.block_length_is_32_bits_ = structs.FieldType("HeapBlock::Header", "_length") == "uint32_t";
  c.nmethod_entry_bci_ = read.Need("nmethod", "_entry_bci");
  c.nmethod_state_ = read.Optional("nmethod", "_state");
  c.method_code_ = read.Need("Method", "_code");
  c.queue_buffer_ = read.Need("StubQueue", "_stub_buffer");
  c.queue_begin_ = read.Need("StubQueue", "_queue_begin");
  c.queue_end_ = read.Need("StubQueue", "_queue_end");
  c.codelet_size_ = read.Need("InterpreterCodelet", "_size");
  c.codelet_description_ = read.Need("InterpreterCodelet", "_description");
  c.codelet_code_ = read.Optional("InterpreterCodelet", "_bytecode");
  c.codelet_header_ = static_cast<int>(structs.SizeOf("InterpreterCodelet").value_or(16));
  RETURN_IF_ERROR(read.Complete());
  return c;
}

uint64_t CodeCache::low() const { return Read<uint64_t>(layout_.cache_low); }
uint64_t CodeCache::high() const { return Read<uint64_t>(layout_.cache_high); }

CodeBlob CodeCache::BlobAt(uint64_t address) const {
  const CodeLayout& l = layout_;
  const FoundCode code = DescribeBlob(l, *memory_, address);
  CodeBlob blob{};
  blob.address = address;
  blob.name = ReadText(*memory_, code.name);
  blob.begin = code.begin;
  blob.end = code.end;
  blob.frame_words = code.frame_words;
  blob.is_nmethod = code.kind == CodeKind::kNmethod;
  if (!blob.is_nmethod) return blob;
  blob.method = Read<uint64_t>(address + l.method);
  blob.comp_level = code.level;
  blob.installed = blob.method != 0 && Read<uint64_t>(blob.method + method_code_) == address;
  blob.state = nmethod_state_ < 0 ? -1 : Read<int8_t>(address + nmethod_state_);
  blob.entry_bci = Read<int32_t>(address + nmethod_entry_bci_);
  blob.original_pc = Read<int32_t>(address + l.original_pc);
  if (l.deopt_begin >= 0)
    blob.deopt_handler = Read<uint64_t>(address + l.deopt_begin);
  else if (l.deopt_offset >= 0)
    blob.deopt_handler = address + Read<int32_t>(address + l.deopt_offset);
  return blob;
}

void CodeCache::ReadHeap(uint64_t heap, std::vector<CodeBlob>& out) const {
  const CodeLayout& l = layout_;
  const uint64_t high = Read<uint64_t>(heap + l.memory_high);
  const int log2_segment = Read<int32_t>(heap + l.log2_segment);
  for (uint64_t block = Read<uint64_t>(heap + l.memory_low); block < high;) {
    uint64_t segments = block_length_is_32_bits_ ? Read<uint32_t>(block + block_length_)
                                                 : Read<uint64_t>(block + block_length_);
    if (segments == 0) break;  // after the last block in use
    if (Read<uint8_t>(block + l.block_used) != 0) {
      CodeBlob blob = BlobAt(block + l.block_size);
      if (blob.begin > block && blob.end > blob.begin && blob.end <= high)
        out.push_back(std::move(blob));
    }
    block += segments << log2_segment;
  }
}

std::vector<CodeBlob> CodeCache::Blobs() const {
  std::vector<CodeBlob> out;
  for (int i = 0; i < layout_.heap_count; i++) ReadHeap(layout_.heaps[i], out);
  return out;
}

std::vector<Codelet> CodeCache::Codelets() const {
  std::vector<Codelet> out;
  const auto queue = Read<uint64_t>(interpreter_);
  const uint64_t buffer = Read<uint64_t>(queue + queue_buffer_);
  const uint64_t end = buffer + Read<int32_t>(queue + queue_end_);
  for (uint64_t at = buffer + Read<int32_t>(queue + queue_begin_); at < end;) {
    const int size = Read<int32_t>(at + codelet_size_);
    if (size <= 0) break;
    const auto description = Read<uint64_t>(at + codelet_description_);
    const uint64_t begin =
        (at + codelet_header_ + kCodeletAlignment - 1) & ~(kCodeletAlignment - 1);
    const int code = codelet_code_ < 0 ? -1 : Read<int32_t>(at + codelet_code_);
    if (description != 0 && begin < at + size)
      out.push_back({begin, at + size, ReadText(*memory_, description), code});
    at += size;
  }
  return out;
}

}  // namespace walkhammer
