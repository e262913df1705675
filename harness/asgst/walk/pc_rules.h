// SPDX-License-Identifier: Apache-2.0
// PcRule: what a walk found at a return address in compiled code, ready to be copied into a frame.
// Signal-safe: yes.
//
// A rule holds for as long as the nmethod is there that it was made from: a block in use, with the
// same compile id. In product builds no two nmethods at one address have the same id. Rules are
// used for frames of the current thread that were not searched for. Such a frame is live, so its
// nmethod is not flushed and its methods' classes are not unloaded, and nobody need read them
// again. A frame to be deoptimised returns to a handler, which has no rule; redefinition of a class
// deoptimises all compiled code that depends on it.
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
using PcRules = SharedCache<PcRule, 13>;
static_assert(sizeof(PcRule) == 40);

// False for a word that is not an address of code: it may be the key of an empty place of the
// cache, or of a method that is not the innermost.
inline bool MayHaveRules(uint64_t pc) { return pc - 1 < (uint64_t{1} << 48) - 1; }

// Key of method `n` at the return address `pc`, counted from the innermost, 0, on.
inline uint64_t RuleKey(uint64_t pc, int n) { return pc ^ static_cast<uint64_t>(n) << 48; }

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_WALK_PC_RULES_H_
