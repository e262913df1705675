// SPDX-License-Identifier: Apache-2.0
// DebuggerReader: back-traces of gdb and lldb, also of all threads. Signal-safe: no.
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

  // Returns which debugger wrote frames: kGdb, kLldb, or kNone.
  CrashText kind() const { return kind_; }

  // Returns the stack of the thread that got the signal: the first one with a signal frame, or the
  // first of all. Ends the reading.
  CrashStack TakeStack();

 private:
  void Start(CrashText kind);
  void NoteGap(int64_t number);
  bool ReadGdbFrame(const Line& line);
  bool ReadLldbFrame(const Line& line);
  bool ReadMore(const Line& line);
  bool ReadSignal(const Line& line, CrashReport& report);
  bool ReadRegister(const Line& line, CrashReport& report);
  void Keep();

  CrashText kind_ = CrashText::kNone;
  CrashStack kept_, current_;
  int joined_ = 0;  // lines that were added to the last frame
  int64_t last_number_ = 0;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_HS_ERR_DEBUGGER_H_
