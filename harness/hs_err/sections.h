// SPDX-License-Identifier: Apache-2.0
// Readers of the sections of an hs_err log. Each takes one line and adds to the report what it
// tells; lines of others do nothing. They return true if they understood the line. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_HS_ERR_SECTIONS_H_
#define WALKHAMMER_HARNESS_HS_ERR_SECTIONS_H_

#include "harness/hs_err/crash_report.h"
#include "harness/hs_err/lines.h"

namespace walkhammer {

// Sets what is not known yet.
template <typename T, typename U>
void SetIfUnknown(Reported<T>& told, U&& value, int line) {
  if (!told.known()) told = {static_cast<T>(std::forward<U>(value)), line};
}

// "SIGSEGV (0xb) at pc=..", "Internal Error (..)", what the error says, versions. `expects_message`
// is what a call leaves for the next one: the line after an internal error's is its message.
bool ReadHead(const Line& line, CrashReport& report, bool& expects_message);
// "JRE version:", "Java VM:", "vm_info:"
bool ReadVersion(const Line& line, CrashReport& report);
// "siginfo: .."
bool ReadSiginfo(const Line& line, CrashReport& report);

// "Current thread (0x..):  ..", "Stack: [..]"
bool ReadCurrentThread(const Line& line, CrashReport& report);
bool ReadStackBounds(const Line& line, CrashReport& report);
// A line of "Java Threads" or "Other Threads".
bool ReadThread(const Line& line, CrashReport& report);

// "RAX=0x.., RBX=0x..", or with another character for '='.
bool ReadRegisters(const Line& line, CrashReport& report, char equals = '=');
bool ReadStackWords(const Line& line, CrashReport& report);
bool ReadInstructions(const Line& line, CrashReport& report);
// A pointee or the next line of one. `stack`: of "Stack slot to memory mapping".
bool ReadPointee(const Line& line, bool stack, CrashReport& report);

bool ReadModule(const Line& line, CrashReport& report);
// "CodeHeap 'x': ..", "CodeCache: ..", " bounds [..]"
bool ReadCodeHeap(const Line& line, CrashReport& report);
bool ReadFlag(const Line& line, CrashReport& report);
bool ReadEvent(const Line& line, const std::string& log, CrashReport& report);
// Lines that tell one thing: "Command Line:", "VM state:", "Time:", ..
bool ReadFact(const Line& line, CrashReport& report);
// "[error occurred during error reporting (..), id 0x.., ..]", anywhere in a line
bool ReadReportingError(const Line& line, CrashReport& report);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_HS_ERR_SECTIONS_H_
