// SPDX-License-Identifier: Apache-2.0
// Crash logs of harness/hs_err/testdata: below a header of lines "EXPECT ITEM: VALUE" they have the
// text of a crash. Its README describes them. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_HS_ERR_TESTING_CRASH_LOG_H_
#define WALKHAMMER_HARNESS_HS_ERR_TESTING_CRASH_LOG_H_

#include <string>
#include <vector>

namespace walkhammer {

struct CrashExpectation {
  std::string item;
  std::string value;
};

struct CrashLog {
  std::string name;  // of the file, without its folder: "8-oom.log"
  std::vector<CrashExpectation> expectations;
  std::string text;  // without the header

  bool is_hs_err() const { return name.ends_with(".log"); }
};

// All files of `folder` but README.md, by name.
std::vector<CrashLog> CrashLogs(const std::string& folder);

// The text of one file, without its header.
std::string CrashLogText(const std::string& folder, const std::string& name);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_HS_ERR_TESTING_CRASH_LOG_H_
