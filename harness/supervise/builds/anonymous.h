// SPDX-License-Identifier: Apache-2.0
// Anonymous: takes out of texts for strangers what is personal: what harness/hs_err/redact.h
// replaces, and besides the names of this machine and of its user, and folders. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_BUILDS_ANONYMOUS_H_
#define WALKHAMMER_HARNESS_SUPERVISE_BUILDS_ANONYMOUS_H_

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace walkhammer {

// Words, and what stands for each.
using StandIns = std::vector<std::pair<std::string, std::string>>;

// The names of this machine and of its user, without those that tell nothing, such as root.
StandIns NamesOfThisMachine();

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

// Returns `text` with "<path>/NAME" for each absolute path, of two parts or more, that is not one
// of the system's (/usr, /lib, /proc, ...). `count`: how many.
std::string HidePaths(std::string_view text, int& count);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_BUILDS_ANONYMOUS_H_
