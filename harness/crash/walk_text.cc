// SPDX-License-Identifier: Apache-2.0
#include "harness/crash/walk_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/request/symbol_table.h"

namespace walkhammer {

std::string_view ConfidenceWord(Confidence confidence) {
  switch (confidence) {
    case Confidence::kExact:
      return "exact";
    case Confidence::kLikely:
      return "likely";
    default:
      return "guess";
  }
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

}  // namespace walkhammer
