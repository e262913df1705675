// SPDX-License-Identifier: Apache-2.0
// StepCode: what the running JVM knows of the code that is stepped, for SteppedStack and
// JudgeCallers. Signal-safe: yes, but for the constructor.
#ifndef WALKHAMMER_STRESS_STEP_CODE_H_
#define WALKHAMMER_STRESS_STEP_CODE_H_

#include <cstdint>

#include "harness/base/trace.h"
#include "harness/jvm/live/methods.h"
#include "harness/jvm/structs/code_finder.h"
#include "harness/jvm/structs/codelet_codes.h"
#include "stress/described_code.h"
#include "stress/known_callers.h"
#include "stress/stepped_stack.h"

namespace walkhammer::stress {

struct RunningCode {
  SteppedCode code = SteppedCode::kNative;
  uint64_t method = 0;      // Method* of an nmethod; else 0
  int32_t frame_words = 0;  // of its CodeBlob, with the return address; at most 0: none
};

class StepCode : public CodeReader {
 public:
  // `method_of`: as in SampleFacts.
  StepCode(const CodeFinder& code, const DescribedCode& described, const CodeletCodes& codelets,
           const MethodRegistry& methods, uint64_t (*method_of)(void* method))
      : code_(code),
        described_(described),
        codelets_(codelets),
        methods_(methods),
        method_of_(method_of) {}

  bool IsGenerated(uint64_t pc) const override { return code_.IsInCache(pc); }
  bool InInterpreter(uint64_t pc) const override { return code_.InInterpreter(pc); }
  bool InSameNmethod(uint64_t a, uint64_t b) const override;
  SteppedCall CallerAt(uint64_t return_pc, uint64_t fp) const override;

  RunningCode CodeAt(uint64_t pc) const;
  // The newest frames of an answer of at most `depth` frames. The answer must have frames.
  void Read(const Trace& trace, int depth, AnsweredFrames& frames);
  // Forgets which methods ids lead to. Call it once in a while: ids may be given again.
  void Forget();

 private:
  // An id of an answer and its Method*; 0: not known, or gone.
  struct KnownId {
    const void* id;
    uint64_t method;
  };
  static constexpr uint32_t kKnownIds = 512;

  uint64_t MethodOf(const void* id) const;

  const CodeFinder& code_;
  const DescribedCode& described_;
  const CodeletCodes& codelets_;
  const MethodRegistry& methods_;
  uint64_t (*const method_of_)(void* method);
  KnownId known_[kKnownIds] = {};
};

}  // namespace walkhammer::stress

#endif  // WALKHAMMER_STRESS_STEP_CODE_H_
