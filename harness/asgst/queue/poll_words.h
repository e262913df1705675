// SPDX-License-Identifier: Apache-2.0
// The two words of a JavaThread that its safepoint polls read (SafepointMechanism::ThreadData, JDK
// 17 and later): the poll word and the address of the polling page.
// - A poll in a loop stops if bit 0 of the word is set, or if the page cannot be read.
// - A poll at a return stops if a pointer is above the word (MacroAssembler::safepoint_poll).
//   Compiled code compares the caller's sp; the interpreter and native wrappers compare fp.
// - The word is 1 if armed, the highest value if disarmed; any other value is a stack watermark.
//
// The VM arms the words of other threads by plain stores. Only the thread itself disarms them, in
// SafepointMechanism::update_poll_values. So code that sets the word to anything but the armed
// value must not overwrite an arming: see LowerPollWord.
//
// Signal-safe: ArmPoll, LowerPollWord yes; the rest no.
#ifndef WALKHAMMER_HARNESS_ASGST_QUEUE_POLL_WORDS_H_
#define WALKHAMMER_HARNESS_ASGST_QUEUE_POLL_WORDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "harness/base/result.h"

namespace walkhammer::asgst {

// The symbols of libjvm that FindPollWords needs.
std::vector<std::string> NamesForPollWords();
// Finds the offset of the words in a JavaThread, by reading that of the current thread, which must
// be a Java thread. ArmPoll and LowerPollWord must not be called before this has succeeded. Fails
// with kUnable if libjvm lacks these symbols, or the words are not found.
Status FindPollWords();
// Arms both words of the current thread, whose JavaThread* is `thread`, as the VM does. The
// thread's next poll of any kind stops.
void ArmPoll(uint64_t thread);
// Lowers the poll word of `thread` to the address `most`, unless the word is lower already. Polls
// at returns then stop above `most`. `most` must be a multiple of 8, so that polls in loops do not
// stop. `thread` must not end during the call. Stops that the JVM or another caller requested still
// take place, because this function never raises the word.
void LowerPollWord(uint64_t thread, uint64_t most);

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_QUEUE_POLL_WORDS_H_
