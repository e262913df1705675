// SPDX-License-Identifier: Apache-2.0
// The answers that a campaign kept, one by one: see harness/ipc/answers.h. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_STORE_ANSWER_ROWS_H_
#define WALKHAMMER_HARNESS_STORE_ANSWER_ROWS_H_

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/ipc/answers.h"

namespace walkhammer {

// The answers in a run's folder, by the number of the request, without those at the end that were
// not walked. Empty if the folder has none. kBadInput: the file cannot be read.
Result<std::vector<Answer>> ReadAnswers(const std::string& dir);

// CountRow::code of an answer that is walked: "frames", "-5", "crash", also for a process that
// died.
std::string CodeOf(const Answer& answer);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_STORE_ANSWER_ROWS_H_
