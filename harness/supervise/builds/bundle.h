// SPDX-License-Identifier: Apache-2.0
// Bundle: what is attached to a bug report: the request, an explanation, a table of builds, one
// command to replay, a text for the tracker. Nothing in it is personal. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_BUILDS_BUNDLE_H_
#define WALKHAMMER_HARNESS_SUPERVISE_BUILDS_BUNDLE_H_

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/supervise/builds/build.h"
#include "harness/supervise/builds/replay_tally.h"

namespace walkhammer {

struct BundleRow {
  Build build;
  ReplayTally tally;
};

struct BundleCase {
  std::string walk;                // in .walk form, with `expect`, without comments
  std::string minimized;           // what was done to make the request small, one sentence
  FindingRecord finding;           // as a replay showed it
  std::string shown_on;            // the label of that replay's build
  std::vector<BundleRow> rows;     // replays of `walk`; at least one
  std::vector<std::string> flags;  // JVM flags of that build
  std::string explanation;         // the crash folder's; may be empty
  std::string hs_err;              // the JVM's log; empty if there is none
  std::string tool_version;        // of walkhammer
};

struct BundleFile {
  std::string name, text;
};

// The files of the bundle, each without what is personal; the last lists what was replaced.
// kBadInput: `walk` is no .walk text.
Result<std::vector<BundleFile>> BundleFiles(const BundleCase& content);

// Writes the files into `dir`, which must be empty or new.
Status WriteBundle(const std::string& dir, const std::vector<BundleFile>& files);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_BUILDS_BUNDLE_H_
