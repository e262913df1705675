// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/queue/own_polls.h"

#include <atomic>
#include <cerrno>
#include <vector>

#include "harness/asgst/include/asgst_hooks.h"
#include "harness/asgst/process/attach.h"
#include "harness/asgst/process/jvm_hooks.h"
#include "harness/asgst/process/threads.h"
#include "harness/asgst/queue/queue.h"
#include "harness/asgst/queue/queue_service.h"

namespace walkhammer::asgst {
namespace {

// The values of SafepointMechanism's static fields, which stay the same once the JVM runs.
struct PollValues {
  uint64_t page_disarmed, page_armed, word_disarmed, word_armed;
};
PollValues values;
uint64_t words_offset = 0;  // JavaThread: the word, then the page
std::atomic<bool> has_own_polls{false};

// The current thread has armed its poll. initial-exec: signal handlers write it.
constinit __attribute__((tls_model("initial-exec"))) thread_local volatile bool is_armed = false;

// Handlers need room on the stack, above the JVM's guard zones of some 16 KiB. HotSpot sees to it
// that a thread that runs Java code has 96 KiB left, zones included (StackShadowPages).
bool IsRoomOnStack(uint64_t thread) {
  constexpr uint64_t kLeast = 80 * 1024;
  const auto here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  const WalkStart start = StartOf(nullptr, thread);
  return here > start.stack_floor && here < start.stack_high && here - start.stack_floor > kLeast;
}

HookedFunction update_poll_values = nullptr, block_at_safepoint = nullptr;

// The current thread is at a poll, in whichever of its states; its anchor is set.
void OnPoll(uint64_t thread) {
  if (!is_armed || IsProcessing() || thread != CurrentJavaThread()) return;
  is_armed = false;
  const int error_number = errno;  // the JVM, or the code that it returns to, may look at it yet
  // Else the service handles them.
  if (HasOwnPolls() && !AreQueuesHeld() && IsRoomOnStack(thread)) ProcessOwnQueues(thread);
  errno = error_number;
}

void OnUpdate(uint64_t thread, uint64_t second) {
  OnPoll(thread);
  update_poll_values(thread, second);
  // A signal that came meanwhile has armed the poll for nothing.
  if (is_armed && HasOwnPolls() && thread == CurrentJavaThread()) ArmOwnPoll(thread);
}

void OnBlock(uint64_t thread, uint64_t second) {
  OnPoll(thread);
  block_at_safepoint(thread, second);
}

Status ReadPollValues() {
  const std::vector<uint64_t> at =
      FindInJvm({"_ZN18SafepointMechanism25_poll_page_disarmed_valueE",
                 "_ZN18SafepointMechanism22_poll_page_armed_valueE",
                 "_ZN18SafepointMechanism22_poll_word_armed_valueE",
                 "_ZN18SafepointMechanism25_poll_word_disarmed_valueE"});
  if (at.empty()) return Unable("this libjvm does not name what arms a poll");
  const LiveMemory memory(0, 0);
  if (!memory.ReadWord(at[0], values.page_disarmed) || !memory.ReadWord(at[1], values.page_armed) ||
      !memory.ReadWord(at[2], values.word_armed) || !memory.ReadWord(at[3], values.word_disarmed) ||
      values.page_disarmed == 0 || values.page_disarmed == values.page_armed)
    return Unable("this libjvm's polls are not armed by thread");
  return Ok();
}

// Else the word is where the stack is not processed yet by a collector (StackWatermark), and a poll
// is to stop the thread.
bool IsPollWord(uint64_t thread, uint64_t word) {
  const WalkStart start = StartOf(nullptr, thread);
  return word == values.word_disarmed || word == values.word_armed ||
         (word > start.stack_floor && word <= start.stack_high);
}

// Finds the words in the current thread's JavaThread: the second is the address of the page that
// polls read, which nothing else in a JavaThread is. Behind the JavaThread another one may lie.
Status FindPollWords(uint64_t thread) {
  constexpr uint64_t kMostBytes = 2048;
  const LiveMemory memory(0, 0);
  uint64_t word = 0, before = 0;
  for (uint64_t at = 16; at < kMostBytes && memory.ReadWord(thread + at, word); at += 8) {
    if (word != values.page_disarmed && word != values.page_armed) continue;
    if (!memory.ReadWord(thread + at - 8, before) || !IsPollWord(thread, before)) continue;
    words_offset = at - 8;
    return Ok();
  }
  return Unable("this JVM's threads keep their polls elsewhere");
}

}  // namespace

Status StartOwnPolls() {
  RETURN_IF_ERROR(ReadPollValues());
  RETURN_IF_ERROR(FindPollWords(CurrentJavaThread()));
  RETURN_IF_ERROR(HookJvm(
      {{"_ZN18SafepointMechanism18update_poll_valuesEP10JavaThread", OnUpdate, &update_poll_values},
       {"_ZN20SafepointSynchronize5blockEP10JavaThread", OnBlock, &block_at_safepoint}},
      ASGST_HOOKS_POLLS));
  has_own_polls.store(true);
  return Ok();
}

void EndOwnPolls() { has_own_polls.store(false); }

bool HasOwnPolls() { return has_own_polls.load(); }

void ArmOwnPoll(uint64_t thread) {
  is_armed = true;
  auto* words = reinterpret_cast<volatile uint64_t*>(thread + words_offset);
  words[0] = values.word_armed;
  words[1] = values.page_armed;
}

}  // namespace walkhammer::asgst
