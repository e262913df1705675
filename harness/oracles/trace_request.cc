// SPDX-License-Identifier: Apache-2.0
// Each stack trace that RequestStackTrace promises is to come once, for the thread that asked, in
// the order of asking. JEP draft 8380294 allows the JVM to drop requests in silence. The supervisor
// judges that (request_answers.h): the answers are in a recording, which ends with the program.
#include "harness/oracles/rows.h"

namespace walkhammer {
namespace {

constexpr OutcomeInfo kTraceRequestOutcomes[] = {
    {"answered", Grade::kAcceptable, "each request that was promised an answer got one"},
    {"dropped", Grade::kInteresting,
     "the JVM promised a stack trace that never came: JEP draft 8380294 allows that"},
    {"answered-twice", Grade::kForbidden, "a request got more than one answer"},
    {"out-of-order", Grade::kForbidden,
     "a thread's requests were answered in another order than it made them"},
    {"wrong-thread", Grade::kForbidden, "the answer is of another thread than the one that asked"},
    {"never-asked", Grade::kForbidden, "an answer has user data that no request had"},
};

}  // namespace

const Oracle kTraceRequestOracle = {.name = "trace-request",
                                    .what = "requested stack traces come, once each, in order",
                                    .outcomes = kTraceRequestOutcomes,
                                    .judge = nullptr,
                                    .judged = kByParent,
                                    .kept = "no walk asks it"};

}  // namespace walkhammer
