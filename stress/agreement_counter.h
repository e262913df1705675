// SPDX-License-Identifier: Apache-2.0
// AgreementCounter: counts how the answers of two walkers to one sample differ, and which of them a
// witness contradicts. A witness knows part of the truth: the program's shadow stack, the JVM's
// description of its code, or the bytecode that is executed. Signal-safe: yes.
#ifndef WALKHAMMER_STRESS_AGREEMENT_COUNTER_H_
#define WALKHAMMER_STRESS_AGREEMENT_COUNTER_H_

#include <ucontext.h>

#include <optional>
#include <string_view>

#include "harness/ipc/stress_state.h"
#include "harness/jvm/structs/code_finder.h"
#include "harness/jvm/structs/codelet_codes.h"
#include "harness/oracles/evidence.h"
#include "harness/oracles/observation.h"
#include "stress/described_code.h"

namespace walkhammer::stress {

class AgreementCounter {
 public:
  AgreementCounter(StressState& state, const CodeFinder& code, const DescribedCode& described,
                   const CodeletCodes& codelets)
      : state_(state), code_(code), described_(described), codelets_(codelets) {}

  // Counts how the answer of `walker`, an index into the job's walkers, differs from the previous
  // walker's, and what contradicts either. `region`: where the sample's pc is. Returns the
  // difference; kCount: the two were not compared.
  Disagreement Count(const Observation& seen, const Sample& sample, PcRegion region,
                     const ucontext_t& context, int walker) const;

 private:
  static uint64_t StackWord(const Sample& sample, uint64_t address);
  static uint64_t AnchorPc(const Sample& sample);
  uint64_t AnchorMethod(const Sample& sample) const;
  std::string_view AnchorStub(const Sample& sample) const;
  std::optional<Against> AskDebugInfo(const Observation& seen, const Sample& sample,
                                      bool newest_alone) const;

  StressState& state_;
  const CodeFinder& code_;
  const DescribedCode& described_;
  const CodeletCodes& codelets_;
};

}  // namespace walkhammer::stress

#endif  // WALKHAMMER_STRESS_AGREEMENT_COUNTER_H_
