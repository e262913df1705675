// SPDX-License-Identifier: Apache-2.0
// PcRule: what a walk found at a pc in compiled code, a return address or where a thread was
// interrupted, ready to be copied into a frame. CodeFacts: what the code at a pc says.
// Signal-safe: yes.
//
// A rule holds for as long as the nmethod is there that it was made from: a block in use, with the
// same compile id. In product builds no two nmethods at one address have the same id. Rules are
// used for frames of the current thread that were not searched for. Such a frame is live, so its
// nmethod is not flushed and its methods' classes are not unloaded, and nobody need read them
// again. A frame to be deoptimised returns to a handler, which has no rule, but for frames of a
// virtual thread that were in the heap then: their rules say what the code's own tables say. A
// redefined method's jmethodID leads elsewhere; where ids are numbers (JDK 26 and later), such a
// frame keeps the number.
#ifndef WALKHAMMER_HARNESS_ASGST_WALK_PC_RULES_H_
#define WALKHAMMER_HARNESS_ASGST_WALK_PC_RULES_H_

#include <cstdint>

#include "harness/asgst/walk/shared_cache.h"

namespace walkhammer::asgst {

// One method of those that share the frame.
struct PcRule {
  static constexpr uint16_t kNoBci = 65535;  // a method has at most 65535 bytes of code

  uint64_t blob;        // the nmethod
  uint64_t method, id;  // Method*; its jmethodID, not 0
  uint32_t begin;       // bytes from the blob to its first instruction
  int32_t frame_words;  // size of its frame
  int32_t sender;       // where the next, older method is described (Scope::sender); 0: none
  uint16_t bci;
  int8_t level;
  uint8_t type;  // FrameType
};

// Found by RuleKey; tag: the nmethod's compile id. One cache line for each.
inline constexpr int kRuleBits = 15;  // 2 MiB; a rule touches its page
using PcRules = SharedCache<PcRule, kRuleBits>;
static_assert(sizeof(PcRule) == 40);

// False for a word that is not an address of code: it may be the key of an empty place of the
// cache, or of a method that is not the innermost.
inline bool MayHaveRules(uint64_t pc) { return pc - 1 < (uint64_t{1} << 48) - 1; }

// Key of method `n`, counted from the innermost, 0, on, at the return address `pc`; `is_top`: of
// code that was interrupted at `pc`, whose description is another one.
inline uint64_t RuleKey(uint64_t pc, bool is_top, uint64_t n) {
  return pc ^ n << 48 ^ static_cast<uint64_t>(is_top) << 63;
}

// What the instructions around a pc of an nmethod say, whatever the registers are. Holds for as
// long as a PcRule of that nmethod does.
struct CodeFacts {
  uint64_t blob;
  uint32_t begin, end;  // bytes from the blob
  int32_t frame_words, frame_complete;
  uint32_t adds_to_sp;  // CodeRules::adds_to_sp; of native wrappers only
  int8_t level;
  uint8_t shape;       // FrameShape
  uint8_t takes_back;  // CodeRules::takes_back
  bool in_handler;     // in the handler of deoptimisation
};

// Found by an interrupted pc; tag: the nmethod's compile id.
using CodeFactsCache = SharedCache<CodeFacts, 12>;
static_assert(sizeof(CodeFacts) == 32);

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_WALK_PC_RULES_H_
