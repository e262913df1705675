// SPDX-License-Identifier: Apache-2.0
#include "harness/crash/core/expected_stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

#include "harness/base/text.h"
#include "harness/process/signal_name.h"
#include "harness/request/walk_request.h"

namespace walkhammer {
namespace {

constexpr const char* kFrameTypes[] = {"interpreted", "c1", "c2", "inlined", "native", "stub", "c"};
constexpr char kSignalWord[] = "signal";

template <typename Number>
bool ReadInteger(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

bool ReadPlace(const std::string& word, int& nth) {
  if (word == "registers" || word == kSignalWord) {
    nth = word == kSignalWord ? 1 : 0;
    return true;
  }
  const std::string prefix = std::string(kSignalWord) + "-";
  return word.starts_with(prefix) &&
         ReadInteger(std::string_view(word).substr(prefix.size()), nth) && nth >= 2;
}

// What is wrong with the line; empty: nothing.
std::string ReadThread(const std::vector<std::string>& words, ExpectedStack& stack) {
  if (words.size() < 2 || !ReadInteger(words[1], stack.tid) || stack.tid <= 0)
    return "a thread needs its id, as in: thread 4711";
  if (words.size() > 3 || (words.size() == 3 && !ReadPlace(words[2], stack.nth_signal)))
    return "after a thread's id comes registers, signal, or signal-2 and so on";
  return "";
}

std::string ReadExpectedFrame(const std::vector<std::string>& words, ExpectedFrame& frame) {
  frame.name = words[0];
  frame.any = words[0] == "...";
  for (size_t i = 1; i < words.size(); i++) {
    const std::string& word = words[i];
    const std::string_view number = std::string_view(word).substr(1);
    int32_t value = 0;
    if (word == "guess" && !frame.any)
      frame.guessed = true;
    else if ((word[0] == '@' || word[0] == ':') && !frame.any && ReadInteger(number, value))
      (word[0] == '@' ? frame.bci : frame.line) = value;
    else if (!frame.any && std::find(std::begin(kFrameTypes), std::end(kFrameTypes), word) !=
                               std::end(kFrameTypes))
      frame.type = word;
    else
      return fmt::format("{} is neither @BCI, :LINE, guess nor one of {}", word,
                         fmt::join(kFrameTypes, ", "));
  }
  for (size_t i = 0; i < words.size(); i++) frame.text += (i == 0 ? "" : " ") + words[i];
  return "";
}

bool IsEnd(const std::string& word) {
  for (int end = 0; end < kWalkEnds; end++)
    if (word == WalkEndWord(static_cast<WalkEnd>(end))) return true;
  return false;
}

// Reads one line, without its comment. `closed`: the last thread has an end.
std::string ReadExpectedLine(const std::vector<std::string>& words,
                             std::vector<ExpectedStack>& stacks, bool& closed) {
  if (words[0] == "thread") {
    closed = false;
    return ReadThread(words, stacks.emplace_back());
  }
  if (stacks.empty() || closed) return "a frame, or an end, without a line of its thread";
  if (words[0] != "end") return ReadExpectedFrame(words, stacks.back().frames.emplace_back());
  closed = true;
  if (words.size() != 2 || !IsEnd(words[1])) return "end needs one word, as in: end whole";
  stacks.back().end = words[1];
  return "";
}

bool SameName(const std::string& expected, const std::string& walked) {
  if (expected.find('(') != std::string::npos) return expected == walked;
  return expected == walked.substr(0, walked.find('('));
}

bool IsAs(const ExpectedFrame& expected, const CoreFrame& walked) {
  return SameName(expected.name, walked.name) && expected.bci.value_or(walked.bci) == walked.bci &&
         expected.line.value_or(walked.line) == walked.line &&
         (expected.type.empty() || expected.type == FrameTypeWord(walked)) &&
         (!expected.guessed || walked.guessed);
}

// The first walked frame from which on the expected frames [first, last) follow each other, at or
// after `from`; the number of walked frames if there is none.
size_t Locate(const std::vector<ExpectedFrame>& expected, size_t first, size_t last,
              const std::vector<CoreFrame>& walked, size_t from) {
  for (size_t at = from; at + (last - first) <= walked.size(); at++) {
    size_t same = 0;
    while (first + same < last && IsAs(expected[first + same], walked[at + same])) same++;
    if (first + same == last) return at;
  }
  return walked.size();
}

std::string TextAt(const std::vector<CoreFrame>& frames, size_t at) {
  return at < frames.size() ? FrameText(frames[at]) : "";
}

// Sets the difference if there is one. After "...", the frames up to the next "..." are looked for
// together; at the end of the stack they are its last ones.
bool StackDiffers(const ExpectedStack& expected, const CoreStack& walked,
                  StackDifference& difference) {
  const auto& frames = expected.frames;
  size_t at = 0;
  bool any = false;
  const auto differs = [&](size_t frame, const std::string& text) {
    difference.frame = frame;
    difference.expected = text;
    difference.walked = TextAt(walked.frames, frame);
    return true;
  };
  for (size_t i = 0; i < frames.size(); i++) {
    if (frames[i].any) {
      any = true;
      continue;
    }
    if (any) {
      size_t last = i;
      while (last < frames.size() && !frames[last].any) last++;
      const size_t rest = walked.frames.size() - std::min(walked.frames.size(), last - i);
      const size_t from = last == frames.size() ? std::max(at, rest) : at;
      const size_t found = Locate(frames, i, last, walked.frames, from);
      if (found == walked.frames.size()) return differs(from, frames[i].text);
      at = found;
      any = false;
    }
    if (at >= walked.frames.size() || !IsAs(frames[i], walked.frames[at]))
      return differs(at, frames[i].text);
    at++;
  }
  if (!any && at < walked.frames.size()) return differs(at, "");
  const std::string end = WalkEndWord(walked.end);
  if (expected.end.empty() || expected.end == end) return false;
  difference = {expected.tid, expected.nth_signal, walked.frames.size(), "end " + expected.end,
                "end " + end};
  return true;
}

}  // namespace

const char* FrameTypeWord(const CoreFrame& frame) {
  switch (frame.type) {
    case asgst::FrameType::kInlined:
      return "inlined";
    case asgst::FrameType::kNative:
      return "native";
    case asgst::FrameType::kStub:
      return "stub";
    case asgst::FrameType::kCpp:
      return "c";
    case asgst::FrameType::kJava:
      break;
  }
  return frame.level == 0 ? "interpreted" : frame.level == 4 ? "c2" : "c1";
}

std::string PlaceWord(int nth_signal) {
  if (nth_signal == 0) return "registers";
  return nth_signal == 1 ? kSignalWord : fmt::format("{}-{}", kSignalWord, nth_signal);
}

std::string FrameText(const CoreFrame& frame) {
  std::string text = frame.name;
  if (frame.bci >= 0) text += fmt::format(" @{}", frame.bci);
  if (frame.line >= 0) text += fmt::format(" :{}", frame.line);
  text += fmt::format(" {}", FrameTypeWord(frame));
  return frame.guessed ? text + " guess" : text;
}

std::string StateText(uint8_t state) {
  const char* word = StateWord(state);
  return word == nullptr ? fmt::format("state {}", state) : word;
}

std::string StacksText(const CoreWalk& walk) {
  std::string text = fmt::format("# JDK {}, {}: {} threads, {} of them of Java\n", walk.version,
                                 walk.arch, walk.threads, walk.java_threads);
  if (walk.is_cut_off) text += "# the core is cut off: stacks may lack frames\n";
  size_t without_java = 0;
  for (const CoreStack& stack : walk.stacks) {
    if (stack.frames.empty() && stack.end == WalkEnd::kNoJava && walk.stacks.size() > 1) {
      without_java++;
      continue;
    }
    text += fmt::format("thread {} {}  # {}", stack.tid, PlaceWord(stack.nth_signal),
                        StateText(stack.state));
    text += stack.nth_signal == 0 ? "\n" : fmt::format(", {}\n", SignalName(stack.signal));
    for (const CoreFrame& frame : stack.frames) {
      text += "  " + FrameText(frame);
      text += frame.function.empty() ? "\n" : fmt::format("  # {}\n", Printable(frame.function));
    }
    text += fmt::format("end {}\n", WalkEndWord(stack.end));
  }
  if (without_java > 0)
    text += fmt::format("# {} threads of Java have no Java frame\n", without_java);
  if (walk.left_out > 0)
    text += fmt::format("# {} more threads are left out: --thread TID walks one\n", walk.left_out);
  return text;
}

Result<std::vector<ExpectedStack>> ParseStacks(const std::string& text, const std::string& name) {
  std::vector<ExpectedStack> stacks;
  std::set<std::pair<int32_t, int>> known;
  bool closed = false;
  int number = 0;
  for (const std::string& line : Split(text, '\n')) {
    number++;
    const std::vector<std::string> words = Words(std::string_view(line).substr(0, line.find('#')));
    if (words.empty()) continue;
    std::string wrong = ReadExpectedLine(words, stacks, closed);
    if (wrong.empty() && words[0] == "thread" &&
        !known.insert({stacks.back().tid, stacks.back().nth_signal}).second)
      wrong = "this thread is there already";
    if (!wrong.empty()) return BadInput(fmt::format("{}, line {}: {}", name, number, wrong));
  }
  if (stacks.empty()) return BadInput(name + " names no thread, so it expects nothing");
  return stacks;
}

StackComparison CompareStacks(const CoreWalk& walk, const std::vector<ExpectedStack>& expected,
                              int32_t tid) {
  StackComparison result;
  std::map<std::pair<int32_t, int>, const CoreStack*> walked;
  for (const CoreStack& stack : walk.stacks) walked[{stack.tid, stack.nth_signal}] = &stack;
  for (const ExpectedStack& stack : expected) {
    if (tid != 0 && stack.tid != tid) continue;
    StackDifference difference;
    difference.tid = stack.tid;
    difference.nth_signal = stack.nth_signal;
    const auto found = walked.find({stack.tid, stack.nth_signal});
    if (found == walked.end()) {
      difference.expected = stack.frames.empty() ? "this thread" : stack.frames[0].text;
      result.differences.push_back(difference);
      continue;
    }
    if (StackDiffers(stack, *found->second, difference))
      result.differences.push_back(difference);
    else
      result.equal++;
    walked.erase(found);
  }
  result.not_expected = walked.size();
  return result;
}

}  // namespace walkhammer
