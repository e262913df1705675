#include "harness/oracles/evidence.h"

#include "harness/oracles/oracle.h"
#include "harness/oracles/rows.h"

namespace walkhammer {
namespace {

constexpr int kMonitorenter = 194;

bool Contradicts(const Observation& seen) {
  char detail[256];
  return kShadowStackOracle.judge(seen, detail, sizeof detail) != 0;
}

bool Answered(const Trace& trace) {
  return trace.ending == Ending::kReturned && trace.num_frames > 0;
}

int ByteCode(const SampleFacts& facts, const CodeletCodes& codelets, const Frame& frame, int bci) {
  if (bci < 0 || bci >= facts.code_size(frame.method)) return -1;
  return codelets.JavaCode(facts.byte_code(frame.method, bci));
}

// Whether the frame's byte code may be the one that is executed.
bool Holds(const SampleFacts& facts, const CodeletCodes& codelets, const ExecutedCode& executed,
           uint64_t next, const Frame& frame) {
  const int size = facts.code_size(frame.method);
  if (frame.bci < 0 || frame.bci >= size) return false;
  int raw = facts.byte_code(frame.method, frame.bci);
  // A codelet ends with the step to the next byte code, whose own codelet has not begun yet.
  if (static_cast<uint64_t>(raw) == next) return true;
  if (raw == CodeletCodes::kWide && executed.code != CodeletCodes::kWide && frame.bci + 1 < size)
    raw = facts.byte_code(frame.method, frame.bci + 1);
  // The interpreter goes on to the byte code behind it before it locks.
  if (executed.code == kMonitorenter &&
      ByteCode(facts, codelets, frame, frame.bci - 1) == kMonitorenter)
    return true;
  const int code = codelets.JavaCode(raw);
  return code < 0 || code == executed.code || code == executed.also;
}

// Whether a jump of 16 bits leads from the one's byte code to the other's. The interpreter goes to
// the target some instructions before it looks at what stands there.
bool Leads(const SampleFacts& facts, const Frame& from, const Frame& to) {
  if (from.bci < 0 || from.bci + 2 >= facts.code_size(from.method)) return false;
  const int offset =
      facts.byte_code(from.method, from.bci + 1) << 8 | facts.byte_code(from.method, from.bci + 2);
  return from.bci + static_cast<int16_t>(offset) == to.bci;
}

}  // namespace

const char* WitnessWord(Witness witness) {
  constexpr const char* kWords[kWitnesses] = {"shadow-stack", "byte-code", "steps"};
  return kWords[static_cast<int>(witness)];
}

const char* AgainstWord(Against against) {
  constexpr const char* kWords[kAgainsts] = {"neither", "walker", "other", "both"};
  return kWords[static_cast<int>(against)];
}

Against AgainstOf(bool walker, bool other) {
  if (walker) return other ? Against::kBoth : Against::kWalker;
  return other ? Against::kOther : Against::kNeither;
}

std::optional<Against> ShadowEvidence(const Observation& seen) {
  if (seen.sample->shadow == nullptr) return {};
  Observation other = seen;
  other.trace = seen.other.trace;
  return AgainstOf(Contradicts(seen), Contradicts(other));
}

std::optional<Against> ByteCodeEvidence(const Observation& seen, const CodeletCodes& codelets,
                                        uint64_t pc, uint64_t next) {
  const SampleFacts& facts = *seen.sample;
  if (facts.byte_code == nullptr || facts.code_size == nullptr) return {};
  if (!Answered(seen.trace) || !Answered(seen.other.trace)) return {};
  const Frame &mine = seen.trace.frames[0], &others = seen.other.trace.frames[0];
  if (mine.method != others.method || mine.method == nullptr) return {};
  const ExecutedCode executed = codelets.At(pc);
  // A return leaves its frame before its codelet ends: it is the caller's byte code then.
  if (executed.code < 0 || executed.returns) return {};
  const bool mine_holds = Holds(facts, codelets, executed, next, mine);
  const bool others_holds = Holds(facts, codelets, executed, next, others);
  if (executed.jumps && mine_holds == others_holds) return Against::kNeither;
  if (executed.jumps && (mine_holds ? Leads(facts, mine, others) : Leads(facts, others, mine)))
    return Against::kNeither;
  return AgainstOf(!mine_holds, !others_holds);
}

}  // namespace walkhammer
