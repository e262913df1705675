// DebugInfo: which methods, at which byte codes, a pc in compiled code stands for. Reads what the
// compilers left beside their code (PcDesc, ScopeDesc), each byte of it checked.
// Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_REFERENCE_DEBUG_INFO_H_
#define WALKHAMMER_HARNESS_REFERENCE_DEBUG_INFO_H_

#include <cstdint>

#include "harness/jvm/memory.h"
#include "harness/reference/layout.h"

namespace walkhammer {

// One method of several that share an activation.
struct Scope {
  uint64_t method = 0;  // Method*
  int32_t bci = -1;     // -1: at its entry
  int32_t sender = 0;   // where the scope of its caller is decoded; 0: it is the outermost
};

class DebugInfo {
 public:
  // `nmethod`: one that FindCode found.
  DebugInfo(const WalkLayout& layout, const MemoryReader& memory, const FoundCode& nmethod)
      : layout_(layout), memory_(memory), nmethod_(nmethod) {}

  // The innermost scope at `pc`, which may lie between two places that are described: then what is
  // described next holds. False if nothing is described, or memory does not hold what it should.
  bool Innermost(uint64_t pc, Scope& scope) const;
  // The scope at Scope::sender of another one.
  bool At(int32_t offset, Scope& scope) const;

 private:
  struct Tables {
    uint64_t pcs, pcs_end, scopes, metadata;
  };
  bool FindTables(Tables& tables) const;
  // A compressed number at `at`, which moves behind it.
  bool ReadNumber(uint64_t& at, uint32_t& number) const;

  const WalkLayout& layout_;
  const MemoryReader& memory_;
  const FoundCode& nmethod_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_REFERENCE_DEBUG_INFO_H_
