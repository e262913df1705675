// SPDX-License-Identifier: Apache-2.0
// Evidence: where two walkers have answered the same sample, what speaks against the one or the
// other and comes from neither of them. Counted for reports. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_ORACLES_EVIDENCE_H_
#define WALKHAMMER_HARNESS_ORACLES_EVIDENCE_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "harness/jvm/structs/codelet_codes.h"
#include "harness/oracles/observation.h"

namespace walkhammer {

// Append only: runs hold the words.
enum class Witness : uint8_t {
  kShadowStack,  // the program's own record of its active methods
  kByteCode,     // what the interpreter executes there, against the newest frame's byte code
  kSteps,        // what the instructions before and after must have in common
  kThreadStart,  // where threads start, against the outermost frame
  kCall,         // a call that the JVM is resolving, against the newest frame's byte code
  kAnchor,       // the interpreted frame that has called into the JVM, against the newest method
  kDebugInfo,    // what the JVM tells of compiled code that has called into it, against the newest
  kCount
};
inline constexpr int kWitnesses = static_cast<int>(Witness::kCount);
const char* WitnessWord(Witness witness);  // "shadow-stack", "byte-code", "steps", ...

// Whom a witness contradicts. The other one is not thereby right.
enum class Against : uint8_t { kNeither, kWalker, kOther, kBoth, kCount };
inline constexpr int kAgainsts = static_cast<int>(Against::kCount);
const char* AgainstWord(Against against);  // "neither", "walker", "other", "both"
Against AgainstOf(bool walker, bool other);

// Each of the witnesses below is asked whom of two answers it contradicts: seen.trace (kWalker) and
// seen.other.trace (kOther). nullopt: it cannot judge this sample.

// The program's shadow stack.
std::optional<Against> ShadowEvidence(const Observation& seen);

// The byte code whose codelet `pc` is in. `next`: the register in which the interpreter holds the
// byte code that it is about to begin, if it holds one.
std::optional<Against> ByteCodeEvidence(const Observation& seen, const CodeletCodes& codelets,
                                        uint64_t pc, uint64_t next);

// Where threads start. For answers that end with different methods and have not filled their
// buffers.
std::optional<Against> ThreadStartEvidence(const Observation& seen);

// The call that is being resolved: the thread is in the stub called `stub`, and its newest method
// is about to call. nullopt, too: calls are not linked to that stub.
std::optional<Against> CallEvidence(const Observation& seen, const CodeletCodes& codelets,
                                    std::string_view stub);

// The interpreted frame at the thread's anchor. For answers whose newest frames are of different
// methods. `method`: the Method* of that frame, which no Java frame is newer than; 0: there is
// none.
std::optional<Against> AnchorEvidence(const Observation& seen, uint64_t method);

// What the JVM's debug information tells of a pc: the newest method there and its byte code, and
// those that it is inlined in.
struct CodeDescription {
  void* method;          // jmethodID
  int32_t bci;           // below 0: before the first byte code
  int32_t callers = 0;   // in the same activation
  uint64_t inlined = 0;  // these as a hash: MixFrame of each after the other, newest first

  void AddCaller(void* method, int32_t bci);
};
uint64_t MixFrame(uint64_t hash, const void* method, int32_t bci);

// What the JVM tells of compiled code. For a thread whose newest activation is compiled and has
// called into the JVM: what is described where that call returns to, and where older compiled
// activations return to, newest first. Not judged are answers with a frame of the newest activation
// that is not named, or that their depth has no room for.
class DebugInfoEvidence {
 public:
  explicit DebugInfoEvidence(const Observation& seen);
  // The next activation. False: nothing more can be said.
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
  int first_ = 0;  // frame of the next activation
  int depth_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_ORACLES_EVIDENCE_H_
