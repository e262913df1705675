// SPDX-License-Identifier: Apache-2.0
#include "harness/frame_rows/frame_state.h"

#include <algorithm>
#include <iterator>

namespace walkhammer {
namespace {

constexpr int32_t kFrameWord = 8;
constexpr int32_t kFarthest = 1 << 24;  // bytes between two addresses of one frame

}  // namespace

FrameState FrameState::Entered(FrameEntry how, const FrameCode& code, const FrameRules& rules) {
  FrameState state;
  state.reached_ = how != FrameEntry::kNone;
  state.replaces_return_ = code.replaces_return;
  state.replaces_frames_ = code.replaces_frames;
  const FrameValue entry{Kind::kEntry, 0}, sender{Kind::kSender, 0};
  FrameValue& sp = state.registers_[rules.sp];
  FrameValue& fp = state.registers_[rules.fp];
  sp = entry;
  fp = {Kind::kCallerFp, 0};
  state.sender_ = {Kind::kEntry, kFrameWord};
  switch (how) {
    case FrameEntry::kNone:
      break;
    case FrameEntry::kCalledBelow:
      state.registers_[rules.sender] = state.sender_ = sender;
      [[fallthrough]];
    case FrameEntry::kCalled:
      state.Store(entry, {Kind::kReturn, 0});
      break;
    case FrameEntry::kFramed:
    case FrameEntry::kFramedByFp:
      state.Store(entry, {Kind::kReturn, 0});
      state.Store({Kind::kEntry, -kFrameWord}, fp);
      sp.offset = -kFrameWord * std::max(code.frame_words - 1, 0);
      fp = {};
      if (how == FrameEntry::kFramedByFp) fp = {Kind::kEntry, -kFrameWord};
      if (how == FrameEntry::kFramedByFp && code.frame_words == 0) sp = {Kind::kMoved, 0};
      state.had_frame_ = true;
      break;
    case FrameEntry::kInterpreted:
      sp = {Kind::kMoved, 0};
      state.Store({Kind::kFrame, kFrameWord}, {Kind::kReturn, 0});
      state.Store({Kind::kFrame, 0}, fp);
      state.Store({Kind::kFrame, rules.sender_slot}, sender);
      state.sender_ = sender;
      fp = {Kind::kFrame, 0};
      state.had_frame_ = true;
      break;
    case FrameEntry::kThrown:
      state.registers_[rules.thrower] = {Kind::kReturn, 0};
      sp.offset = kFrameWord;
      state.aligned_ = true;
      break;
    case FrameEntry::kPolled:
      state.polled_ = state.aligned_ = true;
      sp.offset = kFrameWord;  // room for the return address is made first
      break;
    case FrameEntry::kReturned:
      sp = {Kind::kMoved, 0};
      fp = state.sender_ = {};
      break;
  }
  return state;
}

FrameValue FrameState::Sum(FrameRegister from, int32_t offset) const {
  FrameValue value = from < kFrameRegisters ? registers_[from] : FrameValue();
  if (offset == 0) return value;
  if (!value.IsAddress()) return {};
  value.offset += offset;
  if (std::abs(value.offset) > kFarthest || std::abs(offset) > kFarthest) return {};
  return value;
}

// What lies below the stack pointer is gone: a signal's handler may run there.
void FrameState::Set(FrameRegister to, FrameValue value, const FrameRules& rules) {
  if (to >= kFrameRegisters) return;
  if (to == rules.sp && !value.IsAddress()) return MoveByUnknown(rules);
  registers_[to] = value;
  if (to != rules.sp) return;
  for (int i = count_; i-- > 0;)
    if (slots_[i].at.HasBaseOf(value) && slots_[i].at.offset < value.offset) DropSlot(i);
  if (value.kind != Kind::kEntry || value.offset < 0) had_frame_ = true;
}

// True if something else than the stack pointer is relative to that move.
bool FrameState::Uses(uint8_t move) const {
  const auto uses = [&](const FrameValue& value) {
    return value.kind == Kind::kMoved && value.move == move;
  };
  return std::any_of(slots_, slots_ + count_,
                     [&](const Slot& slot) { return uses(slot.at) || uses(slot.holds); }) ||
         std::any_of(registers_, registers_ + kFrameRegisters, uses);
}

// If there are too many moves, the first is forgotten, with all that is relative to it.
void FrameState::MoveByUnknown(const FrameRules& rules) {
  registers_[rules.sp] = {};
  if (replaces_frames_ && !reframed_) {
    std::fill(registers_, registers_ + kFrameRegisters, FrameValue());
    sender_ = {};
    count_ = 0;
    reframed_ = true;
  }
  uint8_t move = 0;
  while (move < FrameValue::kMostMoves && Uses(move)) move++;
  if (move == FrameValue::kMostMoves) {
    move = 0;
    for (FrameValue& value : registers_)
      if (value.kind == Kind::kMoved && value.move == move) value = {};
    for (int i = count_; i-- > 0;)
      for (const FrameValue& value : {slots_[i].at, slots_[i].holds})
        if (value.kind == Kind::kMoved && value.move == move) {
          DropSlot(i);
          break;
        }
  }
  registers_[rules.sp] = {Kind::kMoved, 0, move};
  had_frame_ = true;
}

// Frames of compiled code are aligned to 16 bytes.
void FrameState::Align(int32_t bytes, const FrameRules& rules) {
  constexpr int32_t kAligned = 16;
  FrameValue sp = registers_[rules.sp];
  if (!aligned_ || !sp.HasBaseOf(sender_) || bytes > kAligned) return MoveByUnknown(rules);
  const int32_t above = sender_.offset - sp.offset;
  sp.offset = sender_.offset - (above + bytes - 1) / bytes * bytes;
  Set(rules.sp, sp, rules);
}

void FrameState::Forget(FrameValue at, int32_t bytes) {
  for (int i = count_; i-- > 0;)
    if (slots_[i].at.HasBaseOf(at) && slots_[i].at.offset < at.offset + bytes &&
        slots_[i].at.offset + kFrameWord > at.offset)
      DropSlot(i);
}

void FrameState::Store(FrameValue at, FrameValue value) {
  if (!at.IsAddress()) return;
  Forget(at, kFrameWord);
  if (polled_ && value.kind == Kind::kOfThread && at == FrameValue{Kind::kEntry, 0}) {
    polled_ = false;
    value = {Kind::kReturn, 0};
  }
  if (value.kind == Kind::kAny || value.kind == Kind::kOfThread || count_ == kMostSlots) return;
  slots_[count_++] = {at, value};
}

FrameValue FrameState::Load(FrameValue at) const {
  for (int i = 0; i < count_; i++)
    if (slots_[i].at == at)
      return slots_[i].holds.kind == Kind::kSaved ? FrameValue{Kind::kReturn, 0} : slots_[i].holds;
  return {};
}

// On top of the stack, a return address is where the next return finds it. Elsewhere it is saved
// only.
void FrameState::Save(const FrameEffect& effect, const FrameRules& rules) {
  const bool is_register = effect.from < kFrameRegisters;
  if (!is_register && reframed_) return PushNewFrame(rules);
  FrameValue value = is_register ? registers_[effect.from] : FrameValue();
  const FrameValue at = Sum(effect.to, effect.offset);
  if (replaces_return_ && (value.kind == Kind::kAny || value.kind == Kind::kReturn) &&
      Load(at).kind == Kind::kReturn) {
    replaced_ = true;
    return;
  }
  if (aligned_ && effect.to == rules.thread && effect.from == rules.thrower &&
      value.kind == Kind::kReturn) {
    if (!IsOnStack()) registers_[effect.from] = {};
    polled_ = true;
  }
  const bool is_top = effect.to == rules.sp && effect.offset == 0;
  if (value.kind == Kind::kReturn && !is_top) value.kind = Kind::kSaved;
  Store(at, value);
}

// The word on top of the stack is the return address of a frame that is laid out now.
void FrameState::PushNewFrame(const FrameRules& rules) {
  count_ = 0;
  Store(registers_[rules.sp], {Kind::kReturn, 0});
  sender_ = Sum(rules.sp, kFrameWord);
  registers_[rules.fp] = {Kind::kCallerFp, 0};
}

bool FrameState::IsOnStack() const {
  return std::any_of(slots_, slots_ + count_,
                     [](const Slot& slot) { return slot.holds.kind == Kind::kReturn; });
}

void FrameState::Apply(const FrameEffect& effect, const FrameRules& rules) {
  switch (effect.kind) {
    case FrameEffect::Kind::kSet:
      return Set(effect.to, Sum(effect.from, effect.offset), rules);
    case FrameEffect::Kind::kLoad: {
      FrameValue value = Load(Sum(effect.from, effect.offset));
      if (polled_ && effect.from == rules.thread) value = {Kind::kOfThread, 0};
      return Set(effect.to, value, rules);
    }
    case FrameEffect::Kind::kStore:
      return Save(effect, rules);
    case FrameEffect::Kind::kSpoil:
      if (const FrameValue at = Sum(effect.to, effect.offset); at.IsAddress())
        Forget(at, effect.bytes);
      return;
    case FrameEffect::Kind::kAlign:
      return Align(effect.offset, rules);
    case FrameEffect::Kind::kLose:
      return Set(effect.to, {}, rules);
    case FrameEffect::Kind::kSwap: {
      const FrameValue value = registers_[effect.to];
      Set(effect.to, registers_[effect.from], rules);
      return Set(effect.from, value, rules);
    }
  }
}

void FrameState::Call(const FrameRules& rules) {
  for (int i = 0; i < kFrameRegisters; i++)
    if ((rules.lost_in_calls >> i & 1) != 0) registers_[i] = {};
}

bool FrameState::Holds(const Slot& slot) const {
  return std::find(slots_, slots_ + count_, slot) != slots_ + count_;
}

bool FrameState::operator==(const FrameState& other) const {
  return reached_ == other.reached_ && had_frame_ == other.had_frame_ && polled_ == other.polled_ &&
         disagrees_ == other.disagrees_ && sender_ == other.sender_ && aligned_ == other.aligned_ &&
         reframed_ == other.reframed_ && replaced_ == other.replaced_ &&
         std::equal(registers_, registers_ + kFrameRegisters, other.registers_) &&
         std::equal(slots_, slots_ + count_, other.slots_, other.slots_ + other.count_);
}

bool FrameState::Join(const FrameState& from, const FrameRules& rules) {
  if (!from.reached_) return false;
  if (!reached_) {
    *this = from;
    return true;
  }
  const FrameState before = *this;
  FrameRow mine, other, both;
  const bool known = Locate(rules, mine) && from.Locate(rules, other);
  had_frame_ |= from.had_frame_;
  polled_ &= from.polled_;
  aligned_ &= from.aligned_;
  reframed_ |= from.reframed_;
  replaced_ |= from.replaced_;
  disagrees_ |= from.disagrees_;
  if (sender_ != from.sender_) sender_ = {};
  const bool has_moved = registers_[rules.sp] != from.registers_[rules.sp];
  // Frame pointers that are followed differently may still point to frames alike.
  constexpr Kind kOfFrames[] = {Kind::kReturn, Kind::kCallerFp, Kind::kSender};
  bool has[std::size(kOfFrames)] = {};
  int32_t at[std::size(kOfFrames)] = {}, other_at = 0;
  for (size_t i = 0; i < std::size(kOfFrames); i++)
    has[i] = FindIn(rules.fp, kOfFrames[i], at[i]) &&
             from.FindIn(rules.fp, kOfFrames[i], other_at) && at[i] == other_at &&
             Load(Sum(rules.fp, at[i])) == FrameValue{kOfFrames[i]} &&
             from.Load(from.Sum(rules.fp, at[i])) == FrameValue{kOfFrames[i]};
  const bool is_frame = registers_[rules.fp] != from.registers_[rules.fp] && has[0];
  for (int i = 0; i < kFrameRegisters; i++)
    if (i != rules.sp && registers_[i] != from.registers_[i]) registers_[i] = {};
  for (int i = count_; i-- > 0;)
    if (!from.Holds(slots_[i])) DropSlot(i);
  if (has_moved) MoveByUnknown(rules);
  if (is_frame) {
    ForgetFrames();
    registers_[rules.fp] = {Kind::kFrame, 0};
    for (size_t i = 0; i < std::size(kOfFrames); i++)
      if (has[i]) Store({Kind::kFrame, at[i]}, {kOfFrames[i]});
  }
  if (known && !Locate(rules, both)) disagrees_ = true;
  return !(*this == before);
}

void FrameState::ForgetFrames() {
  for (FrameValue& value : registers_)
    if (value.kind == Kind::kFrame) value = {};
  for (int i = count_; i-- > 0;)
    if (slots_[i].at.kind == Kind::kFrame || slots_[i].holds.kind == Kind::kFrame) DropSlot(i);
}

void FrameState::LoseSp(const FrameRules& rules) {
  FrameRow before, after;
  const bool was_known = Locate(rules, before);
  MoveByUnknown(rules);
  if (was_known && !Locate(rules, after)) disagrees_ = true;
}

// Finds the lowest word from the address `from` on that holds a value of `kind`.
bool FrameState::FindFrom(FrameValue from, Kind kind, int32_t& distance) const {
  bool found = false;
  for (int i = 0; i < count_; i++) {
    const Slot& slot = slots_[i];
    if (slot.holds.kind != kind || !slot.at.HasBaseOf(from)) continue;
    const int32_t here = slot.at.offset - from.offset;
    if (found && here >= distance) continue;
    found = true;
    distance = here;
  }
  return found;
}

bool FrameState::Locate(const FrameRules& rules, FrameRow& row) const {
  row.place = FramePlace::kInMemory;
  for (const FrameRegister base : {rules.sp, rules.fp}) {
    row.reg = base;
    if (FindIn(base, Kind::kReturn, row.distance)) return true;
  }
  row.distance = 0;
  row.place = FramePlace::kInRegister;
  for (row.reg = 0; row.reg < kFrameRegisters; row.reg++)
    if (registers_[row.reg].kind == Kind::kReturn) return true;
  row.place = FramePlace::kInMemory;
  for (row.reg = 0; row.reg < kFrameRegisters; row.reg++)
    if (registers_[row.reg].IsAddress() && FindIn(row.reg, Kind::kReturn, row.distance))
      return true;
  if (LocateThroughMemory(rules, row)) return true;
  row.reg = kNoFrameRegister;
  row.distance = 0;
  row.place = polled_ ? FramePlace::kInThread : FramePlace::kUnknown;
  return polled_;
}

// By an address that the frame itself keeps, as a stub does that aligns the stack.
bool FrameState::LocateThroughMemory(const FrameRules& rules, FrameRow& row) const {
  row.place = FramePlace::kThroughMemory;
  for (const FrameRegister base : {rules.sp, rules.fp})
    for (int i = 0; i < count_; i++) {
      const auto& [at, holds] = slots_[i];
      if (!at.HasBaseOf(registers_[base]) || !holds.IsAddress() ||
          !FindFrom(holds, Kind::kReturn, row.beyond))
        continue;
      row.reg = base;
      row.distance = at.offset - registers_[base].offset;
      return true;
    }
  row.beyond = 0;
  return false;
}

// By a register, else by a word of the frame, that holds an address of the caller's base.
FrameSender FrameState::SenderOf(const FrameRules& rules) const {
  if (!sender_.IsAddress()) return {};
  FrameSender found;
  const auto is_by = [&](FrameRegister reg) {
    const bool is_known = sender_.HasBaseOf(registers_[reg]);
    if (is_known)
      found = {FramePlace::kInRegister, reg, sender_.offset - registers_[reg].offset, 0};
    return is_known;
  };
  if (is_by(rules.sp) || is_by(rules.fp)) return found;
  for (FrameRegister reg = 0; reg < kFrameRegisters; reg++)
    if (is_by(reg)) return found;
  for (const FrameRegister reg : {rules.fp, rules.sp})
    for (int i = 0; i < count_; i++) {
      const auto& [at, holds] = slots_[i];
      if (at.HasBaseOf(registers_[reg]) && sender_.HasBaseOf(holds))
        return {FramePlace::kInMemory, reg, at.offset - registers_[reg].offset,
                sender_.offset - holds.offset};
    }
  return {};
}

void FrameState::Tell(const FrameRules& rules, FrameRow& row) const {
  row.had_frame = had_frame_;
  row.replaced = replaced_;
  row.sender = SenderOf(rules);
  if (!Locate(rules, row)) row.why = disagrees_ ? WhyUnknown::kPathsDisagree : WhyUnknown::kLost;
  if (int32_t distance = 0; FindIn(rules.fp, Kind::kReturn, distance)) row.from_fp = distance;
  if (registers_[rules.fp].kind == Kind::kCallerFp) {
    row.fp_place = FramePlace::kInRegister;
    row.fp_reg = rules.fp;
    return;
  }
  for (const FrameRegister base : {rules.sp, rules.fp}) {
    if (!FindIn(base, Kind::kCallerFp, row.fp_distance)) continue;
    row.fp_place = FramePlace::kInMemory;
    row.fp_reg = base;
    return;
  }
}

}  // namespace walkhammer
