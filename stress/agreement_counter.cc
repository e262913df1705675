// SPDX-License-Identifier: Apache-2.0
#include "stress/agreement_counter.h"

#include <cstring>

#include "harness/guard/arch.h"
#include "harness/oracles/disagreement.h"

namespace walkhammer::stress {

// Word of the sampled stack: as recorded, or beyond the recorded words as it is now. 0: not on the
// stack, or no stack was recorded, as of a thread that runs on.
uint64_t AgreementCounter::StackWord(const Sample& sample, uint64_t address) {
  if (sample.words == 0 || address < sample.registers.sp || address % 8 != 0) return 0;
  const uint64_t word = (address - sample.registers.sp) / 8;
  if (word < sample.words) return sample.stack[word];
  return address < sample.stack_base ? *reinterpret_cast<const uint64_t*>(address) : 0;
}

// Where the thread returns to when it comes back to Java; 0: the thread has not left Java, or the
// address is not known.
uint64_t AgreementCounter::AnchorPc(const Sample& sample) {
  if (sample.anchor_sp == 0 || sample.words == 0) return 0;  // the thread may be anywhere by now
  // Until the JVM has filled in anchor_pc, the return address is on the stack alone:
  // `pc = [anchor_sp - 8]`.
  return sample.anchor_pc != 0 ? sample.anchor_pc : StackWord(sample, sample.anchor_sp - 8);
}

// Method* of the interpreted frame by which the thread has left Java; 0: there is none.
uint64_t AgreementCounter::AnchorMethod(const Sample& sample) const {
  const uint64_t pc = AnchorPc(sample);
  if (pc == 0 || !code_.InInterpreter(pc) || sample.anchor_fp <= sample.anchor_sp) return 0;
  return StackWord(sample, sample.anchor_fp + 8 * static_cast<int64_t>(kInterpreterMethodSlot));
}

// Name of the stub by which the thread has left Java, 64 bytes at most; empty: there is none.
std::string_view AgreementCounter::AnchorStub(const Sample& sample) const {
  constexpr size_t kLongest = 64;
  const FoundCode code = code_.Find(AnchorPc(sample));
  if (code.kind != CodeKind::kStub || code.name == 0) return {};
  const auto* name = reinterpret_cast<const char*>(code.name);
  return {name, strnlen(name, kLongest)};
}

// Compares the answers with the JVM's debug information on the compiled code that has left Java,
// directly or through a stub, and, unless `newest_alone`, on its callers as long as they are
// compiled: `sp' = sp + 8 * frame_words, pc' = [sp' - 8]`.
std::optional<Against> AgreementCounter::AskDebugInfo(const Observation& seen, const Sample& sample,
                                                      bool newest_alone) const {
  uint64_t pc = AnchorPc(sample), sp = sample.anchor_sp;
  FoundCode code = code_.Find(pc);
  const auto leave = [&] {
    sp += 8 * static_cast<uint64_t>(code.frame_words);
    pc = StackWord(sample, sp - 8);
    code = code_.Find(pc);
  };
  if (code.kind == CodeKind::kStub && code.frame_words > 0) leave();
  DebugInfoEvidence evidence(seen);
  while (code.kind == CodeKind::kNmethod) {
    const auto there = described_.Find(code.begin, pc);
    if (!there || !evidence.Add(*there) || newest_alone || code.frame_words <= 0) break;
    leave();
  }
  return evidence.verdict();
}

Disagreement AgreementCounter::Count(const Observation& seen, const Sample& sample, PcRegion region,
                                     const ucontext_t& context, int walker) const {
  const Trace &mine = seen.trace, &other = seen.other.trace;
  if (walker == 0 || seen.other.walker == nullptr || !CanCompare(mine, other, state_.job.depth))
    return Disagreement::kCount;
  const Difference difference = Compare(mine, other);
  const Disagreement kind = difference.kind;
  const int r = static_cast<int>(region), d = static_cast<int>(kind);
  state_.agreement[walker][r][d].fetch_add(1, std::memory_order_relaxed);
  // A walker that calls its frame a guess contradicts nobody.
  if (IsAboutGuess(mine, other, difference)) return kind;
  const auto count = [&](Witness witness, std::optional<Against> against) {
    if (against)
      state_.evidence[walker][r][d][static_cast<int>(witness)][static_cast<int>(*against)]
          .fetch_add(1, std::memory_order_relaxed);
  };
  count(Witness::kShadowStack, ShadowEvidence(seen));
  count(Witness::kThreadStart, ThreadStartEvidence(seen));
  if (region == PcRegion::kLibrary) {
    count(Witness::kCall, CallEvidence(seen, codelets_, AnchorStub(sample)));
    count(Witness::kAnchor, AnchorEvidence(seen, AnchorMethod(sample)));
    count(Witness::kDebugInfo, AskDebugInfo(seen, sample, kind == Disagreement::kNone));
  }
  if (region == PcRegion::kCodelet)
    count(Witness::kByteCode,
          ByteCodeEvidence(seen, codelets_, sample.registers.pc, NextByteCode(context)));
  return kind;
}

}  // namespace walkhammer::stress
