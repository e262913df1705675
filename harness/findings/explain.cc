// SPDX-License-Identifier: Apache-2.0
#include "harness/findings/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <iterator>
#include <span>

#include "harness/process/signal_name.h"
#include "harness/request/scene_table.h"
#include "harness/request/walker_table.h"

namespace walkhammer {
namespace {

// What a value's symbol stands for, of a kind that ExplainValue leaves to this; the name of a named
// kind follows.
constexpr const char* kSymbolWords[] = {
    "",
    "the scene's own value",
    "the top of the scene's Java stack",
    "",
    "the end (highest address) of the thread's stack",
    "the lowest address of the thread's stack, where its guard pages begin",
    "the scene's JavaThread",
    "the start of the Java heap",
    "the end of the Java heap",
    "the start of the metaspace mapping that holds the scene's methods",
    "the start of the code cache",
    "the end of the code cache",
    "an address at which nothing is mapped",
    "a page that may be neither read nor written",
    "a readable page full of zeros",
    "the first instruction of the compiled code of ",
    "the start of the VM stub ",
    "the start of the interpreter codelet ",
    "the Method* of ",
    "the start of ",
    "the end of ",
    "the top of the Java stack of the scene ",
    "the bytecode of ",
};
static_assert(std::size(kSymbolWords) == kSymbolKinds);

std::string SymbolWords(SymbolKind kind, const std::string& name) {
  if (kind >= SymbolKind::kCount) return "an unknown symbol";
  return kSymbolWords[static_cast<int>(kind)] + (IsNamed(kind) ? name : "");
}

std::string Distance(int64_t bytes) {
  const uint64_t size = bytes < 0 ? 0 - static_cast<uint64_t>(bytes) : static_cast<uint64_t>(bytes);
  return fmt::format("{:#x}", size);
}

const char* StateMeaning(uint8_t state) {
  switch (state) {
    case kStateInNative:
      return "as if it ran native code";
    case kStateInVm:
      return "as if it ran code of the VM";
    case kStateInJava:
      return "as if it ran Java code";
    case kStateBlocked:
      return "as if it were blocked in the VM";
    default:
      return "a state of transition, or of no life";
  }
}

// What si_code `code` of `signal` means (Linux: asm-generic/siginfo.h); "" for other codes.
std::string CodeMeaning(int signal, int code) {
  if (code == SI_KERNEL) return "sent by the kernel without an address";
  if (code <= 0) return "sent by a program";
  if (signal == SIGSEGV && code == SEGV_MAPERR) return "nothing is mapped at the address";
  if (signal == SIGSEGV && code == SEGV_ACCERR) return "the mapping forbids the access";
  if (signal == SIGBUS && code == BUS_ADRALN) return "misaligned access";
  if (signal == SIGBUS && code == BUS_ADRERR) return "no memory behind the mapping";
  return "";
}

std::string RegisterLine(const Registers& registers) {
  std::string text = fmt::format("  pc {:#018x}  sp {:#018x}  fp {:#018x}", registers.pc,
                                 registers.sp, registers.fp);
  if (registers.lr != 0) text += fmt::format("  lr {:#018x}", registers.lr);
  return text + "\n";
}

std::string Indented(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    out += fmt::format("  {}\n", text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string ReturnedText(const CrashCase& crash) {
  if (crash.raw == nullptr) return "  nothing: the process died\n";
  const RawFinding& raw = *crash.raw;
  if (raw.ending == Ending::kCrashed) return "  nothing: it crashed\n";
  if (raw.ending == Ending::kHung) return "  nothing: it did not come back in time\n";
  if (raw.num_frames <= 0) {
    const size_t index = raw.request.walker;
    const char* name =
        index < AllWalkers().size() ? CodeName(AllWalkers()[index], raw.num_frames) : nullptr;
    return fmt::format("  code {} ({})\n", raw.num_frames,
                       name == nullptr ? "not declared by this walker" : name);
  }
  std::string text = fmt::format("  {} frames", raw.num_frames);
  if (raw.kept_frames < raw.num_frames)
    text += fmt::format(", of which the first {} follow", raw.kept_frames);
  return text + "\n" + Indented(crash.record.frames);
}

std::string FaultText(const RawFinding& raw, const std::string& native) {
  const Fault& fault = raw.fault;
  std::string text;
  if (const std::string check = FieldText(fault.failed_check); !check.empty()) {
    text += fmt::format("  the JVM ends the process: {}\n", check);
  } else if (fault.signal != 0) {
    const std::string meaning = CodeMeaning(fault.signal, fault.code);
    text += fmt::format("  {}, si_code {}{}{}\n", SignalName(fault.signal), fault.code,
                        meaning.empty() ? "" : ": ", meaning);
    text += fmt::format("  address {:#x}{}\n", fault.address,
                        fault.address == 0 ? " (0 also stands for an address that the kernel"
                                             " does not tell)"
                                           : "");
  }
  if (fault.signal != 0 || fault.registers.pc != 0) text += RegisterLine(fault.registers);
  if (const std::string where = FieldText(raw.where); !where.empty())
    text += fmt::format("  the pc lies in {}\n", where);
  if (!native.empty()) text += "\nNative call chain, innermost first\n" + Indented(native);
  return text;
}

}  // namespace

std::string ExplainValue(const Value& value, const SymbolTable& symbols) {
  const Symbol& symbol = symbols.at(value.symbol);
  if (symbol.kind == SymbolKind::kLiteral)
    return fmt::format("the number {:#x}", static_cast<uint64_t>(value.addend));
  if (symbol.kind == SymbolKind::kSlot)
    return fmt::format("what the unchanged stack holds at stack{}{}", value.addend < 0 ? "-" : "+",
                       Distance(value.addend));
  const std::string what = SymbolWords(symbol.kind, FieldText(symbol.name));
  if (value.addend == 0) return what;
  return fmt::format("{} bytes {} {}", Distance(value.addend),
                     value.addend < 0 ? "before" : "after", what);
}

namespace {

std::string LineOf(std::string_view field, const std::string& words) {
  return fmt::format("  {:<9}{}\n", field, words);
}

std::string ExplainEdit(const Edit& edit, const SymbolTable& symbols) {
  const std::string slot =
      fmt::format("the word at stack{}{}", edit.slot < 0 ? "-" : "+", Distance(edit.slot));
  const std::string value = ExplainValue(edit.value, symbols);
  if (edit.op == EditOp::kXor) return fmt::format("{} is XORed with {}", slot, value);
  if (edit.op == EditOp::kAdd && edit.value.symbol == 0 && edit.value.addend < 0)
    return fmt::format("{} is decreased by the number {}", slot, Distance(edit.value.addend));
  if (edit.op == EditOp::kAdd) return fmt::format("{} is increased by {}", slot, value);
  return fmt::format("{} becomes {}", slot, value);
}

std::string ExplainEdits(const WalkRequest& request, const SymbolTable& symbols) {
  if (request.edit_count == 0) return LineOf("stack", "unchanged");
  std::string text;
  const size_t told = std::min<size_t>(request.edit_count, WalkRequest::kUsualEdits);
  for (const Edit& edit : std::span(request.edits, told))
    text += LineOf("edit", ExplainEdit(edit, symbols));
  if (request.edit_count > told)
    text +=
        LineOf("edit", fmt::format("and {} more words of the stack", request.edit_count - told));
  return text;
}

}  // namespace

std::string ExplainRequest(const WalkRequest& given, const SymbolTable& symbols) {
  const WalkRequest request = SaneRequest(given);
  std::string text;
  const auto line = [&text](std::string_view field, const std::string& words) {
    text += LineOf(field, words);
  };
  if (request.walker < AllWalkers().size()) {
    const WalkerInfo& walker = AllWalkers()[request.walker];
    line("walker", fmt::format("{}: {}", walker.name, walker.what));
  }
  if (request.against != 0)
    line("against", fmt::format("{}, which was shown the same before it",
                                AllWalkers()[request.against - 1U].name));
  if (request.scene < AllScenes().size()) {
    const SceneInfo& scene = AllScenes()[request.scene];
    line("scene", fmt::format("{}: {}", scene.name, scene.what));
  }
  if (request.origin == Origin::kSample) line("origin", "a sample of a running JVM, as it was");
  const char* state = StateWord(request.state);
  line("state",
       state == nullptr
           ? fmt::format("{:#x}: a thread state that HotSpot does not declare", request.state)
           : fmt::format("{}: {}", state, StateMeaning(request.state)));
  line("depth", fmt::format("at most {} frames", request.depth));
  if (request.options != 0) line("options", fmt::format("{:#x}", request.options));
  line("pc", ExplainValue(request.pc, symbols));
  line("sp", ExplainValue(request.sp, symbols));
  line("fp", ExplainValue(request.fp, symbols));
  if (request.lr != WalkRequest().lr) line("lr", ExplainValue(request.lr, symbols));
  switch (request.anchor) {
    case AnchorMode::kTrue:
      line("anchor", "set, with the scene's true last Java frame");
      break;
    case AnchorMode::kCustom:
      line("anchor", "set, with a last Java frame of its own:");
      line("  sp", ExplainValue(request.anchor_sp, symbols));
      line("  pc", ExplainValue(request.anchor_pc, symbols));
      line("  fp", ExplainValue(request.anchor_fp, symbols));
      break;
    case AnchorMode::kCleared:
    case AnchorMode::kCount:
      line("anchor", "cleared: the top frame can only come from the registers");
      break;
  }
  return text + ExplainEdits(request, symbols);
}

const char* RealismMeaning(Realism realism) {
  switch (realism) {
    case Realism::kGenuine:
      return "exactly what a profiler's signal would have seen";
    case Realism::kShifted:
      return "registers moved by a few bytes from what a signal would have seen";
    case Realism::kRandomRegisters:
      return "registers that a signal is unlikely to see, on a true stack";
    case Realism::kEditedStack:
      return "a stack with changed words, as after corruption or in a rare window";
    case Realism::kFailingLoad:
      return "a walk in which one load was made to fail, as if its page were gone";
    case Realism::kCount:
      break;
  }
  return "";
}

std::string ExplainCase(const CrashCase& crash) {
  const FindingRecord& record = crash.record;
  const bool is_death = record.oracle == kDeathOracleName;
  std::string text = record.signature.title + "\n\n";
  text += fmt::format("Grade      {} ({}/{})\n", GradeWord(record.grade), record.oracle,
                      record.outcome);
  if (!record.detail.empty()) text += fmt::format("Detail     {}\n", record.detail);
  if (crash.request != nullptr)
    text += fmt::format("Realism    {}: {}\n", RealismWord(record.realism),
                        RealismMeaning(record.realism));
  text += crash.tries == 0
              ? std::string("Confirmed  not replayed yet\n")
              : fmt::format("Confirmed  {} of {} replays\n", crash.confirmed, crash.tries);
  text += fmt::format("Seen       walk {}, {:.3f} s into the run\n", record.sequence,
                      static_cast<double>(record.time_ms) / 1000);
  if (!crash.jdk.empty()) text += fmt::format("JDK        {}\n", crash.jdk);
  text += fmt::format("Signature  {}\n", record.signature.key);
  if (crash.request != nullptr) {
    text += fmt::format("Replay     {}\n", crash.replay_command);
    text += "\nWhat the walker was shown (input.walk says the same)\n";
    text += ExplainRequest(*crash.request, *crash.symbols);
  } else if (is_death) {
    text += "\nThe walk that did this is not known, so there is no input to replay.\n";
  } else {
    text += "\nThis is of the whole program and not of one walk: there is no input to replay.\n";
  }
  if (crash.raw != nullptr)
    text += "\nRegister values in that walk\n" + RegisterLine(crash.raw->presented);
  if (crash.raw != nullptr && (crash.raw->fault.signal != 0 || crash.raw->fault.registers.pc != 0))
    text += "\nWhere the walker was\n" + FaultText(*crash.raw, record.native);
  if (crash.raw != nullptr || is_death)
    text += "\nWhat the walker returned\n" + ReturnedText(crash);
  if (!crash.hs_err_text.empty())
    text += "\nThe JVM wrote hs_err.log, which lies beside this file.\n";
  else if (is_death)
    text += "\nThe JVM left no hs_err log.\n";
  return text;
}

}  // namespace walkhammer
