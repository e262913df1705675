// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/queue/own_polls.h"

#include <atomic>
#include <cerrno>

#include "harness/asgst/include/asgst_hooks.h"
#include "harness/asgst/process/attach.h"
#include "harness/asgst/process/jvm_hooks.h"
#include "harness/asgst/process/threads.h"
#include "harness/asgst/queue/frame_marks.h"
#include "harness/asgst/queue/poll_words.h"
#include "harness/asgst/queue/queue.h"
#include "harness/asgst/queue/queue_service.h"

namespace walkhammer::asgst {
namespace {

constexpr char kUpdatePollValues[] = "_ZN18SafepointMechanism18update_poll_valuesEP10JavaThread";
constexpr char kBlock[] = "_ZN20SafepointSynchronize5blockEP10JavaThread";

std::atomic<bool> has_own_polls{false};

// The current thread has armed its poll. initial-exec: signal handlers write it.
constinit __attribute__((tls_model("initial-exec"))) thread_local volatile bool is_armed = false;

HookedFunction update_poll_values = nullptr, block_at_safepoint = nullptr;

// The current thread is at a poll, in any thread state; its anchor is set.
void OnPoll(uint64_t thread) {
  if (!is_armed || IsProcessing() || thread != CurrentJavaThread()) return;
  is_armed = false;
  const int error_number = errno;  // the JVM, or the code that it returns to, may look at it yet
  // Otherwise the service processes the queues.
  if (HasOwnPolls() && !AreQueuesHeld() && IsRoomOnStack(thread)) ProcessOwnQueues(thread);
  errno = error_number;
}

void OnUpdate(uint64_t thread, uint64_t second) {
  OnPoll(thread);
  update_poll_values(thread, second);
  LowerForMarks(thread);
  // A signal that came in between has armed the poll for nothing.
  if (is_armed && HasOwnPolls() && thread == CurrentJavaThread()) ArmOwnPoll(thread);
}

void OnBlock(uint64_t thread, uint64_t second) {
  OnPoll(thread);
  block_at_safepoint(thread, second);
}

}  // namespace

Status StartOwnPolls() {
  RETURN_IF_ERROR(FindPollWords());
  RETURN_IF_ERROR(HookJvm(
      {{kUpdatePollValues, OnUpdate, &update_poll_values}, {kBlock, OnBlock, &block_at_safepoint}},
      ASGST_HOOKS_POLLS));
  has_own_polls.store(true);
  return Ok();
}

std::vector<std::string> NamesForPolls() {
  std::vector<std::string> names = NamesForPollWords();
  names.insert(names.end(), {kUpdatePollValues, kBlock});
  return names;
}

void EndOwnPolls() { has_own_polls.store(false); }

bool HasOwnPolls() { return has_own_polls.load(); }

void ArmOwnPoll(uint64_t thread) {
  is_armed = true;
  ArmPoll(thread);
}

bool IsRoomOnStack(uint64_t thread) {
  constexpr uint64_t kLeast = 80 * 1024;
  const auto here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  const WalkStart start = StartOf(nullptr, thread);
  return here > start.stack_floor && here < start.stack_high && here - start.stack_floor > kLeast;
}

}  // namespace walkhammer::asgst
