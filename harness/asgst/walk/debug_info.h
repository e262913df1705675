// SPDX-License-Identifier: Apache-2.0
// DebugInfo: finds the methods and bytecodes of a pc in compiled code, in the debug information
// that compilers leave beside their code (PcDesc, ScopeDesc). Each byte read is checked.
// Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_ASGST_WALK_DEBUG_INFO_H_
#define WALKHAMMER_HARNESS_ASGST_WALK_DEBUG_INFO_H_

#include <cstdint>

#include "harness/asgst/walk/layout.h"
#include "harness/asgst/walk/shared_cache.h"
#include "harness/jvm/structs/memory.h"

namespace walkhammer::asgst {

// One of the methods that share a compiled frame.
struct Scope {
  uint64_t method = 0;  // Method*
  int32_t bci = -1;     // -1: at the entry of the method
  int32_t sender = 0;   // offset of the caller's scope; 0: this scope is the outermost
};

using ScopeCache = SharedCache<Scope, 13>;

class DebugInfo {
 public:
  // `layout`, `memory` and `known` must outlive the object. `known`: cache of scopes, or null.
  DebugInfo(const WalkLayout& layout, const MemoryReader& memory, ScopeCache* known = nullptr)
      : layout_(layout), memory_(memory), known_(known) {}

  // Selects an nmethod that FindCode found. `code` reads the nmethod itself, and must live as long
  // as scopes of the nmethod are asked for.
  void Open(const FoundCode& nmethod, const MemoryReader& code);
  // Finds the innermost scope of the code before `pc`, a return address. Between two PcDescs, the
  // one with the higher pc applies. False if `pc` has no description, or the description is damaged
  // or cannot be read.
  bool Innermost(uint64_t pc, Scope& scope);
  // Decodes the scope at `offset`, the `sender` of another scope. False if this scope is damaged or
  // cannot be read.
  bool At(int32_t offset, Scope& scope);
  // The nmethod's compile id. False without `known`, or if it cannot be read.
  bool CompileId(uint32_t& id) const {
    id = compile_id_;
    return has_id_;
  }
  // Caches `scope`, which the last call found, unless it came from the cache.
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
  const MemoryReader* code_ = nullptr;    // reads the current nmethod
  const MemoryReader* tables_ = nullptr;  // reads its tables; null: not found yet
  uint64_t blob_ = 0, begin_ = 0, pcs_ = 0, scopes_ = 0, metadata_ = 0;
  uint64_t pc_count_ = 0;
  ScopeCache* known_;
  uint64_t new_key_ = 0;  // key of the scope found last, to be cached; 0: none
  bool has_id_ = false;
  uint32_t compile_id_ = 0;  // unique to each nmethod
};

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_WALK_DEBUG_INFO_H_
