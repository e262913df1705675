// SPDX-License-Identifier: Apache-2.0
// The two words of a JavaThread that a thread looks at in each poll
// (SafepointMechanism::ThreadData, JDK 17 and later): the poll word and the address of the poll
// page, as update_poll_values leaves them.
// - A poll in a loop stops if bit 0 of the word is set, or if the page cannot be read.
// - A poll at a return stops if the caller's stack pointer (compiled code) or the frame pointer
// (the
//   interpreter, native wrappers) is above the word: MacroAssembler::safepoint_poll. The armed word
//   is 1, the disarmed one the highest; in between, the word is a stack watermark.
// The VM arms the words of other threads with plain stores. Only a thread itself disarms them, in
// update_poll_values. So whoever sets the word to anything but the armed value must not overwrite
// an arming: see LowerPollWord. Signal-safe: ArmPoll, LowerPollWord yes; FindPollWords no.
#ifndef WALKHAMMER_HARNESS_ASGST_QUEUE_POLL_WORDS_H_
#define WALKHAMMER_HARNESS_ASGST_QUEUE_POLL_WORDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "harness/base/result.h"

namespace walkhammer::asgst {

// The names in libjvm that FindPollWords needs.
std::vector<std::string> NamesForPollWords();
// Finds the words in the current thread's JavaThread, for all threads. The other functions need it.
// Fails with kUnable where libjvm does not name the values that arm a poll, or polls otherwise.
Status FindPollWords();
// Arms both words of the current thread, whose JavaThread* is `thread`, as the VM does: the
// thread's next poll of any kind stops.
void ArmPoll(uint64_t thread);
// Lowers the poll word of `thread`, which must not end during the call, to the multiple of 8
// `most`, or leaves it where it is lower: then returns from above `most` stop. What the JVM or
// another caller waits for is still met, as it has a higher word, or the lower one that stays.
void LowerPollWord(uint64_t thread, uint64_t most);

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_QUEUE_POLL_WORDS_H_
