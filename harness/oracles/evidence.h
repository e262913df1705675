// SPDX-License-Identifier: Apache-2.0
// Evidence: which of two walkers' answers to one sample are wrong, by witnesses that depend on
// neither walker. Reports count it. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_ORACLES_EVIDENCE_H_
#define WALKHAMMER_HARNESS_ORACLES_EVIDENCE_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "harness/jvm/structs/codelet_codes.h"
#include "harness/oracles/observation.h"

namespace walkhammer {

// Append only: runs store the words.
enum class Witness : uint8_t {
  kShadowStack,   // the program's own record of its active methods
  kByteCode,      // the bytecode that the interpreter executes, against the newest frame's
  kSteps,         // frames that a walker's answers at earlier and later instructions must share
  kThreadStart,   // where threads start, against the outermost frame
  kCall,          // a call that the JVM is resolving, against the newest frame's bytecode
  kAnchor,        // the interpreted frame that called into the JVM, against the newest method
  kDebugInfo,     // debug info of compiled code that called into the JVM, against the newest frames
  kSteppedStack,  // the calls that a stepped processor has made, against all callers
  kCount
};
inline constexpr int kWitnesses = static_cast<int>(Witness::kCount);
const char* WitnessWord(Witness witness);  // "shadow-stack", "byte-code", "steps", ...

// The walkers that a witness contradicts. A walker that is not contradicted need not be right.
enum class Against : uint8_t { kNeither, kWalker, kOther, kBoth, kCount };
inline constexpr int kAgainsts = static_cast<int>(Against::kCount);
const char* AgainstWord(Against against);    // "neither", "walker", "other", "both"
Against AgainstOf(bool walker, bool other);  // true: the witness contradicts that walker

// Each function below returns which of two answers its witness contradicts: seen.trace (kWalker),
// seen.other.trace (kOther). nullopt: the witness cannot judge this sample. seen.sample must not be
// null.

// The program's shadow stack.
std::optional<Against> ShadowEvidence(const Observation& seen);

// The bytecode whose codelet `pc` is in. `next`: value of the register in which the interpreter
// holds the next bytecode, if it holds one.
std::optional<Against> ByteCodeEvidence(const Observation& seen, const CodeletCodes& codelets,
                                        uint64_t pc, uint64_t next);

// The methods in which threads start. Judges only answers that end with different methods, if
// neither broke off nor was ended by its request (an option, or a full buffer).
std::optional<Against> ThreadStartEvidence(const Observation& seen);

// The call that the JVM is resolving: the thread has left Java through the stub of the name `stub`,
// so its newest method is at a call. nullopt also if unresolved calls are not linked to that stub.
std::optional<Against> CallEvidence(const Observation& seen, const CodeletCodes& codelets,
                                    std::string_view stub);

// The interpreted frame at the thread's anchor, which is the newest Java frame. `method`: that
// frame's Method*; 0: there is no such frame. Judges only answers whose newest frames are of
// different methods.
std::optional<Against> AnchorEvidence(const Observation& seen, uint64_t method);

// What the JVM's debug information says of a pc: the newest method there, its bytecode index, and
// the callers into which it is inlined.
struct CodeDescription {
  void* method;          // jmethodID
  int32_t bci;           // below 0: before the first bytecode
  int32_t callers = 0;   // their number, in the same activation
  uint64_t inlined = 0;  // hash of the callers: MixFrame of one after the other, newest first

  void AddCaller(void* method, int32_t bci);
};
// Returns `hash` with a further frame mixed in. Not cryptographic.
uint64_t MixFrame(uint64_t hash, const void* method, int32_t bci);

// The witness kDebugInfo, for a thread whose newest activation is compiled and has called into the
// JVM. Add gets what the JVM says of that call's return address, then of the return addresses in
// older compiled activations, newest first. Answers are not judged if a frame of the newest
// activation has no method or is beyond the walk's depth.
class DebugInfoEvidence {
 public:
  explicit DebugInfoEvidence(const Observation& seen);
  // Compares the next older activation. False: a further one would not be compared.
  bool Add(const CodeDescription& there);
  std::optional<Against> verdict() const;

 private:
  // How far one of the answers was compared.
  struct Answer {
    const Trace* trace;
    bool is_open, is_judged, is_wrong;
    void Add(const CodeDescription& there, int first, int depth);
  };
  Answer mine_, others_;
  int first_ = 0;  // index of the next activation's newest frame
  int depth_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_ORACLES_EVIDENCE_H_
