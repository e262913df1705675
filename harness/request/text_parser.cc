// SPDX-License-Identifier: Apache-2.0
// The parser of the text form; the writer is in text_form.cc.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/nearest.h"
#include "harness/request/scene_table.h"
#include "harness/request/text_form.h"
#include "harness/request/text_words.h"
#include "harness/request/walker_table.h"

namespace walkhammer {
namespace {

constexpr uint64_t kSignBit = uint64_t{1} << 63;

// Error messages below contain these limits as numbers.
static_assert(WalkRequest::kMaxDepth == 16384 && WalkRequest::kMaxSlot == 0x3fffff8 + 8);

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Reads "0x" and hexadecimal digits, or decimal digits.
std::optional<uint64_t> ParseMagnitude(std::string_view digits) {
  int base = 10;
  if (digits.starts_with("0x")) {
    base = 16;
    digits.remove_prefix(2);
  }
  uint64_t number = 0;
  const char* end = digits.data() + digits.size();
  auto [stop, error] = std::from_chars(digits.data(), end, number, base);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

// Reads a number with an optional '-'. A number without '-' is at most `most`.
std::optional<int64_t> ParseSigned(std::string_view text, uint64_t most) {
  bool minus = text.starts_with('-');
  if (minus) text.remove_prefix(1);
  std::optional<uint64_t> magnitude = ParseMagnitude(text);
  if (!magnitude || *magnitude > (minus ? kSignBit : most)) return std::nullopt;
  return static_cast<int64_t>(minus ? 0 - *magnitude : *magnitude);
}

std::string Nearest(std::string_view wanted, std::span<const std::string_view> names) {
  std::string list;
  for (const std::string& name : NearestNames(wanted, names, 3))
    list += (list.empty() ? "; nearest: " : ", ") + name;
  return list;
}

// The names to suggest: puzzles only if `wanted` starts with "puzzle".
std::vector<std::string_view> WalkerNames(std::string_view wanted) {
  std::vector<std::string_view> names;
  for (const WalkerInfo& walker : AllWalkers())
    if (!walker.puzzle || wanted.starts_with("puzzle")) names.push_back(walker.name);
  return names;
}

std::vector<std::string_view> SceneNames() {
  std::vector<std::string_view> names;
  for (const SceneInfo& scene : AllScenes()) names.push_back(scene.name);
  return names;
}

class Parser {
 public:
  Parser(std::string_view text, std::string_view name, SymbolTable& symbols)
      : text_(text), name_(name), symbols_(symbols) {}

  // Parses the text. Returns the error message; empty on success.
  std::string Run() {
    while (!text_.empty() && error_.empty()) NextLine();
    if (!error_.empty()) return error_;
    if (first_seen_[Index(Field::kWalk)] == 0) {
      line_number_ = 1;
      FailAt(0, "empty: a .walk file starts with 'walk 1'");
    } else if (custom_line_ != 0 && file_.request.anchor != AnchorMode::kCustom) {
      line_number_ = custom_line_;
      FailAt(custom_column_, "anchor-sp, anchor-pc and anchor-fp need 'anchor custom'");
    }
    return error_;
  }

  const WalkFile& file() const { return file_; }

 private:
  void NextLine() {
    line_number_++;
    size_t end = std::min(text_.find('\n'), text_.size());
    raw_ = text_.substr(0, end);
    text_.remove_prefix(std::min(end + 1, text_.size()));
    line_ = TrimRight(WithoutComment(raw_, false));
    at_ = 0;
    SkipBlanks();
    if (at_ < line_.size()) ParseField();
  }

  bool ParseField() {
    const size_t start = at_;
    std::string_view word = Token();
    if (first_seen_[Index(Field::kWalk)] == 0 && word != kFieldWords[Index(Field::kWalk)])
      return FailAt(start, "expected 'walk 1' as the first field" + Got(word));
    const auto* found = std::find(std::begin(kFieldWords), std::end(kFieldWords), word);
    if (found == std::end(kFieldWords))
      return FailAt(start, "unknown field" + Quoted(word) + Nearest(word, kFieldWords));
    const auto field = static_cast<Field>(found - std::begin(kFieldWords));
    int& first = first_seen_[Index(field)];
    if (first != 0 && field != Field::kEdit)
      return FailAt(start,
                    "duplicate field" + Quoted(word) + ": first on line " + std::to_string(first));
    first = line_number_;
    if (field == Field::kExpect) return ParseExpect();
    if (field >= Field::kAnchorSp && field <= Field::kAnchorFp && custom_line_ == 0) {
      custom_line_ = line_number_;
      custom_column_ = start;
    }
    SkipBlanks();
    return ParseContent(field, start) && ExpectEnd();
  }

  bool ParseContent(Field field, size_t start) {
    WalkRequest& request = file_.request;
    switch (field) {
      case Field::kWalk:
        return ParseVersion();
      case Field::kWalker:
        return ParseWalker(request.walker);
      case Field::kAgainst:
        if (!ParseWalker(request.against)) return false;
        request.against++;
        return true;
      case Field::kScene:
        return ParseScene();
      case Field::kArch:
        return ParseArch();
      case Field::kOrigin:
        return ParseWord(kOriginWords, "'made' or 'sample'", request.origin);
      case Field::kState:
        return ParseState();
      case Field::kDepth:
        return ParseLimited(1, WalkRequest::kMaxDepth, "a depth of 1 .. 16384 frames",
                            request.depth);
      case Field::kOptions:
        return ParseLimited(0, UINT32_MAX, "option bits, 0x0 .. 0xffffffff", request.options);
      case Field::kAnchor:
        return ParseWord(kAnchorWords, "'cleared', 'true' or 'custom'", request.anchor);
      case Field::kAnchorSp:
        return ParseValue(request.anchor_sp);
      case Field::kAnchorPc:
        return ParseValue(request.anchor_pc);
      case Field::kAnchorFp:
        return ParseValue(request.anchor_fp);
      case Field::kPc:
        return ParseValue(request.pc);
      case Field::kSp:
        return ParseValue(request.sp);
      case Field::kFp:
        return ParseValue(request.fp);
      case Field::kLr:
        return ParseValue(request.lr);
      case Field::kFault:
        return ParseLimited(1, UINT32_MAX, "the number of a load, 1 .. 4294967295", request.fault);
      case Field::kEdit:
        return ParseEdit(start);
      case Field::kExpect:
      case Field::kCount:
        break;
    }
    return FailAt(start, "unknown field");
  }

  bool ParseVersion() {
    const size_t start = at_;
    std::string_view token = Token();
    if (token.empty() || !std::all_of(token.begin(), token.end(), IsDigit))
      return FailAt(start, "expected the format version, a number" + Got(token));
    if (ParseMagnitude(token) == uint64_t{1}) return true;
    return FailAt(start, "another version of walkhammer wrote walk format " + Excerpt(token) +
                             "; this one reads 1");
  }

  bool ParseWalker(uint8_t& walker) {
    const size_t start = at_;
    std::string_view token = Token();
    if (token.empty()) return FailAt(start, "expected the name of a walker");
    std::optional<int> index = FindWalker(token);
    if (!index)
      return FailAt(start, "unknown walker" + Quoted(token) + Nearest(token, WalkerNames(token)) +
                               " (all: walkhammer show walkers)");
    walker = static_cast<uint8_t>(*index);
    return true;
  }

  bool ParseScene() {
    const size_t start = at_;
    std::string_view token = Token();
    if (token.empty()) return FailAt(start, "expected the name of a scene");
    std::optional<int> index = FindScene(token);
    if (!index)
      return FailAt(start, "unknown scene" + Quoted(token) + Nearest(token, SceneNames()) +
                               " (all: walkhammer show scenes)");
    file_.request.scene = static_cast<uint8_t>(*index);
    return true;
  }

  bool ParseArch() {
    size_t arch = 0;
    if (!ParseWord(kArchWords, "'x86_64' or 'aarch64'", arch)) return false;
    file_.arch = kArchWords[arch];
    return true;
  }

  bool ParseState() {
    if (at_ < line_.size() && IsDigit(line_[at_]))
      return ParseLimited(0, UINT8_MAX, "a thread state number, 0 .. 255", file_.request.state);
    const size_t start = at_;
    std::string_view token = Token();
    if (token.empty())
      return FailAt(start, "expected a thread state such as in_Java, or a number 0 .. 255");
    std::vector<std::string_view> words;
    for (int state = 0; state <= UINT8_MAX; state++) {
      const char* word = StateWord(static_cast<uint8_t>(state));
      if (word == nullptr) continue;
      words.emplace_back(word);
      if (token != word) continue;
      file_.request.state = static_cast<uint8_t>(state);
      return true;
    }
    return FailAt(start, "unknown thread state" + Quoted(token) + Nearest(token, words) +
                             "; or a number 0 .. 255");
  }

  bool ParseEdit(size_t start) {
    WalkRequest& request = file_.request;
    if (request.edit_count >= WalkRequest::kMaxEdits)
      return FailAt(start,
                    "too many edits: expected at most " + std::to_string(WalkRequest::kMaxEdits));
    Edit& edit = request.edits[request.edit_count];
    edit = Edit{};
    if (!ParseSlot(edit.slot)) return false;
    SkipBlanks();
    if (!ParseWord(kOpWords, "'=', '^' or '+'", edit.op)) return false;
    SkipBlanks();
    if (!ParseValue(edit.value)) return false;
    request.edit_count++;
    return true;
  }

  bool ParseSlot(int32_t& slot) {
    constexpr std::string_view kBase = "stack";
    const size_t start = at_;
    std::string_view token = Token();
    std::string_view addend = token.substr(std::min(kBase.size(), token.size()));
    std::optional<int64_t> bytes = addend.empty() ? 0 : ParseAddend(addend);
    if (!token.starts_with(kBase) || !bytes)
      return FailAt(start, "expected a stack slot such as stack+0x48" + Got(token));
    if (*bytes % 8 != 0 || *bytes < 0 || *bytes >= WalkRequest::kMaxSlot)
      return FailAt(start,
                    "expected a slot of stack+0x0 .. stack+0x3fffff8 in steps of 8" + Got(token));
    slot = static_cast<int32_t>(*bytes);
    return true;
  }

  bool ParseExpect() {
    line_ = TrimRight(raw_.substr(0, at_ + WithoutComment(raw_.substr(at_), true).size()));
    SkipBlanks();
    if (at_ >= line_.size()) return FailAt(at_, "expected the signature that this reproduces");
    file_.expect = line_.substr(at_);
    return true;
  }

  bool ParseValue(Value& value) {
    const size_t start = at_;
    if (line_.substr(at_).starts_with(kSignedWord) && Token() == kSignedWord) {
      SkipBlanks();
      if (!ParseUnsigned(value)) return false;
      value.is_signed = 1;
      return true;
    }
    at_ = start;
    return ParseUnsigned(value);
  }

  bool ParseUnsigned(Value& value) {
    if (at_ < line_.size() && (IsDigit(line_[at_]) || line_[at_] == '-'))
      return ParseLiteral(value);
    const size_t start = at_;
    std::string_view word = KindToken();
    if (word.empty())
      return FailAt(start,
                    "expected a value: a number, or a kind such as pristine, stack or nmethod" +
                        Got(Token()));
    std::optional<SymbolKind> kind = KindFromWord(word);
    if (!kind) {
      std::vector<std::string_view> words;
      words.reserve(kSymbolKinds);
      for (int i = 0; i < kSymbolKinds; i++) words.push_back(KindWord(static_cast<SymbolKind>(i)));
      return FailAt(start, "unknown kind" + Quoted(word) + Nearest(word, words));
    }
    SkipBlanks();
    std::string_view name;
    if (IsNamed(*kind) && !ParseName(word, name)) return false;
    value.symbol = symbols_.Intern(*kind, name);
    if (symbols_.at(value.symbol).kind != *kind)
      return FailAt(start, "no room for another name: expected at most " +
                               std::to_string(SymbolTable::kCapacity - kSymbolKinds));
    return ParseOptionalAddend(value);
  }

  bool ParseLiteral(Value& value) {
    const size_t start = at_;
    std::string_view token = Token();
    std::optional<int64_t> number = ParseSigned(token, UINT64_MAX);
    if (!number) return FailAt(start, "expected a number of at most 64 bits" + Got(token));
    value = Value{*number};
    return true;
  }

  bool ParseName(std::string_view word, std::string_view& name) {
    const size_t start = at_;
    if (at_ >= line_.size() || line_[at_] != '"')
      return FailAt(start, "expected a quoted name after" + Quoted(word) + Got(Token()));
    size_t end = line_.find('"', start + 1);
    if (end == std::string_view::npos) return FailAt(start, "expected '\"' at the end of the name");
    name = line_.substr(start + 1, end - start - 1);
    if (name.empty()) return FailAt(start, "expected a name between the quotes");
    at_ = end + 1;
    return true;
  }

  bool ParseOptionalAddend(Value& value) {
    SkipBlanks();
    if (at_ >= line_.size()) return true;
    const size_t start = at_;
    std::string_view token = Token();
    std::optional<int64_t> addend = ParseAddend(token);
    if (!addend) return FailAt(start, "expected an addend such as +0x8 or -0x8" + Got(token));
    value.addend = *addend;
    return true;
  }

  // Reads a sign and a number, together within int64_t.
  static std::optional<int64_t> ParseAddend(std::string_view token) {
    if (token.starts_with('-')) return ParseSigned(token, 0);
    if (!token.starts_with('+') || token.substr(1).starts_with('-')) return std::nullopt;
    return ParseSigned(token.substr(1), std::numeric_limits<int64_t>::max());
  }

  template <typename T>
  bool ParseLimited(uint64_t least, uint64_t most, const char* what, T& target) {
    const size_t start = at_;
    std::string_view token = Token();
    std::optional<uint64_t> number = ParseMagnitude(token);
    if (!number || *number < least || *number > most)
      return FailAt(start, std::string("expected ") + what + Got(token));
    target = static_cast<T>(*number);
    return true;
  }

  template <typename T>
  bool ParseWord(std::span<const std::string_view> words, const char* what, T& target) {
    const size_t start = at_;
    std::string_view token = Token();
    const auto found = std::find(words.begin(), words.end(), token);
    if (found == words.end()) return FailAt(start, std::string("expected ") + what + Got(token));
    target = static_cast<T>(found - words.begin());
    return true;
  }

  bool ExpectEnd() {
    SkipBlanks();
    if (at_ >= line_.size()) return true;
    const size_t start = at_;
    return FailAt(start, "expected the end of the line" + Got(Token()));
  }

  void SkipBlanks() {
    while (at_ < line_.size() && IsBlank(line_[at_])) at_++;
  }

  // The text up to the next white space; empty at the end of the line.
  std::string_view Token() {
    const size_t start = at_;
    while (at_ < line_.size() && !IsBlank(line_[at_])) at_++;
    return line_.substr(start, at_ - start);
  }

  // Letters, with single '-' between letters. The '-' of an addend is left out: a digit follows it.
  std::string_view KindToken() {
    const size_t start = at_;
    auto letter_at = [this](size_t i) { return i < line_.size() && IsLetter(line_[i]); };
    while (letter_at(at_) ||
           (at_ > start && at_ < line_.size() && line_[at_] == '-' && letter_at(at_ + 1)))
      at_++;
    return line_.substr(start, at_ - start);
  }

  static std::string Excerpt(std::string_view token) {
    constexpr size_t kMost = 40;
    std::string text(token.substr(0, kMost));
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    return token.size() > kMost ? text + "..." : text;
  }
  static std::string Quoted(std::string_view token) { return " '" + Excerpt(token) + "'"; }
  static std::string Got(std::string_view token) {
    return token.empty() ? "" : ", got" + Quoted(token);
  }

  // Records an error at `offset` of the line. Returns false, which callers return in turn.
  bool FailAt(size_t offset, const std::string& what) {
    error_ = std::string(name_) + ":" + std::to_string(line_number_) + ":" +
             std::to_string(offset + 1) + ": " + what;
    return false;
  }

  std::string_view text_;  // the lines not yet read
  std::string_view name_;
  SymbolTable& symbols_;
  WalkFile file_;
  std::string error_;
  int line_number_ = 0;
  std::string_view raw_;                       // the current line
  std::string_view line_;                      // `raw_` without comment and trailing spaces
  size_t at_ = 0;                              // read position in line_
  int first_seen_[Index(Field::kCount)] = {};  // line number of each field; 0: not seen
  int custom_line_ = 0;                        // line number of the first anchor-* field; 0: none
  size_t custom_column_ = 0;
};

}  // namespace

std::string ParseText(std::string_view text, std::string_view name, SymbolTable& symbols,
                      WalkFile& file) {
  Parser parser(text, name, symbols);
  std::string error = parser.Run();
  if (error.empty()) file = parser.file();
  return error;
}

}  // namespace walkhammer
