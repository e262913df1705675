// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/matrix/request_answers.h"

#include <fmt/format.h>

#include <algorithm>
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
  FindingRecord record;
  record.oracle = kOracle;
  record.outcome = outcome;
  record.grade = GradeOf(kOracle, outcome, Grade::kForbidden);
  record.realism = Realism::kGenuine;
  record.detail = std::move(detail);
  const std::string name = fmt::format("{}/{}", kOracle, outcome);
  record.signature = {.key = name, .title = name, .oracle = kOracle, .expect = name};
  return record;
}

}  // namespace

void RequestAnswers::Count(std::vector<RequestAnswer> all, uint64_t asked) {
  // A recording has each thread's events in order, but not all threads' together.
  std::stable_sort(all.begin(), all.end(), [](const RequestAnswer& a, const RequestAnswer& b) {
    return a.start_ns < b.start_ns;
  });
  std::unordered_set<int64_t> seen;
  std::unordered_map<int32_t, uint64_t> newest;  // by thread that asked
  const auto count = [this](Wrong wrong, int64_t user_data) {
    if ((this->*kWrongs[wrong].count)++ == 0) example[wrong] = user_data;
  };
  for (const RequestAnswer& answer : all) {
    answers++;
    failed += answer.failed ? 1 : 0;
    biased += answer.biased ? 1 : 0;
    const TraceTicket ticket = TraceTicket::Of(answer.user_data);
    if (answer.user_data <= 0 || ticket.number == 0 || ticket.number > asked) {
      count(kNeverAsked, answer.user_data);
      continue;
    }
    if (!seen.insert(answer.user_data).second) {
      count(kTwice, answer.user_data);
      continue;
    }
    answered++;
    if (answer.tid > 0 && answer.tid != ticket.tid) {
      count(kWrongThread, answer.user_data);
      continue;
    }
    uint64_t& last = newest[ticket.tid];
    if (ticket.number < last) count(kOutOfOrder, answer.user_data);
    last = std::max(last, ticket.number);
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
