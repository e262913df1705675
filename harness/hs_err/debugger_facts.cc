// SPDX-License-Identifier: Apache-2.0
// Why the process ended, as debuggers and crash reporters tell it.
#include <algorithm>
#include <utility>

#include "harness/base/text.h"
#include "harness/hs_err/cursor.h"
#include "harness/hs_err/debugger.h"
#include "harness/hs_err/sections.h"

namespace walkhammer {
namespace {

void SetSignal(std::string_view name, int line, CrashReport& report) {
  SetIfUnknown(report.signal.name, name, line);
  if (report.error == CrashError::kUnknown) report.error = CrashError::kSignal;
}

void SetAddress(Cursor cursor, int line, CrashReport& report) {
  (void)(cursor.Skip(":") || cursor.Skip("="));
  if (const auto value = cursor.Hex()) SetIfUnknown(report.signal.address, *value, line);
}

// Sets the address that follows the mark, if it is there.
void SetAddressAfter(std::string_view mark, const Line& line, CrashReport& report) {
  Cursor cursor(line.text);
  if (cursor.SkipPast(mark)) SetAddress(cursor, line.number, report);
}

// "Thread 2 "java" received signal SIGSEGV, ..", "Program terminated with signal SIGBUS, ..",
// "* thread #1, stop reason = signal SIGILL: fault address: 0x18"
bool ReadStop(const Line& line, CrashReport& report) {
  for (const std::string_view mark :
       {"received signal SIG", "terminated with signal SIG", "stop reason = signal SIG"}) {
    Cursor cursor(line.text);
    if (!cursor.SkipPast(mark)) continue;
    SetSignal("SIG" + std::string(cursor.Until(" ,:")), line.number, report);
    SetAddressAfter("fault address", line, report);
    return true;
  }
  if (line.text.find("EXC_BAD_ACCESS (code=") == std::string_view::npos) return false;
  SetSignal("EXC_BAD_ACCESS", line.number, report);
  SetAddressAfter("address=", line, report);
  return true;
}

// "==1==ERROR: AddressSanitizer: SEGV on unknown address 0x10 (pc 0x.. bp 0x.. sp 0x.. T31)",
// "==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x.. at pc 0x.. bp 0x.. sp 0x.."
bool ReadSanitizer(const Line& line, CrashReport& report) {
  Cursor cursor(line.text);
  if (!cursor.SkipPast("ERROR: ") || !cursor.SkipPast("Sanitizer: ")) return false;
  const std::string_view what = cursor.Until(" ");
  const bool is_signal = what == "SEGV" || what == "BUS" || what == "FPE" || what == "ILL";
  SetSignal(is_signal ? "SIG" + std::string(what) : std::string(what), line.number, report);
  SetAddressAfter(" address ", line, report);
  const struct {
    std::string_view mark;
    Reported<uint64_t>& value;
  } kNumbers[] = {{"pc 0x", report.pc}, {" sp 0x", report.stack_pointer}};
  for (const auto& [mark, value] : kNumbers) {
    Cursor number(line.text);
    if (!number.SkipPast(mark)) continue;
    const size_t begin = static_cast<size_t>(number.rest().data() - line.text.data()) - 2;
    if (const auto hex = Cursor(line.text.substr(begin)).Hex())
      SetIfUnknown(value, *hex, line.number);
  }
  return true;
}

// minidump-stackwalk: "Crash reason:  SIGSEGV / SEGV_MAPERR", "Crash address: 0x70"
bool ReadMinidump(const Line& line, CrashReport& report) {
  Cursor cursor(line.text);
  if (cursor.Skip("Crash reason:")) {
    const std::string_view reason = Trim(cursor.rest());
    const size_t slash = reason.find(" / ");
    SetSignal(reason.substr(0, slash), line.number, report);
    if (slash != std::string_view::npos)
      SetIfUnknown(report.signal.code, reason.substr(slash + 3), line.number);
  } else if (cursor.Skip("Crash address:")) {
    SetAddress(cursor, line.number, report);
  } else {
    return false;
  }
  return true;
}

// coredumpctl: "Signal: 11 (SEGV)", "PID: 4711 (java)", "Stack trace of thread 4790:"; the journal:
// "Process 4711 (java) of user 1000 dumped core."
bool ReadCoredump(const Line& line, CrashReport& report) {
  Cursor cursor(line.text);
  if (cursor.Skip("Signal:")) {
    const auto number = cursor.Decimal();
    if (!number || !cursor.Skip("(")) return false;
    SetIfUnknown(report.signal.number, static_cast<int>(*number & 0xff), line.number);
    SetSignal("SIG" + std::string(cursor.Until(")")), line.number, report);
  } else if (cursor.Skip("Stack trace of thread")) {
    if (const auto tid = cursor.Decimal()) SetIfUnknown(report.tid, *tid, line.number);
  } else if (cursor.Skip("PID:") ||
             (line.text.ends_with("dumped core.") && cursor.Skip("Process"))) {
    if (const auto pid = cursor.Decimal()) SetIfUnknown(report.pid, *pid, line.number);
  } else {
    return false;
  }
  return true;
}

// Apple: "Exception Type:  EXC_BAD_ACCESS (SIGSEGV)", "Exception Codes: KERN_INVALID_ADDRESS at
// 0x70", "Process: java [4711]", "OS Version: macOS 13.5 (22G74)"
bool ReadApple(const Line& line, CrashReport& report) {
  Cursor cursor(line.text);
  if (cursor.Skip("Exception Type:")) {
    const std::string_view mach = Trim(cursor.Until("("));
    (void)cursor.Skip("(");
    const std::string_view name = cursor.Until(")");
    SetSignal(name.empty() ? mach : name, line.number, report);
  } else if (cursor.Skip("Exception Codes:") || cursor.Skip("Exception Subtype:")) {
    const std::string_view code = Trim(cursor.rest());
    SetIfUnknown(report.signal.code, code.substr(0, std::min(code.find(" at "), code.find(','))),
                 line.number);
    SetAddressAfter(" at ", line, report);
  } else if (cursor.Skip("Process:") && cursor.SkipPast("[")) {
    if (const auto pid = cursor.Decimal()) SetIfUnknown(report.pid, *pid, line.number);
  } else if (Cursor system(line.text); system.Skip("OS Version:")) {
    report.os = CrashOs::kMacos;
    SetIfUnknown(report.os_text, Trim(system.rest()), line.number);
  } else {
    return false;
  }
  return true;
}

// OpenJ9: "1XHEXCPCODE    Signal_Number: 0000000B", "J9Generic_Signal_Number=00000018
// Signal_Number=0000000b Error_Value=00000000 Signal_Code=00000001"
bool ReadOpenJ9(const Line& line, CrashReport& report) {
  const auto value = [&](std::string_view key) -> std::optional<uint64_t> {
    Cursor cursor(line.text);
    if (!cursor.SkipPast(key) || !(cursor.Skip(":") || cursor.Skip("="))) return {};
    const std::optional<uint64_t> number = cursor.BareHex(8);
    return number ? number : cursor.BareHex(16);
  };
  static constexpr std::pair<uint64_t, const char*> kNames[] = {
      {4, "SIGILL"}, {5, "SIGTRAP"}, {6, "SIGABRT"}, {7, "SIGBUS"}, {8, "SIGFPE"}, {11, "SIGSEGV"}};
  const auto number = value(" Signal_Number"), code = value(" Signal_Code"),
             address = value("InaccessibleAddress");
  for (const auto& [known, name] : kNames)
    if (number == known) SetSignal(name, line.number, report);
  if (number) SetIfUnknown(report.signal.number, static_cast<int>(*number & 0xff), line.number);
  if (code) SetIfUnknown(report.signal.code_number, static_cast<int>(*code & 0xff), line.number);
  if (address) SetIfUnknown(report.signal.address, *address, line.number);
  return number || code || address;
}

}  // namespace

bool ReadDebuggerFact(const Line& line, CrashReport& report) {
  static constexpr std::string_view kFirst = "TP*=ECSO1JH";
  if (kFirst.find(line.text[0]) == std::string_view::npos) return false;
  return ReadStop(line, report) || ReadSanitizer(line, report) || ReadMinidump(line, report) ||
         ReadCoredump(line, report) || ReadApple(line, report) || ReadOpenJ9(line, report);
}

}  // namespace walkhammer
