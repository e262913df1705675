// SPDX-License-Identifier: Apache-2.0
#include "stress/stack_table.h"

#include <algorithm>

#include "harness/base/hash.h"

namespace walkhammer::stress {
namespace {

constexpr int kMostFrames = 512;  // of a stack, newest first; deeper stacks are truncated
constexpr uint32_t kMostProbes = 64;

void Fill(StressState& state, const MethodRegistry& methods, const Trace& trace, int frames,
          SeenStack& stack) {
  const uint32_t first = state.stack_frames_used.fetch_add(static_cast<uint32_t>(frames));
  if (first + static_cast<uint32_t>(frames) > StressState::kMaxStackFrames) {
    stack.frames = 0;  // shown as a stack whose frames found no room
    stack.code = INT32_MIN;
    return;
  }
  for (int i = 0; i < frames; i++) {
    const MethodEntry* method = methods.Find(trace.frames[i].method);
    state.stack_frames[first + static_cast<uint32_t>(i)] =
        method == nullptr ? 0 : methods.NameOffset(method->name);
  }
  stack.first = first;
  stack.frames = static_cast<uint16_t>(frames);
}

}  // namespace

void CountStack(StressState& state, const MethodRegistry& methods, const Trace& trace, int code,
                uint8_t walker, uint8_t thread_state) {
  const bool walked = trace.ending == Ending::kReturned && trace.num_frames > 0;
  const int frames = walked ? std::min(trace.num_frames, kMostFrames) : 0;
  uint64_t hash = Mix(0x51ed270b, walker);
  if (!walked) hash = Mix(Mix(hash, static_cast<uint64_t>(code) + 1000), thread_state);
  for (int i = 0; i < frames; i++)
    hash = Mix(hash, reinterpret_cast<uint64_t>(trace.frames[i].method));
  hash |= 1;
  for (uint32_t probe = 0; probe < kMostProbes; probe++) {
    SeenStack& stack = state.stacks[(hash + probe) % StressState::kMaxStacks];
    uint64_t there = stack.hash.load(std::memory_order_relaxed);
    if (there == 0 && stack.hash.compare_exchange_strong(there, hash)) {
      stack.walker = walker;
      stack.state = thread_state;
      stack.code = code;
      if (walked) Fill(state, methods, trace, frames, stack);
      stack.count.fetch_add(1, std::memory_order_relaxed);
      stack.ready.store(1, std::memory_order_release);
      return;
    }
    if (there == hash) {
      stack.count.fetch_add(1, std::memory_order_relaxed);
      return;
    }
  }
  state.dropped_stacks.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace walkhammer::stress
