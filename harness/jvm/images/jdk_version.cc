// SPDX-License-Identifier: Apache-2.0
#include "harness/jvm/images/jdk_version.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "harness/base/text.h"

namespace walkhammer {
namespace {

// Reads text from its beginning.
class VersionReader {
 public:
  explicit VersionReader(std::string_view text) : rest_(text) {}

  // A decimal number; empty if there is none, or one that is too large.
  std::optional<uint32_t> Number() {
    uint32_t number = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    if (error != std::errc()) return std::nullopt;
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return number;
  }
  bool Skip(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  std::string Letters() {
    size_t size = 0;
    while (size < rest_.size() && std::isalnum(static_cast<unsigned char>(rest_[size])) != 0)
      size++;
    const std::string letters(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return letters;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

void DropZeros(std::vector<uint32_t>& numbers) {
  while (numbers.size() > 1 && numbers.back() == 0) numbers.pop_back();
}

// The rest of a version of JDK 8 or before, from its update on: "504-8u504-ea-b08".
std::optional<JdkVersion> OlderVersion(uint32_t feature, VersionReader reader) {
  JdkVersion version;
  version.numbers = {feature};
  if (const auto update = reader.Number()) version.numbers = {feature, 0, *update};
  DropZeros(version.numbers);
  for (const std::string& word : Split(reader.rest(), '-')) {
    VersionReader part(word);
    if (word == "ea" || word == "internal") version.pre = word;
    if (!version.build && part.Skip("b")) version.build = part.Number();
  }
  return version;
}

std::optional<JdkVersion> NewerVersion(uint32_t feature, VersionReader reader) {
  JdkVersion version;
  version.numbers = {feature};
  while (reader.Skip(".")) {
    const auto number = reader.Number();
    if (!number) return std::nullopt;
    version.numbers.push_back(*number);
  }
  DropZeros(version.numbers);
  if (reader.Skip("-")) version.pre = reader.Letters();
  if (reader.Skip("+")) version.build = reader.Number();
  const std::string_view rest = reader.rest();
  if (!rest.empty() && rest.front() != '-' && rest.front() != '+') return std::nullopt;
  return version;
}

// A pre-release that is a number is before one that is a word.
std::weak_ordering ComparePre(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return a.empty() <=> b.empty();
  const auto number = [](const std::string& text) {
    VersionReader reader(text);
    const auto value = reader.Number();
    return reader.rest().empty() ? value : std::nullopt;
  };
  const auto left = number(a), right = number(b);
  if (left && right) return *left <=> *right;
  if (left || right) return right.has_value() <=> left.has_value();
  return a.compare(b) <=> 0;
}

}  // namespace

std::optional<JdkVersion> ParseJdkVersion(std::string_view text) {
  VersionReader reader(text);
  const auto first = reader.Number();
  if (!first) return std::nullopt;
  if (*first == 1 && reader.Skip(".")) {  // 1.8.0_504
    const auto feature = reader.Number();
    if (!feature) return std::nullopt;
    if (reader.Skip(".") && !reader.Number()) return std::nullopt;
    reader.Skip("_");
    return OlderVersion(*feature, reader);
  }
  if (reader.Skip("u")) return OlderVersion(*first, reader);  // 8u504
  return NewerVersion(*first, reader);
}

std::weak_ordering operator<=>(const JdkVersion& a, const JdkVersion& b) {
  for (size_t i = 0; i < std::max(a.numbers.size(), b.numbers.size()); i++) {
    const uint32_t left = i < a.numbers.size() ? a.numbers[i] : 0;
    const uint32_t right = i < b.numbers.size() ? b.numbers[i] : 0;
    if (left != right) return left <=> right;
  }
  if (const auto order = ComparePre(a.pre, b.pre); order != 0) return order;
  return a.build <=> b.build;
}

bool VersionRange::Contains(const JdkVersion& version) const {
  return version >= from && (!before || version < *before);
}

Result<std::vector<VersionRange>> ParseVersionRanges(std::string_view text) {
  std::vector<VersionRange> ranges;
  for (const std::string& word : Words(text)) {
    const Failure wrong =
        BadInput("\"" + word + "\" is not a range of versions, such as [17,17.0.9) or [19,)");
    const size_t comma = word.find(',');
    if (comma == std::string::npos || word.front() != '[' || word.back() != ')') return wrong;
    const auto from = ParseJdkVersion(std::string_view(word).substr(1, comma - 1));
    const std::string end = word.substr(comma + 1, word.size() - comma - 2);
    const auto before = ParseJdkVersion(end);
    if (!from || (!end.empty() && !before) || (before && *before <= *from)) return wrong;
    ranges.push_back({*from, before});
  }
  return ranges;
}

bool AnyContains(const std::vector<VersionRange>& ranges, const JdkVersion& version) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const VersionRange& range) { return range.Contains(version); });
}

}  // namespace walkhammer
