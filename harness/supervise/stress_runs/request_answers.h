// SPDX-License-Identifier: Apache-2.0
// RequestAnswers: counts the answers to the stack traces that the walker "request" requested. The
// oracle trace-request judges these counts. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_REQUEST_ANSWERS_H_
#define WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_REQUEST_ANSWERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "harness/findings/finding_record.h"

namespace walkhammer {

// A StackTraceRequest event of a JFR recording.
struct RequestAnswer {
  int64_t user_data;  // the event's; TraceTicket::ToUserData() of the request, unless the JVM errs
  int64_t start_ns;   // the event's start, in ns from any epoch
  int64_t tid;        // the kernel's id of the event's thread; 0 or less: unknown
  bool failed;        // the JVM could not take a stack trace
  bool biased;        // the stack is that of the safepoint, not of the request
  bool operator==(const RequestAnswer&) const = default;
};

struct RequestAnswers {
  uint64_t answers = 0;             // events
  uint64_t answered = 0;            // distinct requests with an answer
  uint64_t failed = 0, biased = 0;  // answers, whatever else is wrong with them
  // An answer counts in at most one of these four.
  uint64_t twice = 0;         // the request had been answered before
  uint64_t out_of_order = 0;  // a newer request of the same thread had been answered before
  uint64_t wrong_thread = 0;  // the event's thread is not the one that asked
  uint64_t never_asked = 0;   // the user data is not that of a request
  int64_t example[4] = {};    // user data of the first answer in each of the four, in this order

  // Adds all answers of one program, in the order of its recording. `asked`: the number of requests
  // that the program made. Call it once per program, because each program numbers its requests
  // from 1.
  void Count(std::vector<RequestAnswer> answers, uint64_t asked);
};

// Returns a record for each kind of wrong or missing answer; none if all is well. `promised`: the
// number of requests that the JVM accepted, over all programs. Nobody records which requests the
// JVM refused, so answers to those show only if more requests were answered than promised.
std::vector<FindingRecord> FindingsOf(const RequestAnswers& answers, uint64_t promised);

// The cell's remark: "12 of 13 promised stack traces came (92.3 %); 1 failed, 2 biased".
std::string WordsFor(const RequestAnswers& answers, uint64_t promised);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_REQUEST_ANSWERS_H_
