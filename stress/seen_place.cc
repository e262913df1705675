// SPDX-License-Identifier: Apache-2.0
#include "stress/seen_place.h"

#include <algorithm>

namespace walkhammer::stress {
namespace {

int32_t Distance(uint64_t from, uint64_t to) {
  const auto distance = static_cast<int64_t>(to - from);
  return distance > INT32_MAX || distance <= INT32_MIN ? SeenAddress::kFar
                                                       : static_cast<int32_t>(distance);
}

// Bit i: registers[i] is `value`.
uint32_t HoldersOf(uint64_t value, std::span<const uint64_t> registers) {
  uint32_t holders = 0;
  for (size_t i = 0; i < registers.size() && i < 32; i++)
    if (registers[i] == value) holders |= 1U << i;
  return holders;
}

// Adds where `address` is.
void SeeAddress(uint64_t address, const SteppedPoint& at, SeenAddress& seen) {
  const int32_t from_sp = Distance(at.sp, address), from_fp = Distance(at.fp, address);
  if (seen.steps++ == 0) {
    seen.from_sp = from_sp;
    seen.from_fp = from_fp;
  }
  if (from_sp != seen.from_sp) seen.other_sp++;
  if (from_fp != seen.from_fp) seen.other_fp++;
}

void SeeSender(const SteppedCall& call, const SteppedPoint& at, std::span<const uint64_t> registers,
               uint64_t in_frame, SeenSender& seen) {
  const uint32_t holders = HoldersOf(call.sender, registers);
  seen.registers = seen.steps == 0 ? holders : seen.registers & holders;
  SeeAddress(call.sender, at, seen);
  if (in_frame == call.sender) seen.in_frame++;
}

// The call of the frame that runs; null: it is not known.
const SteppedCall* OwnCall(std::span<const SteppedCall> calls) {
  if (!calls.empty() && calls.back().is_pushed) calls = calls.first(calls.size() - 1);
  const bool is_known = !calls.empty() && calls.back().caller != SteppedCall::Caller::kUnknown;
  return is_known ? &calls.back() : nullptr;
}

}  // namespace

void See(std::span<const SteppedCall> calls, const SteppedPoint& at,
         std::span<const uint64_t> registers, uint64_t in_frame, SeenPlace& seen,
         SeenSender& sender) {
  const SteppedCall* own = OwnCall(calls);
  if (own == nullptr) return;
  const SteppedCall& call = *own;
  if (call.caller == SteppedCall::Caller::kCompiled)
    SeeSender(call, at, registers, in_frame, sender);
  const uint32_t holders = HoldersOf(call.return_pc, registers);
  const bool is_first = seen.steps + seen.in_register == 0;
  seen.registers = is_first ? holders : seen.registers & holders;
  if (call.is_away) {
    seen.in_register++;
    return;
  }
  SeeAddress(call.slot, at, seen);
  if (const int32_t from_sp = Distance(at.sp, call.slot); from_sp != seen.from_sp)
    seen.last_sp = from_sp;
}

void SeeAmbiguity(std::span<const SteppedCall> calls, std::span<const SteppedCall> newest,
                  const SteppedPoint& at, int32_t frame_words, uint64_t stack_end,
                  SeenPlace& seen) {
  constexpr uint64_t kWord = 8;
  const auto is_on_stack = [&](uint64_t word) {
    return word % kWord == 0 && word >= at.sp && word < stack_end;
  };
  const auto is_replaced = [&](const SteppedCall& one) {
    return !one.is_away && is_on_stack(one.slot) &&
           *reinterpret_cast<const uint64_t*>(one.slot) != one.return_pc;
  };
  if (std::any_of(newest.begin(), newest.end(), is_replaced)) seen.replaced++;
  const SteppedCall* call = OwnCall(calls);
  const auto is_copy = [&](uint64_t word) {
    return (word != call->slot || call->is_away) && is_on_stack(word) &&
           *reinterpret_cast<const uint64_t*>(word) == call->return_pc;
  };
  const uint64_t end = at.sp + kWord * static_cast<uint64_t>(int64_t{frame_words});
  if (call == nullptr || is_copy(at.sp) || is_copy(at.sp + kWord) || is_copy(end - kWord) ||
      is_copy(at.fp + kWord))
    seen.ambiguous++;
}

}  // namespace walkhammer::stress
