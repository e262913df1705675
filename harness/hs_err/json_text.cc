// SPDX-License-Identifier: Apache-2.0
#include "harness/hs_err/json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "harness/hs_err/crash_report.h"
#include "harness/hs_err/cursor.h"
#include "harness/hs_err/frames.h"
#include "harness/hs_err/json_scanner.h"
#include "harness/hs_err/prefixes.h"

namespace walkhammer {
namespace {

// A string and the key before it; elements of a list have the key of the list.
struct JsonString {
  std::string key, value;
  size_t begin = 0, end = 0;
};

// Calls `f` with each string of a line that is not a key.
template <typename F>
void EachString(std::string_view line, F&& f) {
  JsonScanner scanner(line);
  JsonToken token;
  JsonString string;
  bool pending = false;  // `string.value` may turn out to be a key
  while (scanner.Next(token)) {
    if (pending && token.Is(':')) string.key = std::move(string.value);
    if (pending && !token.Is(':')) f(string);
    pending = token.kind == JsonToken::Kind::kString;
    if (!pending) continue;
    string.value = std::move(token.text);
    string.begin = token.begin;
    string.end = token.end;
  }
  if (pending) f(string);
}

std::string_view LineAt(std::string_view text, size_t at) {
  const size_t before = text.rfind('\n', at);
  const size_t begin = before == std::string_view::npos ? 0 : before + 1;
  return text.substr(begin, text.find('\n', at) - begin);
}

// The key of the string in which `at` lies; none if it lies in no string.
std::optional<std::string> KeyAt(std::string_view text, size_t at) {
  const std::string_view line = LineAt(text, at);
  const size_t in_line = at - static_cast<size_t>(line.data() - text.data());
  std::optional<std::string> key;
  EachString(line, [&](const JsonString& string) {
    if (string.begin < in_line && in_line < string.end && !key) key = string.key;
  });
  return key;
}

// The key whose strings have as many lines of a crash as the text has, but for one that may be cut;
// none if there is no such key.
std::optional<std::string> KeyOfCrashLines(std::string_view text) {
  const std::string_view sample = text.substr(0, size_t{512} << 10);
  if (sample.find('"') == std::string_view::npos) return {};
  std::map<std::string, int> counts;
  std::string_view rest = sample;
  while (!rest.empty()) {
    const size_t newline = std::min(rest.find('\n'), rest.size() - 1);
    EachString(rest.substr(0, newline + 1), [&](const JsonString& string) {
      const auto inner = string.value.starts_with('{') ? TextInJson(string.value) : std::nullopt;
      counts[string.key] += CountCrashLines(inner ? *inner : string.value);
    });
    rest.remove_prefix(newline + 1);
  }
  const auto best =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (best == counts.end() || best->second == 0) return {};
  constexpr int kFewestToLackOne = 4;
  const int lacking = best->second >= kFewestToLackOne ? 1 : 0;
  const bool is_whole = best->second + lacking >= CountCrashLines(sample);
  return is_whole ? std::optional(best->first) : std::nullopt;
}

// The strings with the key, each with a line end unless it is cut; lines without one as they are.
std::string StringsOf(std::string_view text, const std::string& key) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t newline = std::min(text.find('\n'), text.size() - 1);
    const std::string_view line = text.substr(0, newline + 1);
    text.remove_prefix(newline + 1);
    bool any = false;
    if (line.find('"') != std::string_view::npos)
      EachString(line, [&](const JsonString& string) {
        if (string.key != key) return;
        any = true;
        out += string.value;
        const bool is_cut = text.empty() && string.end == line.size() && !line.ends_with('"');
        if (!is_cut && !string.value.ends_with('\n')) out += '\n';
      });
    if (!any) out += line;
  }
  return out;
}

using Fields = std::map<std::string, std::string>;

std::string FieldOf(const Fields& fields, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const auto found = fields.find(name); found != fields.end() && found->second != "null")
      return found->second;
  return "";
}

bool IsStackFrame(const Fields& fields) {
  if (fields.contains("imageIndex") && fields.contains("imageOffset")) return true;
  return !FieldOf(fields, {"function", "symbol", "ip", "instruction_addr"}).empty() &&
         !FieldOf(fields, {"ip", "instruction_addr", "path", "package", "relative_address", "file",
                           "symbol_address"})
              .empty();
}

std::optional<uint64_t> DecimalOf(const std::string& text) {
  Cursor cursor(text);
  const auto value = cursor.Decimal();
  if (!value || !cursor.AtEnd()) return {};
  return static_cast<uint64_t>(*value);
}

// A frame of Apple's reporter, which numbers the images of its process.
std::string AppleLine(const Fields& fields, const std::vector<std::string>& images) {
  const auto number = DecimalOf(FieldOf(fields, {"imageIndex"}));
  const auto offset = DecimalOf(FieldOf(fields, {"imageOffset"}));
  const std::string module = number && *number < images.size() ? images[*number] : "";
  const std::string symbol = FieldOf(fields, {"symbol"});
  std::string line = fmt::format("{}  [{}+{:#x}]", module.starts_with("libjvm.") ? 'V' : 'C',
                                 module.empty() ? "unknown" : module, offset.value_or(0));
  if (symbol.empty()) return line;
  const auto inside = DecimalOf(FieldOf(fields, {"symbolLocation"}));
  return line + fmt::format("  {}+{:#x}", symbol, inside.value_or(0));
}

