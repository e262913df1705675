// SPDX-License-Identifier: Apache-2.0
// CodeCache: lists the blobs of the code cache and the interpreter's codelets, through vmStructs.
// Use it only while no thread of the JVM compiles or unloads code. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_JVM_STRUCTS_CODE_CACHE_H_
#define WALKHAMMER_HARNESS_JVM_STRUCTS_CODE_CACHE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/jvm/structs/code_finder.h"
#include "harness/jvm/structs/codelet_codes.h"
#include "harness/jvm/structs/vm_structs.h"

namespace walkhammer {

struct CodeBlob {
  uint64_t address;     // of the CodeBlob object
  uint64_t begin, end;  // instructions
  std::string name;     // CodeBlob::_name: "nmethod", "I2C/C2I adapters", "RuntimeStub - ..."
  int frame_words;      // size of the code's frame with return address; 0 or less: none
  bool is_nmethod;
  // With is_nmethod only:
  uint64_t method;         // Method*
  int comp_level;          // nmethod::_comp_level: 0 for native wrappers, 1..3 C1, 4 C2
  bool installed;          // Method::_code points to this nmethod: new calls enter it
  int state;               // nmethod::_state, whose numbers differ by JDK; -1: not known
  int entry_bci;           // -1 unless compiled for on-stack replacement
  uint64_t deopt_handler;  // replaces the return address into a deoptimised activation; 0: unknown
  int original_pc;         // bytes from sp to the slot with the replaced address; 0: none

  // True for a zombie: an invalid nmethod that is on no stack, and that the sweeper will free.
  // `feature`: the JDK's feature version. False for JDKs before 11, and since 20, which has none.
  bool IsZombie(int feature) const {
    return is_nmethod && feature >= 11 && feature < 20 && state == (feature < 17 ? 3 : 4);
  }
};

class CodeCache {
 public:
  // Fails with kUnable if vmStructs lack an entry, with kToolFailed if the JVM has no code heaps
  // yet. `memory`: of the JVM whose vmStructs these are; must outlive the object.
  static Result<CodeCache> Open(const VmStructs& structs, const MemoryReader& memory = kOwnMemory);

  uint64_t low() const;   // CodeCache::_low_bound; JDK 8: start of the code heap's committed memory
  uint64_t high() const;  // CodeCache::_high_bound; JDK 8: end of that memory; exclusive
  std::vector<CodeBlob> Blobs() const;
  // Returns the blob whose CodeBlob object is at `address`, such as the value of a Method::_code.
  // Fields that cannot be read are 0 or empty.
  CodeBlob BlobAt(uint64_t address) const;
  std::vector<Codelet> Codelets() const;

 private:
  explicit CodeCache(const MemoryReader& memory) : memory_(&memory) {}
  // The value at `address`; zero if it cannot be read.
  template <typename T>
  T Read(uint64_t address) const {
    T value{};
    memory_->Read(address, value);
    return value;
  }
  void ReadHeap(uint64_t heap, std::vector<CodeBlob>& out) const;

  const MemoryReader* memory_;
  CodeLayout layout_{};
  uint64_t interpreter_ = 0;  // address of AbstractInterpreter::_code
  int block_length_ = 0;      // HeapBlock::Header::_length
  bool block_length_is_32_bits_ = false;
  int nmethod_entry_bci_ = 0, nmethod_state_ = -1, method_code_ = 0;
  int queue_buffer_ = 0, queue_begin_ = 0, queue_end_ = 0;
  int codelet_size_ = 0, codelet_description_ = 0, codelet_code_ = -1, codelet_header_ = 0;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_STRUCTS_CODE_CACHE_H_
