// SPDX-License-Identifier: Apache-2.0
// RequestAnswers: what the oracle trace-request judges, the answers of one program to the requests
// of the walker "request". Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_REQUEST_ANSWERS_H_
#define WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_REQUEST_ANSWERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "harness/findings/finding_record.h"

namespace walkhammer {

// An event StackTraceRequest of a recording.
struct RequestAnswer {
  int64_t user_data;  // of a TraceTicket, if all is well
  int64_t start_ns;   // the event's; any epoch
  int64_t tid;        // of the event's thread, as the kernel counts; 0 or less: not known
  bool failed;        // no stack trace could be taken
  bool biased;        // it was taken at the safepoint, not where the thread was
  bool operator==(const RequestAnswer&) const = default;
};

struct RequestAnswers {
  uint64_t answers = 0;   // events
  uint64_t answered = 0;  // distinct requests with an answer
  uint64_t failed = 0, biased = 0;
  uint64_t twice = 0;         // answers to a request that had one already
  uint64_t out_of_order = 0;  // answers to a request older than one that its thread had answered
  uint64_t wrong_thread = 0;
  uint64_t never_asked = 0;
  int64_t example[4] = {};  // user data of the first of these four, in their order

  // Adds all answers that one program gave, in the order of its recording. `asked`: how many
  // requests it made. Requests are numbered by program, so each program is counted by itself.
  void Count(std::vector<RequestAnswer> answers, uint64_t asked);
};

// One record for each outcome of trace-request that is not "answered". `promised`: requests that
// the JVM took, over all programs. Which requests were refused is not recorded: answers to those
// show only if there are more answers than promises.
std::vector<FindingRecord> FindingsOf(const RequestAnswers& answers, uint64_t promised);

// "12 of 13 promised stack traces came (92.3 %); 1 failed, 2 biased", for the cell's remark.
std::string WordsFor(const RequestAnswers& answers, uint64_t promised);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_REQUEST_ANSWERS_H_
