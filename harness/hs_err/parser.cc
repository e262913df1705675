// SPDX-License-Identifier: Apache-2.0
#include "harness/hs_err/parser.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "harness/base/text.h"
#include "harness/hs_err/characters.h"
#include "harness/hs_err/cursor.h"
#include "harness/hs_err/frames.h"
#include "harness/hs_err/lines.h"
#include "harness/hs_err/sections.h"

namespace walkhammer {
namespace {

using Section = CrashSection;

struct Header {
  std::string_view prefix;
  Section section;
};

// By the first characters of a line; the more special ones first.
constexpr Header kHeaders[] = {
    {"Problematic frame:", Section::kProblematicFrame},
    {"Native frames:", Section::kNativeFrames},
    {"Java frames:", Section::kJavaFrames},
    {"Registers:", Section::kRegisters},
    {"Register to memory mapping:", Section::kPointees},
    {"Top of Stack:", Section::kStackWords},
    {"Stack slot to memory mapping:", Section::kStackPointees},
    {"Instructions:", Section::kInstructions},
    {"Java Threads:", Section::kThreads},
    {"Other Threads:", Section::kThreads},
    {"Dynamic libraries:", Section::kModules},
    {"[Global flags]", Section::kFlags},
    {"Current CompileTask:", Section::kCompileTask},
    {"OS:", Section::kSystem},
    {"Threads class SMR info:", Section::kOther},
    {"Threads with active compile tasks:", Section::kOther},
    {"Lock stack of current Java thread", Section::kOther},
    {"Compressed class space", Section::kOther},
    {"GC Precious Log:", Section::kOther},
    {"Heap:", Section::kOther},
    {"Heap Regions:", Section::kOther},
    {"Heap address:", Section::kOther},
    {"Card table", Section::kOther},
    {"Marking Bits", Section::kOther},
    {"Polling page:", Section::kOther},
    {"Metaspace:", Section::kOther},
    {"VM Arguments:", Section::kOther},
    {"VM Mutex/Monitor", Section::kOther},
    {"Environment Variables:", Section::kOther},
    {"Active Locale:", Section::kOther},
    {"Signal Handlers:", Section::kOther},
    {"Logging:", Section::kOther},
    {"Native Memory Tracking:", Section::kOther},
    {"Compiled method (", Section::kOther},
    {"Unsupported internal testing APIs", Section::kOther},
    {"Periodic native trim", Section::kOther},
    {"CPU:", Section::kOther},
    {"Process Memory:", Section::kOther},
    {"/proc/", Section::kOther},
};

bool HeadIsKnown(const CrashReport& report) { return report.error != CrashError::kUnknown; }

// JDK 5 and 6 say "An unexpected error".
bool IsHead(std::string_view text) {
  return text.starts_with("A fatal error has been detected by") ||
         text.starts_with("An unexpected error has been detected by");
}

// Names that only OpenJ9 has.
bool NamesOpenJ9(std::string_view text) {
  if (text.find("j9") == std::string_view::npos && text.find("J9") == std::string_view::npos &&
      text.find("getSendSlots") == std::string_view::npos)
    return false;
  for (const std::string_view name : {"libj9vm", "libj9jit", "libj9prt", "Eclipse OpenJ9", "j9sig",
                                      "J9Generic_Signal", "getSendSlotsFromSignature"})
    if (text.find(name) != std::string_view::npos) return true;
  return false;
}

bool HasBody(const CrashReport& report) {
  return report.thread.line > 0 || !report.registers.empty() || !report.native_stack.frames.empty();
}

// Sections where text that looks like a frame is something else.
bool MayHoldFrames(Section section) {
  switch (section) {
    case Section::kThreads:
    case Section::kModules:
    case Section::kFlags:
    case Section::kEvents:
    case Section::kCompileTask:
    case Section::kSystem:
      return false;
    default:
      return true;
  }
}

}  // namespace

bool Parser::BeginsAnother(const Line& line) const {
  return IsHead(line.text) && HeadIsKnown(report_) && HasBody(report_);
}

bool Parser::Read(const Line& line) {
  last_line_ = line.number;
  names_openj9_ = names_openj9_ || NamesOpenJ9(line.text);
  if (line.is_empty()) {
    in_stack_ = false;
    if (cut_ != Cut::kThread && cut_ != Cut::kNothing) EndCut();
    return true;
  }
  if (line.text.size() < 3) return true;
  if (BeginsAnother(line)) {
    report_.unread.push_back({"what follows", "another crash's log begins there", line.number});
    return false;
  }
  if (line.text.find("occurred during error reporting") != std::string_view::npos &&
      ReadReportingError(line, report_)) {
    EndCut();
    if (report_.reporting_errors.back().step.find("native stack") != std::string::npos)
      report_.native_stack.truncated = true;
    if (!line.text.ends_with(']')) BeginCut(Cut::kReportingError, line);
    return true;
  }
  if (EnterSection(line) || ReadAnywhere(line) || ReadFrame(line)) return true;
  if (cut_ != Cut::kNothing) {
    JoinCut(line);
    return true;
  }
  const bool may_be_debugger = section_ == CrashSection::kNone || section_ == CrashSection::kOther;
  if (may_be_debugger && debugger_.Read(line, report_)) return true;
  ReadInSection(line);
  return true;
}

bool Parser::EnterSection(const Line& line) {
  const std::string_view text = line.text;
  const auto enter = [&](Section section) {
    section_ = section;
    in_stack_ = section == Section::kNativeFrames;
    is_log_ = true;
    EndCut();
    return true;
  };
  if (text.starts_with("----------") && text.find(' ') != std::string_view::npos) {
    expects_message_ = false;
    return enter(Section::kOther);
  }
  if (IsHead(text)) {
    (void)enter(Section::kNone);
    return true;
  }
  if (text == "END.") {
    ended_ = true;
    return enter(Section::kOther);
  }
  if (text.ends_with(" events):") || text.ends_with(" event):")) {
    const size_t open = text.rfind(" (");
    if (open == std::string_view::npos) return false;
    event_log_ = text.substr(0, open);
    return enter(Section::kEvents);
  }
  for (const Header& header : kHeaders) {
    if (text[0] != header.prefix[0] || !text.starts_with(header.prefix)) continue;
    // In the dump of an object or of a method, and in the section of pointees, this is none.
    if (header.prefix == "Compiled method (" &&
        (section_ == Section::kPointees || section_ == Section::kStackPointees))
      return false;
    if (header.section == Section::kStackWords) {
      Cursor sp(text);
      if (sp.SkipPast("sp="))
        if (const auto value = sp.Hex()) SetIfUnknown(report_.stack_pointer, *value, line.number);
    }
    if (header.section == Section::kInstructions && !report_.pc.known()) {
      Cursor pc(text);
      if (pc.SkipPast("pc="))
        if (const auto value = pc.Hex()) SetIfUnknown(report_.pc, *value, line.number);
    }
    if (header.section == Section::kNativeFrames &&
        report_.native_stack.frames.size() > superseded_.frames.size())
      superseded_ = std::move(report_.native_stack);
    if (header.section == Section::kNativeFrames) {
      report_.native_stack = {};
      has_stack_header_ = true;
    }
    if (header.section == Section::kSystem && text.size() > 3)
      ReadSystem({text.substr(3), line.number});
    return enter(header.section);
  }
  return false;
}

bool Parser::ReadAnywhere(const Line& line) {
  if (section_ == Section::kPointees || section_ == Section::kStackPointees ||
      section_ == Section::kEvents || section_ == Section::kModules)
    if (line.text[0] != 'V' && line.text[0] != 's' && line.text[0] != 'C') return false;
  if (section_ == Section::kNone && ReadHead(line, report_, expects_message_)) {
    is_log_ = true;
    return true;
  }
  if (ReadWholeVersion(line) || ReadSiginfo(line, report_)) {
    is_log_ = true;
    return true;
  }
  if (line.text.starts_with("Current thread")) {
    EndCut();
    (void)ReadCurrentThread(line, report_);
    is_log_ = true;
    if (report_.thread.id == 0 || line.text.find(']') == std::string_view::npos)
      BeginCut(Cut::kThread, line);
    return true;
  }
  if (ReadStackBounds(line, report_) || ReadFact(line, report_) || ReadCodeHeap(line, report_)) {
    is_log_ = true;
    return true;
  }
  return false;
}

bool Parser::ReadFrame(const Line& line) {
  if (line.text.starts_with("...<more frames>")) {
    (section_ == Section::kJavaFrames ? report_.java_stack : report_.native_stack).truncated = true;
    return true;
  }
  if (!MayHoldFrames(section_)) return false;
  if (!IsFrame(line.text)) return ReadJavaModule(line);
  CrashFrame frame = ParseFrame(line.text, line.number);
  const bool is_head = section_ == Section::kProblematicFrame || line.has_hash;
  if (is_head && !report_.problematic_frame) {
    BeginCut(IsCutFrame(line.text) ? Cut::kProblematicFrame : Cut::kNothing, line);
    report_.problematic_frame = std::move(frame);
    if (!line.has_hash) section_ = Section::kOther;
  } else if (is_head && line.has_hash) {
    return true;
  } else {
    const bool java = section_ == Section::kJavaFrames;
    CrashStack& stack = java ? report_.java_stack : report_.native_stack;
    if (stack.frames.size() >= kMostCrashItems) return true;
    stack.frames.push_back(std::move(frame));
    const Cut cut = java ? Cut::kJavaFrame : Cut::kNativeFrame;
    BeginCut(IsCutFrame(line.text) ? cut : Cut::kNothing, line);
  }
  return true;
}

// "JRE version:", "Java VM:", "vm_info:"; waits for the next line if there are parentheses to
// close.
bool Parser::ReadWholeVersion(const Line& line) {
  if (!IsVersion(line.text)) return false;
  EndCut();
  ended_ |= line.text.starts_with("vm_info:");
  if (IsCutVersion(line.text)) {
    BeginCut(Cut::kVersion, line);
    return true;
  }
  return ReadVersion(line, report_);
}

// The module of an interpreted frame, alone in the line after it: "java.base@17".
bool Parser::ReadJavaModule(const Line& line) {
  const bool java = section_ == CrashSection::kJavaFrames;
  std::vector<CrashFrame>& frames = (java ? report_.java_stack : report_.native_stack).frames;
  if (frames.empty() || frames.back().kind != CrashFrameKind::kInterpreted ||
      !frames.back().java_module.empty() || line.text.find('@') == std::string_view::npos ||
      line.text.find_first_of(" (:/") != std::string_view::npos)
    return false;
  frames.back().java_module = line.text;
  return true;
}

void Parser::BeginCut(Cut cut, const Line& line) {
  cut_ = cut;
  cut_text_ = line.text;
  cut_line_ = line.number;
  joined_ = 0;
}

void Parser::EndCut() {
  if (cut_ == Cut::kVersion) (void)ReadVersion({cut_text_, cut_line_}, report_);
  cut_ = Cut::kNothing;
}

void Parser::JoinCut(const Line& line) {
  // JDK 8: "VMThread [stack: 0x..,0x..] [id=29775]"
  const bool is_other = cut_ == Cut::kThread && cut_text_.find(']') != std::string::npos &&
                        !line.text.starts_with("[id=");
  // More lines would be no wrapped one, and cost time that grows with their square.
  constexpr int kMostJoined = 16;
  if (is_other || ++joined_ > kMostJoined ||
      cut_text_.size() + line.text.size() > size_t{4} << 10) {
    EndCut();
    return;
  }
  if (!IsWithinWord(cut_text_, line.text)) cut_text_ += ' ';
  cut_text_ += line.text;
  CrashFrame* frame = nullptr;
  switch (cut_) {
    case Cut::kReportingError: {
      const Line whole{cut_text_, cut_line_};
      report_.reporting_errors.pop_back();
      (void)ReadReportingError(whole, report_);
    }
      if (cut_text_.ends_with(']')) EndCut();
      return;
    case Cut::kThread:
      (void)ReadCurrentThread({cut_text_, cut_line_}, report_);
      if (cut_text_.find(']') != std::string::npos) cut_ = Cut::kNothing;
      return;
    case Cut::kVersion:
      if (!IsCutVersion(cut_text_)) EndCut();
      return;
    case Cut::kProblematicFrame:
      frame = &*report_.problematic_frame;
      break;
    case Cut::kNativeFrame:
      frame = &report_.native_stack.frames.back();
      break;
    case Cut::kJavaFrame:
      frame = &report_.java_stack.frames.back();
      break;
    case Cut::kNothing:
      return;
  }
  *frame = ParseFrame(cut_text_, cut_line_);
  if (!IsCutFrame(cut_text_)) cut_ = Cut::kNothing;
}

void Parser::ReadSystem(const Line& line) {
  const std::string_view text = Trim(line.text);
  if (text.starts_with("uname: Linux") || text.find("Linux") != std::string_view::npos) {
    if (report_.os == CrashOs::kUnknown) report_.os = CrashOs::kLinux;
  } else if (text.find("Darwin") != std::string_view::npos || text.starts_with("macOS") ||
             text.starts_with("Bsduname")) {
    report_.os = CrashOs::kMacos;
  }
  if (!text.empty()) SetIfUnknown(report_.os_text, text, line.number);
}

void Parser::ReadInSection(const Line& line) {
  switch (section_) {
    case Section::kNone:
    case Section::kRegisters:
      if (ReadRegisters(line, report_)) is_log_ = is_log_ || line.text.starts_with("RAX=0x");
      break;
    case Section::kPointees:
      (void)ReadPointee(line, false, report_);
      break;
    case Section::kStackWords:
      (void)ReadStackWords(line, report_);
      break;
    case Section::kStackPointees:
      (void)ReadPointee(line, true, report_);
      break;
    case Section::kInstructions:
      (void)ReadInstructions(line, report_);
      break;
    case Section::kThreads:
      (void)ReadThread(line, report_);
      break;
    case Section::kModules:
      (void)ReadModule(line, report_);
      break;
    case Section::kFlags:
      (void)ReadFlag(line, report_);
      break;
    case Section::kEvents:
      if (line.text != "No events") (void)ReadEvent(line, event_log_, report_);
      break;
    case Section::kCompileTask:
      SetIfUnknown(report_.compile_task, line.text, line.number);
      break;
    case Section::kSystem:
      ReadSystem(line);
      break;
    default:
      break;
  }
}

// HotSpot's "R29" of aarch64 is what everybody else calls x29.
void Parser::NameAarch64Registers() {
  for (CrashRegister& reg : report_.registers) {
    if (reg.name.size() >= 2 && reg.name[0] == 'r' && IsDigit(reg.name[1])) reg.name[0] = 'x';
    if (reg.name == "fp") reg.name = "x29";
    if (reg.name == "lr") reg.name = "x30";
  }
  for (CrashPointee& pointee : report_.register_pointees)
    if (pointee.register_name.size() >= 2 && pointee.register_name[0] == 'r' &&
        IsDigit(pointee.register_name[1]))
      pointee.register_name[0] = 'x';
}

// By the registers, if no line tells the architecture.
void Parser::GuessArch() {
  if (report_.arch != CrashArch::kUnknown) return;
  if (report_.Register("rax")) report_.arch = CrashArch::kX86_64;
  if (report_.Register("r30") || report_.Register("x30") || report_.Register("x28"))
    report_.arch = CrashArch::kAarch64;
}

// Puts together what several sections tell.
void Parser::Refine() {
  GuessArch();
  if (report_.arch == CrashArch::kAarch64) NameAarch64Registers();
  for (const char* name : {"rip", "pc"})
    for (const CrashRegister& reg : report_.registers)
      if (reg.name == name) SetIfUnknown(report_.pc, reg.value, reg.line);
  for (const char* name : {"rsp", "sp"})
    for (const CrashRegister& reg : report_.registers)
      if (reg.name == name) SetIfUnknown(report_.stack_pointer, reg.value, reg.line);
  // Before JDK 9 the head tells a pthread's address, which no thread's id of Linux is as large as.
  constexpr int64_t kMostLinuxId = 1 << 22;
  if (report_.thread.line > 0 && report_.thread.id > 0 &&
      (!report_.tid.known() || report_.tid.value > kMostLinuxId))
    report_.tid = {report_.thread.id, report_.thread.line};
  std::sort(report_.stack_words.begin(), report_.stack_words.end(),
            [](const CrashWord& a, const CrashWord& b) { return a.address < b.address; });
  for (const CrashFrame& frame : report_.native_stack.frames) {
    if (report_.os != CrashOs::kUnknown) break;
    if (frame.module.ends_with(".dylib")) report_.os = CrashOs::kMacos;
    if (frame.module.find(".so") != std::string::npos) report_.os = CrashOs::kLinux;
  }
}

void Parser::TellUnread() {
  const struct {
    const char* what;
    bool is_there;
  } wanted[] = {
      {"error", HeadIsKnown(report_)},
      {"versions", report_.version.vm.known()},
      {"siginfo", report_.error != CrashError::kSignal || report_.signal.code.known() ||
                      report_.signal.code_number.known() || report_.signal.address.known()},
      {"current thread", report_.thread.line > 0},
      {"native frames", !report_.native_stack.frames.empty()},
      {"registers", !report_.registers.empty() || report_.error == CrashError::kOutOfMemory},
      {"register to memory mapping",
       !report_.register_pointees.empty() || report_.error == CrashError::kOutOfMemory},
      {"top of stack", !report_.stack_words.empty()},
      {"instructions", report_.instructions.has_value()},
      {"modules", !report_.modules.empty()},
      {"code cache", !report_.code_heaps.empty()},
      {"command line", report_.command_line.known()},
  };
  for (const auto& row : wanted) {
    if (row.is_there) continue;
    report_.unread.push_back({row.what,
                              ended_ ? "the text does not tell them" : "the text ends before them",
                              ended_ ? 0 : last_line_});
  }
}

// The debugger stops where the JVM aborts, when it has reported its death; the crash is below.
void Parser::UseDebugger(CrashStack stack) {
  report_.native_stack = std::move(stack);
  GuessArch();
  const CrashStack& all = report_.native_stack;
  const size_t first = all.signal_frames.empty() ? 0 : all.signal_frames[0];
  const bool reports = std::any_of(
      all.frames.begin(), all.frames.begin() + static_cast<std::ptrdiff_t>(first),
      [](const CrashFrame& frame) { return frame.symbol.starts_with("VMError::report"); });
  const size_t crash = reports ? first + 1 : 0;
  if (reports && !report_.registers.empty()) {
    report_.unread.push_back({"registers",
                              "the debugger shows those of the abort, not of the crash",
                              report_.registers[0].line});
    report_.registers.clear();
  }
  if (crash >= all.frames.size()) return;
  const CrashFrame& frame = all.frames[crash];
  if (!report_.problematic_frame) report_.problematic_frame = frame;
  if (frame.pc) SetIfUnknown(report_.pc, *frame.pc, frame.line);
}

// A stack is cut where the text begins or ends within it.
void Parser::MarkCutStack() {
  CrashStack& stack = report_.native_stack;
  if (stack.frames.empty()) return;
  // JDK 6 has no bracket at the end of a Java frame.
  const bool within_frame = cut_ == Cut::kNativeFrame && !stack.frames.back().is_java();
  stack.truncated |= in_stack_ || (is_log_ && !has_stack_header_) || within_frame;
}

CrashText Parser::KindOfText(bool has_frames) const {
  const bool is_others = debugger_.kind() != CrashText::kNone && debugger_.tells_end();
  if (has_frames) return is_log_ ? CrashText::kHsErr : CrashText::kStack;
  if (is_others && !report_.version.vm.known()) return debugger_.kind();
  if (debugger_.is_of_live_process() && !HeadIsKnown(report_)) return CrashText::kThreadDump;
  return is_log_ ? CrashText::kHsErr : debugger_.kind();
}

// A log of HotSpot has a line of its own for the VM.
CrashVm Parser::Vm() const {
  const bool has_libjvm =
      std::any_of(report_.native_stack.frames.begin(), report_.native_stack.frames.end(),
                  [](const CrashFrame& frame) { return frame.kind == CrashFrameKind::kVm; });
  if (names_openj9_ && !report_.version.vm.known()) return CrashVm::kOpenJ9;
  return has_libjvm || report_.text_kind == CrashText::kHsErr ? CrashVm::kHotSpot
                                                              : CrashVm::kUnknown;
}

void Parser::Finish() {
  MarkCutStack();
  EndCut();
  if (superseded_.frames.size() > report_.native_stack.frames.size())
    report_.native_stack = std::move(superseded_);
  CrashStack debugged = debugger_.TakeStack();
  const bool has_frames = !report_.native_stack.frames.empty() ||
                          !report_.java_stack.frames.empty() || report_.problematic_frame;
  if (!has_frames && !debugged.frames.empty()) UseDebugger(std::move(debugged));
  report_.text_kind = KindOfText(has_frames);
  Refine();
  report_.vm = Vm();
  MarkSignalFrames(report_.native_stack);
  MarkSignalFrames(report_.java_stack);
  if (report_.text_kind == CrashText::kNone) {
    report_.unread.push_back({"everything", "the text has no trace of a crash", 0});
    return;
  }
  ComputeFaultAddress(report_);
  if (report_.text_kind == CrashText::kHsErr) TellUnread();
}

}  // namespace walkhammer
