// SPDX-License-Identifier: Apache-2.0
#include "harness/crash/walk_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/request/symbol_table.h"

namespace walkhammer {
namespace {

constexpr char kMethod[] = "wh.Sampled.interpPass()V";
constexpr char kCode[] = "wh.Sampled.bestDown(Ljava/lang/String;J)J";

}  // namespace

std::string_view ConfidenceWord(Confidence confidence) {
  static constexpr std::string_view kWords[] = {"exact", "likely", "guess"};
  return kWords[static_cast<size_t>(confidence)];
}

WalkText::WalkText(std::string_view walker, std::string_view scene) {
  Set("walker", walker);
  Set("scene", scene);
}

void WalkText::Set(std::string_view field, std::string_view value) {
  for (auto& [name, text] : fields_)
    if (name == field) {
      text = value;
      return;
    }
  fields_.emplace_back(field, value);
}

void WalkText::Word(int32_t slot, std::string_view value) {
  for (auto& [at, text] : words_)
    if (at == slot) {
      text = value;
      return;
    }
  words_.emplace_back(slot, value);
}

void WalkText::Note(std::string_view field, Confidence confidence, std::string_view why) {
  notes_.push_back({std::string(field), confidence, std::string(why)});
}

std::string WalkText::Text() const {
  std::string text = "walk 1\n";
  for (const auto& [name, value] : fields_) text += name + " " + value + "\n";
  for (const auto& [slot, value] : words_)
    text += fmt::format("edit stack+{:#x} = {}\n", slot, value);
  return text;
}

std::string NamedValue(std::string_view kind, std::string_view name, uint64_t offset) {
  return fmt::format("{} \"{}\"{}", kind, CleanName(name),
                     offset == 0 ? "" : fmt::format("+{:#x}", offset));
}

std::string StackValue(int32_t slot) { return fmt::format("stack+{:#x}", slot); }

void WriteInterpreted(const InterpretedFrame& frame, int feature, WalkText& walk) {
  const int32_t fp = frame.fp;
  walk.Word(fp + 8, frame.return_pc);
  walk.Word(fp, frame.link.empty() ? StackValue(frame.caller) : frame.link);
  walk.Word(fp - 8, frame.sender_sp.empty() ? StackValue(fp + 0x10) : frame.sender_sp);
  walk.Word(MethodSlot(fp), frame.method);
  const int32_t mirror_bytes = feature < 9 ? 0 : 8;
  walk.Word(fp - 0x28 - mirror_bytes, frame.cache);
  // Locals: an address before JDK 21, a distance from fp in words since.
  walk.Word(fp - 0x30 - mirror_bytes, feature >= 21 ? "0x2" : StackValue(fp + 0x10));
  walk.Word(fp - 0x38 - mirror_bytes, frame.bcp);
  walk.Word(fp - 0x40 - mirror_bytes, feature >= 22 ? "-9" : StackValue(fp - 0x40 - mirror_bytes));
}

std::string CallCodelet() { return NamedValue("codelet", "invoke return entry points", 7); }

std::string KnownMethod(int64_t addend) {
  return fmt::format(
      "method \"{}\"{}", kMethod,
      addend == 0 ? ""
                  : fmt::format("{}{:#x}", addend < 0 ? "-" : "+", addend < 0 ? -addend : addend));
}

std::string KnownBytecodes() { return NamedValue("bytecodes", kMethod); }

std::string KnownCode(uint64_t offset) { return NamedValue("nmethod", kCode, offset); }

}  // namespace walkhammer
