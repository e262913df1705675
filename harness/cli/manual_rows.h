// SPDX-License-Identifier: Apache-2.0
// What the manual pages say beyond --help: a row for each verb, and rows of what several verbs have
// in common. Texts are ASCII, whole sentences, with an empty line between paragraphs.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_MANUAL_ROWS_H_
#define WALKHAMMER_HARNESS_CLI_MANUAL_ROWS_H_

#include <string_view>
#include <vector>

namespace walkhammer {

struct ManualExample {
  const char* what;     // what it is for
  const char* command;  // as typed; it must parse
};

struct ManualRow {
  const char* verb;  // "fuzz", "bugs check"; "walkhammer": the command itself
  const char* description;
  std::vector<ManualExample> examples;
};

// A variable or a file, and the verbs that it matters to, "fuzz,bugs check"; empty: all.
struct ManualNote {
  const char* name;
  const char* what;
  const char* verbs;
};

const std::vector<ManualRow>& AllManualRows();
const std::vector<ManualNote>& ManualVariables();
const std::vector<ManualNote>& ManualFiles();

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_MANUAL_ROWS_H_
