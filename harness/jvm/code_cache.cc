#include "harness/jvm/code_cache.h"

namespace walkhammer {
namespace {

// InterpreterCodelet code starts at this alignment behind its header: CodeEntryAlignment's
// smallest value over the supported machines; only used to skip the header.
constexpr uint64_t kCodeletAlignment = 32;

template <typename T>
T Read(uint64_t address) {
  return *reinterpret_cast<const T*>(address);
}

}  // namespace

Result<CodeCache> CodeCache::Open(const VmStructs& structs) {
  CodeCache c;
  StructReader read(structs);
  c.low_ = read.NeedStatic("CodeCache", "_low_bound");
  c.high_ = read.NeedStatic("CodeCache", "_high_bound");
  c.heaps_ = read.NeedStatic("CodeCache", "_heaps");
  c.interpreter_ = read.NeedStatic("AbstractInterpreter", "_code");
  c.array_len_ = read.Need("GrowableArrayBase", "_len");
  c.array_data_ = read.Need("GrowableArray<int>", "_data");
  c.heap_memory_ = read.Need("CodeHeap", "_memory");
  c.heap_log2_segment_ = read.Need("CodeHeap", "_log2_segment_size");
  c.space_low_ = read.Need("VirtualSpace", "_low");
  c.space_high_ = read.Need("VirtualSpace", "_high");
  c.block_length_ = read.Need("HeapBlock::Header", "_length");
  c.block_used_ = read.Need("HeapBlock::Header", "_used");
  c.block_length_is_32_bits_ = structs.FieldType("HeapBlock::Header", "_length") == "uint32_t";
  c.block_size_ = static_cast<int>(structs.SizeOf("HeapBlock").value_or(16));
  c.blob_name_ = read.Need("CodeBlob", "_name");
  c.blob_frame_size_ = read.Need("CodeBlob", "_frame_size");
  c.blob_kind_ = read.Optional("CodeBlob", "_kind");
  c.nmethod_kind_ = structs.Constant("CodeBlobKind::Nmethod").value_or(-1);
  c.blob_code_begin_ = read.Optional("CodeBlob", "_code_begin");
  c.blob_code_end_ = read.Optional("CodeBlob", "_code_end");
  c.blob_code_offset_ = read.Optional("CodeBlob", "_code_offset");
  c.blob_data_offset_ = read.Optional("CodeBlob", "_data_offset");
  c.nmethod_method_ = read.Optional("nmethod", "_method");
  if (c.nmethod_method_ < 0) c.nmethod_method_ = read.Need("CompiledMethod", "_method");
  c.nmethod_level_ = read.Need("nmethod", "_comp_level");
  c.level_is_byte_ = structs.FieldType("nmethod", "_comp_level") != "int" &&
                     structs.SizeOf("CompLevel").value_or(4) == 1;
  c.nmethod_entry_bci_ = read.Need("nmethod", "_entry_bci");
  c.deopt_begin_ = read.Optional("CompiledMethod", "_deopt_handler_begin");
  c.deopt_offset_ = read.Optional("nmethod", "_deopt_handler_offset");
  if (c.deopt_offset_ < 0)
    c.deopt_offset_ = read.Optional("nmethod", "_deopt_handler_entry_offset");
  c.original_pc_ = read.Optional("nmethod", "_orig_pc_offset");
  c.method_code_ = read.Need("Method", "_code");
  c.queue_buffer_ = read.Need("StubQueue", "_stub_buffer");
  c.queue_begin_ = read.Need("StubQueue", "_queue_begin");
  c.queue_end_ = read.Need("StubQueue", "_queue_end");
  c.codelet_size_ = read.Need("InterpreterCodelet", "_size");
  c.codelet_description_ = read.Need("InterpreterCodelet", "_description");
  c.codelet_header_ = static_cast<int>(structs.SizeOf("InterpreterCodelet").value_or(16));
  // One of the two ways in which JDKs tell where a blob's code is.
  if (c.blob_code_begin_ < 0 && c.blob_code_offset_ < 0) read.Need("CodeBlob", "_code_begin");
  const Status complete = read.Complete();
  if (!complete.ok()) return complete.failure();
  return c;
}

uint64_t CodeCache::low() const { return *low_; }
uint64_t CodeCache::high() const { return *high_; }

CodeBlob CodeCache::BlobAt(uint64_t address) const {
  CodeBlob blob{};
  blob.address = address;
  const char* name = Read<const char*>(address + blob_name_);
  blob.name = name == nullptr ? "" : name;
  if (blob_code_begin_ >= 0) {
    blob.begin = Read<uint64_t>(address + blob_code_begin_);
    blob.end = Read<uint64_t>(address + blob_code_end_);
  } else {
    blob.begin = address + Read<int32_t>(address + blob_code_offset_);
    blob.end = address + Read<int32_t>(address + blob_data_offset_);
  }
  blob.frame_words = Read<int32_t>(address + blob_frame_size_);
  blob.is_nmethod = blob_kind_ >= 0 ? Read<uint8_t>(address + blob_kind_) == nmethod_kind_
                                    : blob.name == "nmethod" || blob.name == "native nmethod";
  if (!blob.is_nmethod) return blob;
  blob.method = Read<uint64_t>(address + nmethod_method_);
  blob.comp_level = level_is_byte_ ? Read<int8_t>(address + nmethod_level_)
                                   : Read<int32_t>(address + nmethod_level_);
  blob.installed = blob.method != 0 && Read<uint64_t>(blob.method + method_code_) == address;
  blob.entry_bci = Read<int32_t>(address + nmethod_entry_bci_);
  if (original_pc_ >= 0) blob.original_pc = Read<int32_t>(address + original_pc_);
  if (deopt_begin_ >= 0)
    blob.deopt_handler = Read<uint64_t>(address + deopt_begin_);
  else if (deopt_offset_ >= 0)
    blob.deopt_handler = address + Read<int32_t>(address + deopt_offset_);
  return blob;
}

void CodeCache::ReadHeap(uint64_t heap, std::vector<CodeBlob>& out) const {
  const uint64_t memory = heap + heap_memory_;
  const uint64_t high = Read<uint64_t>(memory + space_high_);
  const int log2_segment = Read<int32_t>(heap + heap_log2_segment_);
  for (uint64_t block = Read<uint64_t>(memory + space_low_); block < high;) {
    uint64_t segments = block_length_is_32_bits_ ? Read<uint32_t>(block + block_length_)
                                                 : Read<uint64_t>(block + block_length_);
    if (segments == 0) break;  // beyond the last block in use
    if (Read<uint8_t>(block + block_used_) != 0) {
      CodeBlob blob = BlobAt(block + block_size_);
      if (blob.begin > block && blob.end > blob.begin && blob.end <= high)
        out.push_back(std::move(blob));
    }
    block += segments << log2_segment;
  }
}

std::vector<CodeBlob> CodeCache::Blobs() const {
  std::vector<CodeBlob> out;
  const uint64_t array = *heaps_;
  const int count = Read<int32_t>(array + array_len_);
  const uint64_t data = Read<uint64_t>(array + array_data_);
  for (int i = 0; i < count; i++) ReadHeap(Read<uint64_t>(data + 8 * i), out);
  return out;
}

std::vector<Codelet> CodeCache::Codelets() const {
  std::vector<Codelet> out;
  const uint64_t queue = *interpreter_;
  const uint64_t buffer = Read<uint64_t>(queue + queue_buffer_);
  const uint64_t end = buffer + Read<int32_t>(queue + queue_end_);
  for (uint64_t at = buffer + Read<int32_t>(queue + queue_begin_); at < end;) {
    const int size = Read<int32_t>(at + codelet_size_);
    if (size <= 0) break;
    const char* description = Read<const char*>(at + codelet_description_);
    const uint64_t begin =
        (at + codelet_header_ + kCodeletAlignment - 1) & ~(kCodeletAlignment - 1);
    if (description != nullptr && begin < at + size) out.push_back({begin, at + size, description});
    at += size;
  }
  return out;
}

}  // namespace walkhammer
