// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/stress_runs/request_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "harness/base/trace_ticket.h"

namespace walkhammer {
namespace {

enum Wrong { kTwice, kOutOfOrder, kWrongThread, kNeverAsked };

struct Outcome {
  const char* name;  // of the oracle's outcome
  const char* words;
  uint64_t RequestAnswers::*count;
};
constexpr Outcome kWrongs[] = {
    {"answered-twice", "to a request that had one already", &RequestAnswers::twice},
    {"out-of-order", "to a request older than one of the same thread that had one before",
     &RequestAnswers::out_of_order},
    {"wrong-thread", "of another thread than the one that asked", &RequestAnswers::wrong_thread},
    {"never-asked", "to a request that was not made", &RequestAnswers::never_asked},
};
constexpr char kOracle[] = "trace-request";

double Percent(uint64_t part, uint64_t all) {
  return all == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(all);
}

FindingRecord RecordOf(const char* outcome, std::string detail) {
  return MakeProgramRecord(kOracle, outcome, "", std::move(detail));
}

bool IsOfAnother(const RequestAnswer& answer) {
  return answer.tid > 0 && answer.tid != TraceTicket::Of(answer.user_data).tid;
}

bool WasAsked(const RequestAnswer& answer, uint64_t asked) {
  const uint64_t number = TraceTicket::Of(answer.user_data).number;
  return answer.user_data > 0 && number > 0 && number <= asked;
}

// The user data of first answers that come after one to a later request of the same thread.
std::set<int64_t> AnsweredLate(const std::vector<RequestAnswer>& answers, uint64_t asked) {
  std::set<int64_t> late;
  std::unordered_set<int64_t> seen;
  std::unordered_map<int32_t, uint64_t> newest;  // by thread
  for (const RequestAnswer& answer : answers) {
    if (!WasAsked(answer, asked) || IsOfAnother(answer) || !seen.insert(answer.user_data).second)
      continue;
    const TraceTicket ticket = TraceTicket::Of(answer.user_data);
    uint64_t& last = newest[ticket.tid];
    if (ticket.number < last) late.insert(answer.user_data);
    last = std::max(last, ticket.number);
  }
  return late;
}

}  // namespace

void RequestAnswers::Count(std::vector<RequestAnswer> all, uint64_t asked) {
  const std::set<int64_t> late_in_file = AnsweredLate(all, asked);
  // Within a chunk of a recording, start times tell the order, and the file does not; from chunk to
  // chunk it is the other way round, since clocks drift. An answer is late if both say so.
  std::stable_sort(all.begin(), all.end(), [](const RequestAnswer& a, const RequestAnswer& b) {
    return a.start_ns < b.start_ns;
  });
  const std::set<int64_t> late_by_time = AnsweredLate(all, asked);
  std::unordered_set<uint64_t> seen;  // numbers
  const auto count = [this](Wrong wrong, int64_t user_data) {
    if ((this->*kWrongs[wrong].count)++ == 0) example[wrong] = user_data;
  };
  for (const RequestAnswer& answer : all) {
    answers++;
    failed += answer.failed ? 1 : 0;
    biased += answer.biased ? 1 : 0;
    if (!WasAsked(answer, asked)) {
      count(kNeverAsked, answer.user_data);
      continue;
    }
    if (!seen.insert(TraceTicket::Of(answer.user_data).number).second) {
      count(kTwice, answer.user_data);
      continue;
    }
    answered++;
    if (IsOfAnother(answer))
      count(kWrongThread, answer.user_data);
    else if (late_in_file.count(answer.user_data) != 0 && late_by_time.count(answer.user_data) != 0)
      count(kOutOfOrder, answer.user_data);
  }
}

std::vector<FindingRecord> FindingsOf(const RequestAnswers& answers, uint64_t promised) {
  std::vector<FindingRecord> records;
  for (size_t i = 0; i < std::size(kWrongs); i++) {
    const uint64_t count = answers.*kWrongs[i].count;
    if (count == 0) continue;
    const TraceTicket ticket = TraceTicket::Of(answers.example[i]);
    records.push_back(RecordOf(
        kWrongs[i].name, fmt::format("{} of {} answers are {}; the first has the user data {:#x}: "
                                     "request {} of the program, by thread {}",
                                     count, answers.answers, kWrongs[i].words, answers.example[i],
                                     ticket.number, ticket.tid)));
  }
  if (answers.answered > promised)
    records.push_back(
        RecordOf("never-asked", fmt::format("{} requests were answered, of which {} were promised: "
                                            "the others had been refused",
                                            answers.answered, promised)));
  if (answers.answered < promised)
    records.push_back(
        RecordOf("dropped", fmt::format("{} of {} promised stack traces never came ({:.3g} %)",
                                        promised - answers.answered, promised,
                                        Percent(promised - answers.answered, promised))));
  return records;
}

std::string WordsFor(const RequestAnswers& answers, uint64_t promised) {
  return fmt::format("{} of {} promised stack traces came ({:.1f} %); {} failed, {} biased",
                     answers.answered, promised, Percent(answers.answered, promised),
                     answers.failed, answers.biased);
}

}  // namespace walkhammer
