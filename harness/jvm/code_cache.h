// What the code cache and the interpreter hold now, read through vmStructs.
// Call it while nothing compiles or unloads. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_JVM_CODE_CACHE_H_
#define WALKHAMMER_HARNESS_JVM_CODE_CACHE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/jvm/vm_structs.h"

namespace walkhammer {

struct CodeBlob {
  uint64_t address;     // of the CodeBlob object
  uint64_t begin, end;  // instructions
  std::string name;     // CodeBlob::_name: "nmethod", "I2C/C2I adapters", "RuntimeStub - ..."
  int frame_words;      // size of its frame, return address included; 0 or less: none
  bool is_nmethod;
  // With is_nmethod only:
  uint64_t method;         // Method*
  int comp_level;          // nmethod::_comp_level: 0 for native wrappers, 1..3 C1, 4 C2
  bool installed;          // it is what Method::_code names: new calls enter it
  int entry_bci;           // -1 unless compiled for on-stack replacement
  uint64_t deopt_handler;  // where a return address of a deoptimised activation points
  int original_pc;         // bytes above sp of the slot that holds its pc then; 0: none
};

struct Codelet {
  uint64_t begin, end;
  std::string description;  // InterpreterCodelet::_description
};

class CodeCache {
 public:
  // Fails when a vmStructs entry is missing.
  static Result<CodeCache> Open(const VmStructs& structs);

  uint64_t low() const;   // CodeCache::_low_bound
  uint64_t high() const;  // CodeCache::_high_bound, exclusive
  std::vector<CodeBlob> Blobs() const;
  // The blob whose object lies at `address`, e.g. what Method::_code names.
  CodeBlob BlobAt(uint64_t address) const;
  std::vector<Codelet> Codelets() const;

 private:
  void ReadHeap(uint64_t heap, std::vector<CodeBlob>& out) const;

  uint64_t* low_ = nullptr;
  uint64_t* high_ = nullptr;
  uint64_t* heaps_ = nullptr;        // GrowableArray<CodeHeap*>*
  uint64_t* interpreter_ = nullptr;  // AbstractInterpreter::_code
  int array_len_ = 0, array_data_ = 0;
  int heap_memory_ = 0, heap_log2_segment_ = 0;
  int space_low_ = 0, space_high_ = 0;
  int block_length_ = 0, block_used_ = 0, block_size_ = 0;
  bool block_length_is_32_bits_ = false;
  int blob_name_ = 0, blob_kind_ = -1, nmethod_kind_ = 0;
  int blob_code_begin_ = -1, blob_code_end_ = -1;      // JDK 17: addresses in the blob
  int blob_code_offset_ = -1, blob_data_offset_ = -1;  // later: offsets
  int blob_frame_size_ = 0;
  int nmethod_method_ = 0, nmethod_level_ = 0, nmethod_entry_bci_ = 0;
  bool level_is_byte_ = false;
  int deopt_begin_ = -1, deopt_offset_ = -1, original_pc_ = -1;
  int method_code_ = 0;
  int queue_buffer_ = 0, queue_begin_ = 0, queue_end_ = 0;
  int codelet_size_ = 0, codelet_description_ = 0, codelet_header_ = 0;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_CODE_CACHE_H_
