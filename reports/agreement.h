// SPDX-License-Identifier: Apache-2.0
// How often walkers gave the same answer to the same sample or request, and whom witnesses
// contradict where they did not: added up for what reports show, and as tables of text.
// Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_AGREEMENT_H_
#define WALKHAMMER_REPORTS_AGREEMENT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/oracles/evidence.h"
#include "harness/store/stress_rows.h"

namespace walkhammer {

// The answers of two walkers where the pc was in one region. Numbers are of samples or requests.
struct Compared {
  uint64_t both = 0;                      // both walked, and named their methods
  uint64_t methods = 0;                   // of `both`: the same methods
  uint64_t agreed = 0;                    // of `methods`: the same bytecodes and levels, too
  uint64_t one_failed = 0;                // a walker did, and the other one did not; not in `both`
  std::map<std::string, uint64_t> kinds;  // by DisagreementWord, without those that one failed on
};

struct ComparedPair {
  std::string words;                        // "agct with asgst"; in a fuzz run, the realism, too
  std::map<std::string, Compared> regions;  // by PcRegionWord, and all together as "anywhere"
};

// By names of the pair, then by realism, the most real first. Adds up the rows of all cells.
std::vector<ComparedPair> ComparePairs(const std::vector<AgreementRow>& rows);

// What one witness says of two walkers.
struct WitnessedPair {
  std::string walker, other, witness;
  std::map<std::string, std::map<std::string, uint64_t>> kinds;  // by kind, by AgainstWord

  // The samples of a kind that contradict just these.
  uint64_t Count(const std::string& kind, Against who) const;
  uint64_t Count(const std::string& kind) const;  // all that the witness judges
};

// By names of the pair, then by witness. Adds up the rows of all cells.
std::vector<WitnessedPair> WitnessPairs(const std::vector<EvidenceRow>& rows);

// A table for each pair of walkers, by where the pc was; in a fuzz run, a table for each realism of
// the requests, too. Each line begins with `indent`. Empty if there are no rows.
std::string AgreementText(const std::vector<AgreementRow>& rows, const std::string& indent);

// A table for each pair of walkers and witness, by how the answers differ. Each line begins with
// `indent`. Empty if there are no rows.
std::string EvidenceText(const std::vector<EvidenceRow>& rows, const std::string& indent);

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_AGREEMENT_H_
