// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "harness/base/text.h"

namespace walkhammer {
namespace {

// Where the cursor is, by the words before its own.
struct CursorPlace {
  const VerbHelp* verb = nullptr;
  const OptionHelp* wants = nullptr;  // the option whose value comes next; null: none does
  bool has_value = false;             // `wants` has one already, and takes several
  bool for_jvm = false;               // after "--"
  size_t arguments = 0;
  std::set<std::string> used;  // names of options
};

// "-h,--help" -> "--help"; of an argument: its name.
std::string LongName(const OptionHelp& option) {
  const size_t dashes = option.name.find("--");
  return dashes == option.name.npos ? option.name : option.name.substr(dashes);
}

const OptionHelp* FindOption(const VerbHelp& verb, std::string_view name) {
  for (const OptionHelp& option : verb.options)
    if (LongName(option) == name) return &option;
  return nullptr;
}

void Pass(const std::string& word, CursorPlace& place) {
  if (word.starts_with("-")) {
    const std::string name = word.substr(0, word.find('='));
    place.used.insert(name);
    place.for_jvm = word == "--";
    const OptionHelp* option = FindOption(*place.verb, name);
    const bool takes = option != nullptr && !option->kind.empty() && name == word;
    place.wants = takes ? option : nullptr;
    place.has_value = false;
    return;
  }
  if (place.wants != nullptr && !place.has_value) {
    place.has_value = true;
    if (!place.wants->several) place.wants = nullptr;
    return;
  }
  if (place.wants != nullptr) return;  // one more of several
  if (const VerbHelp* below = FindVerb(*place.verb, word); below != nullptr)
    place.verb = below;
  else
    place.arguments++;
}

class Offer {
 public:
  explicit Offer(std::string word) : word_(std::move(word)) {}

  // Offers `value` behind `before`, if the word begins so.
  void Add(const std::string& before, const std::string& value, const std::string& what) {
    if ((before + value).starts_with(word_)) done_.choices.push_back({before + value, what});
  }
  // `before`: the part of the word that the value follows, as "--walker=".
  void AddValues(const OptionHelp& option, std::string before) {
    for (const std::string& part : Split(option.kind, '|')) {
      if (part.starts_with("FILE") || part == "PATH") done_.files = true;
      if (part == "DIR" || part == "RUN" || part == "NIGHT" || part == "JDK") done_.folders = true;
      if (std::islower(static_cast<unsigned char>(part[0])) != 0) Add(before, part, "");
    }
    const std::string listed = word_.substr(0, word_.rfind(',') + 1);
    if (option.kind.ends_with(",NAME...]") && !listed.empty()) before = listed;
    for (const NamedChoice& choice : ChoicesFor(LongName(option)))
      Add(before, choice.value, choice.what);
  }
  void AddVerbs(const VerbHelp& verb) {
    for (const VerbHelp& below : verb.verbs) Add("", below.name(), below.what);
  }
  void AddOptions(const CursorPlace& place) {
    for (const OptionHelp& option : place.verb->options) {
      const std::string name = LongName(option);
      const bool excluded =
          std::any_of(option.excludes.begin(), option.excludes.end(),
                      [&](const std::string& other) { return place.used.contains(other); });
      if (!excluded && (option.many || !place.used.contains(name))) Add("", name, option.what);
    }
  }
  bool empty() const { return done_.choices.empty() && !done_.files && !done_.folders; }
  Completions Take() { return std::move(done_); }

 private:
  std::string word_;
  Completions done_;
};

void AddWord(const VerbHelp& command, const CursorPlace& place, Offer& offer) {
  offer.AddVerbs(*place.verb);
  if (place.verb == &command) {
    offer.Add("", "help", "What a verb does, and its options");
    offer.Add("", "version", "Which walkhammer this is");
  }
  const auto& arguments = place.verb->arguments;
  if (arguments.empty()) return;
  const size_t at = std::min(place.arguments, arguments.size() - 1);
  if (place.arguments == at || arguments[at].many) offer.AddValues(arguments[at], "");
}

}  // namespace

Completions Complete(const VerbHelp& command, const std::vector<std::string>& words) {
  const std::string word = words.empty() ? "" : words.back();
  const bool help = words.size() > 1 && words[0] == "help";
  CursorPlace place;
  place.verb = &command;
  for (size_t i = help ? 1 : 0; i + 1 < words.size() && !place.for_jvm; i++) Pass(words[i], place);
  Offer offer(word);
  const size_t equals = word.find('=');
  if (place.for_jvm) return {};
  if (help) {
    offer.AddVerbs(*place.verb);
  } else if (word.starts_with("--") && equals != word.npos) {
    const OptionHelp* option = FindOption(*place.verb, word.substr(0, equals));
    if (option != nullptr && !option->kind.empty())
      offer.AddValues(*option, word.substr(0, equals + 1));
  } else if (word.starts_with("-")) {
    offer.AddOptions(place);
  } else if (place.wants != nullptr) {
    offer.AddValues(*place.wants, "");
  } else {
    AddWord(command, place, offer);
    if (word.empty() && offer.empty()) offer.AddOptions(place);
  }
  return offer.Take();
}

std::string CompletionLines(const Completions& completions) {
  std::string lines;
  for (const NamedChoice& choice : completions.choices)
    lines += fmt::format("{}\t{}\n", choice.value, choice.what);
  if (completions.files) lines += ":files\n";
  if (completions.folders) lines += ":folders\n";
  return lines;
}

}  // namespace walkhammer
