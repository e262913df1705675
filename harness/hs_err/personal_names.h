// SPDX-License-Identifier: Apache-2.0
// PersonalNames: the names of hosts, users and home directories that a crash log tells in one
// place, replaced in all others. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_HS_ERR_PERSONAL_NAMES_H_
#define WALKHAMMER_HARNESS_HS_ERR_PERSONAL_NAMES_H_

#include <string>
#include <string_view>
#include <vector>

#include "harness/hs_err/redaction_rules.h"

namespace walkhammer {

class PersonalNames {
 public:
  // Takes names out of a line: "uname: Linux HOST", "Host: HOST, ..",
  // "HOSTNAME=HOST", "/home/USER/", "UID: 1000 (USER)", ..
  void Collect(std::string_view line);

  // Replaces them where no letter adjoins; users only where a path or a value may be.
  void Replace(std::string& line, DoneWords& done) const;

 private:
  std::vector<std::string> hosts_, users_, homes_, ids_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_HS_ERR_PERSONAL_NAMES_H_
