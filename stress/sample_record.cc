// SPDX-License-Identifier: Apache-2.0
#include "stress/sample_record.h"

#include <algorithm>
#include <cstring>

#include "harness/base/clock.h"
#include "harness/guard/arch.h"

namespace walkhammer::stress {
namespace {

constexpr uint64_t kLightWords = 64;

// Upper end of the frames on the stack, exclusive. pthreads keep their descriptor and thread-local
// storage at the upper end of their stack, and other threads write there.
uint64_t StackEnd(const SampledThread& thread) {
  constexpr uint64_t kThreadLocal = 4096;  // bytes below the descriptor
  const uint64_t descriptor = thread.thread_pointer;
  if (descriptor < thread.stack_limit + kThreadLocal || descriptor >= thread.stack_base)
    return thread.stack_base;
  return descriptor - kThreadLocal;
}

}  // namespace

void TakeDown(const SampledThread& thread, const ucontext_t& context, bool light, bool running,
              Sample& sample) {
  sample.time_ns = light ? 0 : MonotonicNs();  // 0: set when a finding is reported
  sample.tid = thread.tid.load(std::memory_order_relaxed);
  sample.java = thread.env != nullptr ? 1 : 0;
  sample.registers = ReadContext(context);
  sample.state = 0;
  sample.anchor_sp = sample.anchor_pc = sample.anchor_fp = 0;
  if (thread.env != nullptr) {
    sample.state = thread.view.State();
    sample.anchor_sp = *thread.view.last_sp();
    sample.anchor_pc = *thread.view.last_pc();
    sample.anchor_fp = *thread.view.last_fp();
  }
  sample.thread = thread.env == nullptr ? 0 : reinterpret_cast<uint64_t>(thread.view.address());
  sample.stack_limit = thread.stack_limit;
  sample.stack_base = thread.stack_base;
  sample.words = 0;
  const uint64_t sp = sample.registers.sp;
  const uint64_t end = StackEnd(thread);
  if (sp % 8 != 0 || sp < thread.stack_limit || sp >= end || running) return;
  sample.words = static_cast<uint32_t>(
      std::min<uint64_t>((end - sp) / 8, light ? kLightWords : uint64_t{kSampleWords}));
  std::memcpy(sample.stack, reinterpret_cast<const void*>(sp), 8 * sample.words);
}

StackWrite CompareStack(const Sample& sample, uint64_t call_stub_return) {
  StackWrite write{};
  auto* now = reinterpret_cast<uint64_t*>(sample.registers.sp);
  if (std::memcmp(now, sample.stack, 8 * sample.words) == 0) return write;
  const uint64_t* end = sample.stack + sample.words;
  if (call_stub_return != 0) end = std::find(sample.stack, end, call_stub_return);
  for (auto i = static_cast<uint32_t>(end - sample.stack); i-- > 0;) {
    if (now[i] == sample.stack[i]) continue;
    write = {true, 8 * i, sample.stack[i], now[i]};
    if (sample.stack[i] != 0) now[i] = sample.stack[i];
  }
  return write;
}

}  // namespace walkhammer::stress
