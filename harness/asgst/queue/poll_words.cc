// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/queue/poll_words.h"

#include <atomic>

#include "harness/asgst/process/attach.h"
#include "harness/asgst/process/jvm_hooks.h"

namespace walkhammer::asgst {
namespace {

// The values of SafepointMechanism's static fields, which stay the same once the JVM runs.
struct PollValues {
  uint64_t page_disarmed, page_armed, word_disarmed, word_armed;
};
PollValues values;
uint64_t words_offset = 0;  // JavaThread: the word, then the page

Status ReadPollValues() {
  const std::vector<uint64_t> at = FindInJvm(NamesForPollWords());
  if (at.empty()) return Unable("this libjvm does not name what arms a poll");
  const LiveMemory memory;
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

std::atomic_ref<uint64_t> WordOf(uint64_t thread) {
  return std::atomic_ref<uint64_t>(*reinterpret_cast<uint64_t*>(thread + words_offset));
}

}  // namespace

std::vector<std::string> NamesForPollWords() {
  return {"_ZN18SafepointMechanism25_poll_page_disarmed_valueE",
          "_ZN18SafepointMechanism22_poll_page_armed_valueE",
          "_ZN18SafepointMechanism22_poll_word_armed_valueE",
          "_ZN18SafepointMechanism25_poll_word_disarmed_valueE"};
}

// The second word is the address of the page that polls read, which nothing else in a JavaThread
// is. Behind the JavaThread another one may lie.
Status FindPollWords() {
  constexpr uint64_t kMostBytes = 2048;
  RETURN_IF_ERROR(ReadPollValues());
  const uint64_t thread = CurrentJavaThread();
  const LiveMemory memory;
  uint64_t word = 0, before = 0;
  for (uint64_t at = 16; at < kMostBytes && memory.ReadWord(thread + at, word); at += 8) {
    if (word != values.page_disarmed && word != values.page_armed) continue;
    if (!memory.ReadWord(thread + at - 8, before) || !IsPollWord(thread, before)) continue;
    words_offset = at - 8;
    return Ok();
  }
  return Unable("this JVM's threads keep their polls elsewhere");
}

void ArmPoll(uint64_t thread) {
  auto* words = reinterpret_cast<volatile uint64_t*>(thread + words_offset);
  words[0] = values.word_armed;
  words[1] = values.page_armed;
}

// The VM's store of the armed value, which is lower than any `most`, either comes before the
// exchange, which then fails, or overwrites its result.
void LowerPollWord(uint64_t thread, uint64_t most) {
  const std::atomic_ref<uint64_t> word = WordOf(thread);
  uint64_t now = word.load();
  while (now > most && !word.compare_exchange_weak(now, most)) {
  }
}

}  // namespace walkhammer::asgst