// "V  [libjvm.so+0x12]  f(int)", "j  a.b()V+0", "C  0x00007f2a3c123456"
std::string FrameLine(const Fields& fields, const std::vector<std::string>& images) {
  if (fields.contains("imageIndex")) return AppleLine(fields, images);
  const std::string function = FieldOf(fields, {"function", "symbol"});
  if (const std::string java = "j  " + function + "+0"; IsFrame(java)) return java;
  std::string module = FieldOf(fields, {"path", "package", "file"});
  module.erase(0, module.find_last_of("/\\") + 1);
  const std::string pc = FieldOf(fields, {"ip", "instruction_addr"});
  const bool is_known = !module.empty() && module.find_first_of("+[]") == std::string::npos;
  if (!is_known && function.empty()) return "C  " + pc;
  std::string offset = FieldOf(fields, {"relative_address"});
  if (!offset.starts_with("0x")) offset = "0x0";
  const char letter = module.starts_with("libjvm.") || module == "jvm.dll" ? 'V' : 'C';
  return fmt::format("{}  [{}+{}]  {}", letter, is_known ? module : "unknown", offset, function);
}

// The first stack that objects tell, of the thread that crashed by Apple's reporter, and the
// signal.
class ObjectReader {
 public:
  explicit ObjectReader(std::string_view text)
      : is_apples_(text.find("\"usedImages\"") != std::string_view::npos) {
    JsonScanner scanner(text);
    JsonToken token;
    while (scanner.Next(token)) Take(token);
    if (stack_.empty()) stack_ = std::move(frames_);
  }

  std::optional<std::string> Text() {
    if (stack_.empty()) return {};
    // Sentry has the innermost frame last.
    if (reversed_) std::reverse(stack_.begin(), stack_.end());
    std::string text = "Native frames:\n";
    for (const Fields& frame : stack_) text += FrameLine(frame, images_) + '\n';
    if (FieldOf(first_, {"incomplete"}) == "true") text += "...<more frames>...\n";
    return text + '\n' + Siginfo() + '\n';
  }

 private:
  void Take(const JsonToken& token) {
    if (token.Is(':')) {
      key_ = std::move(value_);
    } else if (token.kind != JsonToken::Kind::kMark) {
      value_ = token.text;
      if (!key_.empty()) fields_[key_] = value_, first_.try_emplace(key_, value_);
    } else if (token.Is('{')) {
      fields_.clear();
    } else if (token.Is('}')) {
      EndObject();
    } else if (token.Is(']') && !frames_.empty() && stack_.empty()) {
      if (!is_apples_ || FieldOf(first_, {"triggered"}) == "true") stack_ = std::move(frames_);
      frames_.clear();
    }
    if (token.kind == JsonToken::Kind::kMark && !token.Is(':')) key_.clear();
  }

  void EndObject() {
    if (IsStackFrame(fields_) && stack_.empty()) {
      frames_.push_back(fields_);
      reversed_ = fields_.contains("instruction_addr");
    }
    if (is_apples_ && fields_.contains("base")) images_.push_back(FieldOf(fields_, {"name"}));
    fields_.clear();
  }

  std::string Siginfo() const {
    std::string name = FieldOf(first_, {"si_signo_human_readable"});
    for (const char* key : {"kind", "type", "signal"})
      if (const std::string other = FieldOf(first_, {key});
          name.empty() && other.starts_with("SIG"))
        name = other;
    if (name.empty()) return "";
    std::string text = fmt::format("siginfo: si_signo={}", name);
    const std::string code = FieldOf(first_, {"si_code_human_readable", "code_name"});
    if (!code.empty()) text += fmt::format(", si_code={} ({})", FieldOf(first_, {"si_code"}), code);
    std::string address = FieldOf(first_, {"si_addr", "relevant_address"});
    // "KERN_INVALID_ADDRESS at 0x0000000000000070"
    const std::string apples = FieldOf(first_, {"subtype"});
    if (const size_t at = apples.find(" at 0x"); address.empty() && at != apples.npos)
      address = apples.substr(at + 4);
    return address.empty() ? text : text + ", si_addr=" + address;
  }

  Fields fields_, first_;  // of the object; of the text
  std::string key_, value_;
  std::vector<Fields> frames_, stack_;
  std::vector<std::string> images_;  // names, by Apple's reporter
  bool is_apples_, reversed_ = false;
};

}  // namespace

std::optional<std::string> TextInJson(std::string_view text) {
  const size_t first = FirstCrashMark(text);
  const bool has_mark = first != std::string_view::npos;
  std::optional<std::string> key = has_mark ? KeyAt(text, first) : std::nullopt;
  if (!key) key = KeyOfCrashLines(text);
  if (key) {
    // A text that is too long is read from its first mark on, as Window does.
    const bool is_long = has_mark && text.size() > kMostCrashText;
    const size_t begin =
        is_long ? static_cast<size_t>(LineAt(text, first).data() - text.data()) : 0;
    return StringsOf(text.substr(begin, kMostCrashText), *key);
  }
  if (has_mark) return {};
  if (text.find("\"frames\"") == std::string_view::npos) return {};
  return ObjectReader(text.substr(0, kMostCrashText)).Text();
}

}  // namespace walkhammer
