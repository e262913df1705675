// SPDX-License-Identifier: Apache-2.0
// Bundle: what is attached to a bug report: the request, an explanation, a table of builds, one
// command to replay, a text for the tracker. Nothing in it is personal. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_BUILDS_BUNDLE_H_
#define WALKHAMMER_HARNESS_SUPERVISE_BUILDS_BUNDLE_H_

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/base/result.h"
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

// Words, and what stands for each.
using StandIns = std::vector<std::pair<std::string, std::string>>;

// The names of this machine and of its user, without those that tell nothing, such as root.
StandIns NamesOfThisMachine();

// Takes out of texts to be published what is personal: what harness/hs_err/redact.h replaces, and
// besides the names of this machine and of its user, values of properties, and folders.
class Anonymous {
 public:
  // `places`: folders, such as a JDK's home, for which "<jdk 17.0.2>" stands. `names`: words that
  // are replaced where no letter adjoins them.
  explicit Anonymous(StandIns places, StandIns names = NamesOfThisMachine());

  // Returns `text` of the bundle's file `name` without what is personal, and keeps note of what was
  // replaced. Lines stay lines.
  std::string Clean(std::string_view text, const std::string& name);

  // What was replaced, one line for each kind and file, without what stood there.
  std::string Report() const;

 private:
  StandIns places_, names_;
  std::map<std::pair<std::string, std::string>, int> done_;  // count by file and kind
};

// Returns `text` with "-DNAME=<redacted>" for each value of a program's own property; those that
// the JDK or walkhammer has named stay, and so do numbers, switches and stand-ins. `count`: how
// many.
std::string HideProperties(std::string_view text, int& count);

// Returns `text` with "<path>/NAME" for each absolute path, of two parts or more, that is not one
// of the system's (/usr, /lib, /proc, ...). `count`: how many.
std::string HidePaths(std::string_view text, int& count);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_BUILDS_BUNDLE_H_
