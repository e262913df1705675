// SPDX-License-Identifier: Apache-2.0
// Frames of compiled code by rules: what an earlier walk has found at the same return address.
#include "harness/asgst/walk/java_walk.h"

namespace walkhammer::asgst {

// Puts `frame`, the method that comes after `inlined_` others at this return address, into the
// rules.
void JavaWalk::KeepRule(const JavaFrame& frame, uint64_t blob, uint64_t compile_id,
                        int32_t frame_words, int32_t sender) {
  if (!HasRules() || frame.facts.id == 0 || frame_words <= 0) return;
  const int n = frame.type == FrameType::kNative ? 0 : inlined_;
  start_.caches->rules.Put(
      RuleKey(at_.pc, n), compile_id,
      {blob, frame.method, frame.facts.id, static_cast<uint32_t>(frame.code - blob), frame_words,
       sender, frame.bci < 0 ? PcRule::kNoBci : static_cast<uint16_t>(frame.bci), frame.level,
       static_cast<uint8_t>(frame.type)});
}

// True if the nmethod is still there that `rule` was made from. Plain loads are safe: the memory of
// a code heap stays committed.
bool JavaWalk::Holds(const PcRule& rule, uint64_t compile_id) const {
  const CodeLayout& l = layout_.code;
  uint32_t now = 0;
  uint8_t used = 0;
  return Peek(rule.blob + static_cast<uint64_t>(layout_.compile_id), now) && now == compile_id &&
         Peek(rule.blob - static_cast<uint64_t>(l.block_size - l.block_used), used) && used != 0;
}

// Returns frame `n` of the activation, counted from the innermost, 0, on. False if no rule holds.
bool JavaWalk::EmitByRule(JavaFrame& frame, int n) {
  PcRule rule;
  uint64_t id = 0, method = 0;
  if (!MayHaveRules(at_.pc) || !start_.caches->rules.FindAny(RuleKey(at_.pc, n), id, rule) ||
      (n == 0 ? !Holds(rule, id) : id != rule_id_ || rule.blob != rule_.blob))
    return false;
  // A redefined method's jmethodID leads to the newest version. HotSpot never frees the memory of a
  // jmethodID that is an address (ClassLoaderData::unload).
  if (!layout_.ids_are_numbers && (!Peek(rule.id, method) || method != rule.method)) return false;
  rule_ = rule;
  rule_id_ = id;
  inlined_ = n;
  SetFrame(frame, rule.method, rule.level, rule.bci == PcRule::kNoBci ? -1 : rule.bci,
           rule.blob + rule.begin);
  frame.type = static_cast<FrameType>(rule.type);
  frame.facts.id = rule.id;
  in_rules_ = rule.sender != 0;
  if (in_rules_) {
    scopes_code_ = frame.code;
    scopes_offset_ = static_cast<uint32_t>(at_.pc - frame.code);
  } else {
    Up(rule.frame_words);
  }
  return true;
}

// Returns the next frame of an activation whose newer frames came from rules. Another return
// address may have replaced its rule.
bool JavaWalk::EmitNextByRule(JavaFrame& frame) {
  const int n = inlined_ + 1;
  if (n < kMostInlined && EmitByRule(frame, n)) return true;
  in_rules_ = false;
  const FoundCode code = CodeAt(at_.pc);
  debug_.Open(code, Code());
  EnterScopes(code, at_.pc);
  inlined_ = n;
  if (n < kMostInlined && debug_.At(rule_.sender, scope_)) return EmitScope(frame);
  in_scopes_ = false;
  return End(WalkEnd::kNoMethod);
}

}  // namespace walkhammer::asgst
