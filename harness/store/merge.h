// SPDX-License-Identifier: Apache-2.0
// Merging: joins run folders of one build of a JVM into one folder that reports, gates and replays
// read as any other. Nothing is counted twice: each run has an id, and the merged folder keeps the
// ids and identities of all runs that it holds. What is added up, and what is kept by run:
// docs/howto/many-machines.md. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_STORE_MERGE_H_
#define WALKHAMMER_HARNESS_STORE_MERGE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "harness/base/result.h"

namespace walkhammer {

struct MergeOutcome {
  size_t runs = 0;                    // that the new folder holds
  std::vector<std::string> left_out;  // one sentence for each folder whose runs others hold, too
};

// Makes the folder `out` of the runs in `dirs`, which may themselves be merged and may be
// untrusted. The order of `dirs` does not matter. Fails with kBadInput, and leaves nothing behind,
// if a folder cannot be read, if a run still goes on, if runs are of different builds, kinds,
// walkers or JVM flags, or if two merged folders share some of their runs but not all.
// Memory: that of the largest run, and a few bytes for each folder.
Result<MergeOutcome> MergeRuns(const std::vector<std::string>& dirs, const std::string& out);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_STORE_MERGE_H_
