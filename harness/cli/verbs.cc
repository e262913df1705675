// SPDX-License-Identifier: Apache-2.0
// The table of verbs. Each has a file of its own.
#include "harness/cli/command.h"

namespace walkhammer {

const std::vector<VerbGroup>& AllVerbs() {
  static const std::vector<VerbGroup> kVerbs = {
      {"Find", {AddFuzz, AddStress, AddStep}},
      {"Work with a finding", {AddReplay, AddMinimize, AddBisect, AddShow, AddBundle}},
      {"Judge runs", {AddReport, AddGate, AddBugs, AddMerge}},
      {"Crash reports", {AddImport}},
      {"This machine", {AddDoctor}},
  };
  return kVerbs;
}

}  // namespace walkhammer
