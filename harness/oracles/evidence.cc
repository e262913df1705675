// SPDX-License-Identifier: Apache-2.0
#include "harness/oracles/evidence.h"

#include <algorithm>

#include "harness/base/hash.h"
#include "harness/oracles/oracle.h"
#include "harness/oracles/rows.h"

namespace walkhammer {
namespace {

constexpr int kFirstIf = 153, kJsr = 168, kInvokevirtual = 182, kInvokedynamic = 186,
              kMonitorenter = 194, kIfnull = 198, kIfnonnull = 199;

bool Contradicts(const Oracle& oracle, const Observation& seen) {
  char detail[256];
  return oracle.judge(seen, detail, sizeof detail) != 0;
}

Against AgainstBy(const Oracle& oracle, const Observation& seen) {
  Observation other = seen;
  other.trace = seen.other.trace;
  return AgainstOf(Contradicts(oracle, seen), Contradicts(oracle, other));
}

bool Answered(const Trace& trace) {
  return trace.ending == Ending::kReturned && trace.num_frames > 0;
}

// True if the frames from `first` on are those that the JVM describes. nullopt: a frame of them has
// no method, or is beyond the walk's depth.
std::optional<bool> IsDescribed(const Trace& trace, int first, const CodeDescription& there,
                                int depth) {
  const int end = std::min(trace.num_frames, first + there.callers + 1);
  for (int i = first; i < end; i++)
    if (trace.frames[i].method == nullptr) return {};
  if (end < first + there.callers + 1) {
    if (trace.num_frames >= depth) return {};
    return false;
  }
  uint64_t inlined = 0;
  for (int i = first + 1; i < end; i++)
    inlined = MixFrame(inlined, trace.frames[i].method, trace.frames[i].bci);
  return trace.frames[first].method == there.method &&
         trace.frames[first].bci == std::max(there.bci, 0) && inlined == there.inlined;
}

int ByteCode(const SampleFacts& facts, const CodeletCodes& codelets, const Frame& frame, int bci) {
  if (bci < 0 || bci >= facts.code_size(frame.method)) return -1;
  return codelets.JavaCode(facts.byte_code(frame.method, bci));
}

// True if the newest frame is at a call. nullopt: unknown, as for a native method or for one whose
// bytecode has been redefined.
std::optional<bool> Calls(const Observation& seen, const CodeletCodes& codelets,
                          const Trace& trace) {
  const SampleFacts& facts = *seen.sample;
  const Frame& frame = trace.frames[0];
  const MethodEntry* method = seen.methods->Find(frame.method);
  if (method == nullptr || method->is_native || method->unloaded.load(std::memory_order_relaxed) ||
      method->code_size != facts.code_size(frame.method))
    return {};
  const int code = ByteCode(facts, codelets, frame, frame.bci);
  return code >= kInvokevirtual && code <= kInvokedynamic;
}

// JDK 17: resolve_static_call; JDK 25: Shared Runtime resolve_static_call_blob.
bool ResolvesCalls(std::string_view stub) {
  return stub.find("resolve_") != stub.npos || stub.find("ic_miss") != stub.npos;
}

// True if the frame's bytecode may be the one that the interpreter executes.
bool Holds(const SampleFacts& facts, const CodeletCodes& codelets, const ExecutedCode& executed,
           uint64_t next, const Frame& frame) {
  const int size = facts.code_size(frame.method);
  if (frame.bci < 0 || frame.bci >= size) return false;
  int raw = facts.byte_code(frame.method, frame.bci);
  // At its end, a codelet moves on to the next bytecode; that one's codelet has not begun yet.
  if (static_cast<uint64_t>(raw) == next) return true;
  if (raw == CodeletCodes::kWide && executed.code != CodeletCodes::kWide && frame.bci + 1 < size)
    raw = facts.byte_code(frame.method, frame.bci + 1);
  // At a monitorenter, the interpreter moves on to the next bytecode before it locks.
  if (executed.code == kMonitorenter &&
      ByteCode(facts, codelets, frame, frame.bci - 1) == kMonitorenter)
    return true;
  const int code = codelets.JavaCode(raw);
  return code < 0 || code == executed.code || code == executed.also;
}

// True if a jump of this method by `executed` may lead to the bytecode of `to`. The interpreter
// moves on to the target some instructions before it reads the bytecode there. Which jump it comes
// from is then unknown: the bytecode that was saved may be that of another one.
bool MayLeadTo(const SampleFacts& facts, const CodeletCodes& codelets, const ExecutedCode& executed,
               const Frame& to) {
  constexpr int kMostCode = 4096;  // bytes to look at in a signal handler
  const bool has_offset = (executed.code >= kFirstIf && executed.code <= kJsr) ||
                          executed.code == kIfnull || executed.code == kIfnonnull;
  const int size = facts.code_size(to.method);
  if (!has_offset || size > kMostCode) return true;
  for (int at = 0; at + 2 < size; at++) {
    if (codelets.JavaCode(facts.byte_code(to.method, at)) != executed.code) continue;
    const int offset = facts.byte_code(to.method, at + 1) << 8 | facts.byte_code(to.method, at + 2);
    if (at + static_cast<int16_t>(offset) == to.bci) return true;
  }
  return false;
}

}  // namespace

const char* WitnessWord(Witness witness) {
  constexpr const char* kWords[kWitnesses] = {
      "shadow-stack", "byte-code", "steps",      "thread-start",
      "call",         "anchor",    "debug-info", "stepped-shadow-stack"};
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
  return AgainstBy(kShadowStackOracle, seen);
}

std::optional<Against> ByteCodeEvidence(const Observation& seen, const CodeletCodes& codelets,
                                        uint64_t pc, uint64_t next) {
  const SampleFacts& facts = *seen.sample;
  if (facts.byte_code == nullptr || facts.code_size == nullptr) return {};
  if (!Answered(seen.trace) || !Answered(seen.other.trace)) return {};
  const Frame &mine = seen.trace.frames[0], &others = seen.other.trace.frames[0];
  if (mine.method != others.method || mine.method == nullptr) return {};
  const ExecutedCode executed = codelets.At(pc);
  // A return leaves its frame before its codelet ends: the newest frame is then the caller's.
  if (executed.code < 0 || executed.returns || facts.code_size(mine.method) < 0) return {};
  const bool mine_holds = Holds(facts, codelets, executed, next, mine);
  const bool others_holds = Holds(facts, codelets, executed, next, others);
  if (executed.jumps && (mine_holds == others_holds ||
                         MayLeadTo(facts, codelets, executed, mine_holds ? others : mine)))
    return Against::kNeither;
  return AgainstOf(!mine_holds, !others_holds);
}

std::optional<Against> ThreadStartEvidence(const Observation& seen) {
  const Trace &mine = seen.trace, &others = seen.other.trace;
  if (!Answered(mine) || !Answered(others) || mine.MayGoOn() || others.MayGoOn()) return {};
  // If both end with the same method, neither is better.
  if (mine.frames[mine.num_frames - 1].method == others.frames[others.num_frames - 1].method)
    return {};
  return AgainstBy(kThreadStartOracle, seen);
}

std::optional<Against> CallEvidence(const Observation& seen, const CodeletCodes& codelets,
                                    std::string_view stub) {
  const SampleFacts& facts = *seen.sample;
  if (facts.byte_code == nullptr || facts.code_size == nullptr || !ResolvesCalls(stub)) return {};
  if (!Answered(seen.trace) || !Answered(seen.other.trace)) return {};
  const std::optional<bool> mine = Calls(seen, codelets, seen.trace);
  const std::optional<bool> others = Calls(seen, codelets, seen.other.trace);
  if (!mine || !others) return {};
  return AgainstOf(!*mine, !*others);
}

std::optional<Against> AnchorEvidence(const Observation& seen, uint64_t method) {
  const SampleFacts& facts = *seen.sample;
  if (method == 0 || facts.method_of == nullptr) return {};
  if (!Answered(seen.trace) || !Answered(seen.other.trace)) return {};
  void *mine = seen.trace.frames[0].method, *others = seen.other.trace.frames[0].method;
  if (mine == others || mine == nullptr || others == nullptr) return {};
  return AgainstOf(facts.method_of(mine) != method, facts.method_of(others) != method);
}

uint64_t MixFrame(uint64_t hash, const void* method, int32_t bci) {
  return Mix(Mix(hash, method), static_cast<uint64_t>(std::max(bci, 0)));
}

void CodeDescription::AddCaller(void* of_method, int32_t at) {
  callers++;
  inlined = MixFrame(inlined, of_method, at);
}

DebugInfoEvidence::DebugInfoEvidence(const Observation& seen)
    : mine_{&seen.trace, Answered(seen.trace), false, false},
      others_{&seen.other.trace, Answered(seen.other.trace), false, false},
      depth_(seen.request->depth) {}

void DebugInfoEvidence::Answer::Add(const CodeDescription& there, int first, int depth) {
  if (!is_open) return;
  const auto is = IsDescribed(*trace, first, there, depth);
  is_judged |= is.has_value();
  is_wrong = is.has_value() && !*is;
  is_open = is.has_value() && *is;
}

bool DebugInfoEvidence::Add(const CodeDescription& there) {
  mine_.Add(there, first_, depth_);
  others_.Add(there, first_, depth_);
  first_ += there.callers + 1;
  return mine_.is_open || others_.is_open;
}

std::optional<Against> DebugInfoEvidence::verdict() const {
  if (!mine_.is_judged || !others_.is_judged) return {};
  return AgainstOf(mine_.is_wrong, others_.is_wrong);
}

}  // namespace walkhammer
