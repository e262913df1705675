// SPDX-License-Identifier: Apache-2.0
#include "harness/hs_err/parser.h"

#include <cstddef>
#include <utility>

#include "harness/base/text.h"
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
  return IsHead(line.text) && report_.error != CrashError::kUnknown && HasBody(report_);
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
    if (header.section == Section::kNativeFrames) {
      if (report_.native_stack.frames.size() > superseded_.frames.size()) {
        superseded_ = std::move(report_.native_stack);
        superseded_.may_begin_cut = !has_stack_header_;
      }
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
  if (IsEllipsis(line.text)) {
    CrashStack& cut = section_ == Section::kJavaFrames ? report_.java_stack : report_.native_stack;
    if (!cut.frames.empty() && !cut.gap) cut.gap = cut.frames.size();
    return true;
  }
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

}  // namespace walkhammer
