// SPDX-License-Identifier: Apache-2.0
// DebugInfo: which methods, at which byte codes, a pc in compiled code stands for. Reads what the
// compilers left beside their code (PcDesc, ScopeDesc), each byte of it checked.
// Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_ASGST_WALK_DEBUG_INFO_H_
#define WALKHAMMER_HARNESS_ASGST_WALK_DEBUG_INFO_H_

#include <cstdint>

#include "harness/asgst/walk/layout.h"
#include "harness/asgst/walk/shared_cache.h"
#include "harness/jvm/structs/memory.h"

namespace walkhammer::asgst {

// One method of several that share an activation.
struct Scope {
  uint64_t method = 0;  // Method*
  int32_t bci = -1;     // -1: at its entry
  int32_t sender = 0;   // where the scope of its caller is decoded; 0: it is the outermost
};

using ScopeCache = SharedCache<Scope, 13>;

class DebugInfo {
 public:
  // `memory` and `known` must outlive it. `known`: scopes that were read before, or null.
  DebugInfo(const WalkLayout& layout, const MemoryReader& memory, ScopeCache* known = nullptr)
      : layout_(layout), memory_(memory), known_(known) {}

  // Goes to the descriptions of an nmethod that FindCode found. `code`: for the nmethod itself; as
  // long as what is described is asked for, it must live.
  void Open(const FoundCode& nmethod, const MemoryReader& code);
  // The innermost scope of the code before `pc`, as before a return address; `pc` may lie between
  // two places that are described: then what is described next holds. False if nothing is
  // described, or memory does not hold what it should.
  bool Innermost(uint64_t pc, Scope& scope);
  // The scope at Scope::sender of another one.
  bool At(int32_t offset, Scope& scope);
  // What was found last is worth remembering.
  void Keep(const Scope& scope) {
    if (new_key_ != 0) known_->Put(new_key_, compile_id_, scope);
    new_key_ = 0;
  }

 private:
  bool FindTables();
  bool Known(uint64_t key, Scope& scope);
  bool Search(uint64_t pc, Scope& scope) const;
  bool Decode(int32_t offset, Scope& scope) const;

  const WalkLayout& layout_;
  const MemoryReader& memory_;
  const MemoryReader* code_ = nullptr;    // of the nmethod at hand
  const MemoryReader* tables_ = nullptr;  // what its tables are read through; null: not found yet
  uint64_t blob_ = 0, begin_ = 0, pcs_ = 0, scopes_ = 0, metadata_ = 0;
  uint64_t pc_count_ = 0;
  ScopeCache* known_;
  uint64_t new_key_ = 0;  // of what was found last, if it was not known
  bool has_id_ = false;
  uint32_t compile_id_ = 0;  // no two nmethods have the same
};

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_WALK_DEBUG_INFO_H_
