// SPDX-License-Identifier: Apache-2.0
// Parser: gives each line of a crash text to the reader of its section. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_HS_ERR_PARSER_H_
#define WALKHAMMER_HARNESS_HS_ERR_PARSER_H_

#include <string>

#include "harness/hs_err/crash_report.h"
#include "harness/hs_err/debugger.h"
#include "harness/hs_err/lines.h"

namespace walkhammer {

enum class CrashSection : uint8_t {
  kNone,  // nothing of a log yet, or the head of it
  kProblematicFrame,
  kNativeFrames,
  kJavaFrames,
  kRegisters,
  kPointees,
  kStackWords,
  kStackPointees,
  kInstructions,
  kThreads,
  kModules,
  kFlags,
  kEvents,
  kCompileTask,
  kSystem,  // "OS:"
  kOther    // one that is not read: heap, environment, ..
};

class Parser {
 public:
  explicit Parser(CrashReport& report) : report_(report) {}

  // Takes the next line. Returns false if another crash's log begins here: the first one is whole.
  bool Read(const Line& line);

  // Ends the reading: puts together what several sections tell.
  void Finish();

 private:
  // What was cut by a line end, and may go on in the next line.
  enum class Cut : uint8_t {
    kNothing,
    kProblematicFrame,
    kNativeFrame,
    kJavaFrame,
    kThread,
    kReportingError,
    kVersion  // not read yet
  };

  bool BeginsAnother(const Line& line) const;
  bool EnterSection(const Line& line);
  bool ReadAnywhere(const Line& line);
  bool ReadFrame(const Line& line);
  void ReadInSection(const Line& line);
  void ReadSystem(const Line& line);
  void JoinCut(const Line& line);
  void BeginCut(Cut cut, const Line& line);
  void EndCut();
  bool ReadWholeVersion(const Line& line);
  bool ReadJavaModule(const Line& line);
  void Refine();
  void GuessArch();
  void NameAarch64Registers();
  void UseDebugger(CrashStack stack);
  void TellUnread();
  void MarkCutStack();
  CrashText KindOfText(bool has_frames) const;
  CrashVm Vm() const;

  CrashReport& report_;
  DebuggerReader debugger_;
  CrashSection section_ = CrashSection::kNone;
  std::string event_log_;
  bool expects_message_ = false;
  bool is_log_ = false;  // has a mark that only a log has
  Cut cut_ = Cut::kNothing;
  std::string cut_text_;
  int cut_line_ = 0;
  int joined_ = 0;  // lines, with the first one of the cut
  int last_line_ = 0;
  bool has_stack_header_ = false;  // "Native frames:"
  bool in_stack_ = false;          // nothing followed the last native frame
  bool names_openj9_ = false;
  bool ended_ = false;     // the log's own end was seen
  CrashStack superseded_;  // "Native frames" that HotSpot printed before it tried anew
};

// The kernel does not tell the address of x86's general protection faults (SI_KERNEL).
// Sets signal.address and signal.address_computed out of the instruction at the pc and the
// registers, if the text does not tell the address and both are there; else tells in `unread` why
// it could not.
void ComputeFaultAddress(CrashReport& report);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_HS_ERR_PARSER_H_
