// SPDX-License-Identifier: Apache-2.0
// DebuggerReader: what debuggers and crash reporters write, see ParseDebuggerFrame, also of all
// threads. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_HS_ERR_DEBUGGER_H_
#define WALKHAMMER_HARNESS_HS_ERR_DEBUGGER_H_

#include <cstdint>

#include "harness/hs_err/crash_report.h"
#include "harness/hs_err/lines.h"

namespace walkhammer {

class DebuggerReader {
 public:
  // Takes a line; returns true if a debugger wrote it.
  bool Read(const Line& line, CrashReport& report);

  // Returns who wrote the stack that TakeStack returns.
  CrashText kind() const { return kept_.writer; }

  // True if the text says why the process ended in words that HotSpot does not have.
  bool tells_end() const { return tells_end_; }

  // True if the text says that it is of a process that lives: jhsdb's or jstack's.
  bool is_of_live_process() const { return is_of_live_process_; }

  // Returns the stack of the thread that crashed: the one that is said to, or the first one with a
  // signal frame, or the first of all; the longest, if it was printed several times. Ends the
  // reading.
  CrashStack TakeStack();

 private:
  struct Stack {
    CrashText writer = CrashText::kNone;
    bool crashed = false;  // the text says so
    int64_t last = -1;     // number of the last frame
    CrashStack frames;
  };

  bool ReadFrame(const Line& line);
  bool ReadMore(const Line& line);
  bool ReadHeadOfStack(const Line& line);
  bool ReadPrintedAddress(const Line& line, CrashReport& report);
  bool ReadCrashedRegisters(const Line& line, CrashReport& report);
  bool IsBetter() const;
  void Keep();

  Stack kept_, current_;
  bool next_crashed_ = false;
  bool names_crashed_ = false;    // Apple's reporter names the thread in its head
  bool in_registers_ = false;     // of Apple's reporter
  bool expects_address_ = false;  // the line before asks gdb for si_addr
  bool tells_end_ = false;
  bool is_of_live_process_ = false;
  int joined_ = 0;  // lines that were added to the last frame
};

// Why the process ended, in the words of debuggers and crash reporters. Returns true if the line
// tells it.
bool ReadDebuggerFact(const Line& line, CrashReport& report);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_HS_ERR_DEBUGGER_H_
