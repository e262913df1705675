// SPDX-License-Identifier: Apache-2.0
// What people read of a judged crash. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_CRASH_TEXT_H_
#define WALKHAMMER_HARNESS_CLI_CRASH_TEXT_H_

#include <string>

#include "harness/crash/imported_crash.h"

namespace walkhammer {

// The answer in words: several lines, each ending in a newline.
std::string AnswerOf(const ImportedCrash& crash);

// The command to type next: whoever is not to blame attaches the log elsewhere, a walker that is to
// blame is reproduced, and what is unknown is asked for. One line.
std::string NextCommand(const ImportedCrash& crash);

// "yes: AsyncGetCallTrace", "no", "unknown": one line for tables.
std::string GuiltWord(const GuiltVerdict& guilt);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_CRASH_TEXT_H_
