// SPDX-License-Identifier: Apache-2.0
// Mutants of a JDK's walker: each differs from the JDK in one instruction of AsyncGetCallTrace's
// code. They show which changes the gate notices. Only for x86_64. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_MUTANTS_MUTANT_H_
#define WALKHAMMER_HARNESS_MUTANTS_MUTANT_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "harness/base/result.h"

namespace walkhammer {

enum class MutationKind : uint8_t {
  kBranch,    // a conditional jump is inverted
  kSkip,      // a call is left out; the result is what the register holds
  kAnswer0,   // a call is replaced by the result 0 or false
  kAnswer1,   // a call is replaced by the result 1 or true
  kConstant,  // a constant is off by one
  kOffset,    // the offset of a field is off by the size of the access
};
inline constexpr int kMutationKinds = 6;

const char* MutationWord(MutationKind kind);  // "branch", "skip", ...

struct Mutant {
  MutationKind kind;
  uint64_t address;                    // of the instruction: ELF virtual address
  std::string function;                // demangled
  uint64_t in_function;                // bytes from the start of the function
  std::vector<uint8_t> before, after;  // of the same length
  std::string text;                    // the instruction before, in the vendor's syntax

  std::string Id() const;  // "branch-a1b2c3": kind and address in hex
};

// Returns the mutants of the code that AsyncGetCallTrace reaches in the libjvm.so at `libjvm`, by
// address. `reached`: addresses of blocks; if not empty, only these blocks have mutants.
// Fails as FindBlocks does, and with kUnable for another architecture.
Result<std::vector<Mutant>> FindMutants(const std::string& libjvm,
                                        const std::set<uint64_t>& reached);

// Returns `count` mutants of `all`, or all if there are fewer. The kinds take turns, and each kind
// is shuffled by `seed`. A greater `count` returns the same mutants, and further ones after them.
std::vector<Mutant> ChooseMutants(std::vector<Mutant> all, uint64_t seed, size_t count);

// Makes a JDK in the folder `out`, which must not exist: links to the files of the JDK in `home`,
// but with its own java, libjli.so and libjvm.so (at `libjvm`, in `home`). The libjvm.so has the
// mutant's bytes and another build id. Fails with kBadInput if the file does not hold the bytes
// before, with kToolFailed if it cannot be written.
Status MakeMutant(const std::string& home, const std::string& libjvm, const Mutant& mutant,
                  const std::string& out);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_MUTANTS_MUTANT_H_
