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
  start_->caches->rules.Put(
      RuleKey(at_.pc, at_.is_top, n), compile_id,
      {blob, frame.method, frame.facts.id, static_cast<uint32_t>(frame.code - blob), frame_words,
       sender, frame.bci < 0 ? PcRule::kNoBci : static_cast<uint16_t>(frame.bci), frame.level,
       static_cast<uint8_t>(frame.type)});
}

// Returns frame `n` of the activation, counted from the innermost, 0, on. False if no rule holds.
bool JavaWalk::EmitByRule(JavaFrame& frame, int n) {
  PcRule rule;
  uint64_t id = 0;
  if (!FindRule(at_.pc, at_.is_top, n, rule, id)) return false;
  SetFrame(frame, rule.method, rule.level, rule.bci == PcRule::kNoBci ? -1 : rule.bci,
           rule.blob + rule.begin);
  frame.type = static_cast<FrameType>(rule.type);
  frame.facts.id = rule.id;
  GoOnAfter(rule, id, n);
  in_rules_ = rule.sender != 0;
  if (!in_rules_) Up(rule.frame_words);
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
  EnterScopes(code, Described());
  inlined_ = n;
  if (n < kMostInlined && debug_.At(rule_sender_, scope_)) return EmitScope(frame);
  in_scopes_ = false;
  return End(WalkEnd::kNoMethod);
}

}  // namespace walkhammer::asgst
