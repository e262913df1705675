// SPDX-License-Identifier: Apache-2.0
// TraceTicket: what walkhammer passes as `user_data` to RequestStackTrace, and finds again in the
// answer: who asked, and as how many-th. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_BASE_TRACE_TICKET_H_
#define WALKHAMMER_HARNESS_BASE_TRACE_TICKET_H_

#include <cstdint>

namespace walkhammer {

struct TraceTicket {
  static constexpr int kNumberBits = 40;

  int32_t tid;      // of the thread that asked, as the kernel counts: less than 2^22
  uint64_t number;  // of the request, over all threads of the process: from 1, less than 2^40

  // Never negative: user_data is a jlong.
  constexpr int64_t ToUserData() const {
    return static_cast<int64_t>(static_cast<uint64_t>(tid) << kNumberBits | number);
  }
  static constexpr TraceTicket Of(int64_t user_data) {
    const auto bits = static_cast<uint64_t>(user_data);
    return {static_cast<int32_t>(bits >> kNumberBits), bits & ((uint64_t{1} << kNumberBits) - 1)};
  }
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BASE_TRACE_TICKET_H_
