// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>

#include "harness/hs_err/characters.h"
#include "harness/hs_err/redaction_rules.h"

namespace walkhammer {
namespace {

// `line` has at `at` what follows "-internal-" or " by ".
Builder BuilderAt(std::string_view line, size_t at) {
  if (line.substr(at).starts_with('"')) {  // built on Jan  1 2020 by "alice" with gcc
    const size_t end = line.find('"', at + 1);
    const bool is_builder =
        end != line.npos && line.substr(end).starts_with("\" with ") && line[at + 1] != '<';
    return is_builder ? Builder{at + 1, end - at - 1, {}} : Builder{};
  }
  constexpr size_t kLongest = 256;
  size_t size = 0;
  while (size < kLongest && at + size < line.size() && IsNameChar(line[at + size])) size++;
  const std::string_view word = line.substr(at, size), first = word.substr(0, word.find('.'));
  constexpr size_t kTimeSize = 17;  // "2016-08-09-162302"
  const bool is_time =
      first.size() == kTimeSize && first.find_first_not_of("0123456789-") == first.npos;
  if ((first == "adhoc" || is_time) && first.size() < size) {
    const std::string_view name = word.substr(first.size() + 1);
    return {at + first.size() + 1, name.size(), name.substr(0, name.find('.'))};
  }
  const size_t year = word.find("_20");
  const bool is_dated = year != word.npos && word.substr(year).size() > 16 &&
                        word[year + 5] == '_' && word[year + 8] == '_';
  return is_dated ? Builder{at, year, word.substr(0, year)} : Builder{};
}

}  // namespace

// Of "28-internal-adhoc.alice.jdk", "10-internal+0-adhoc.alice.x",
// "9-internal+0-2016-08-09-162302.alice.jdk9", "1.8.0-internal-alice_2017_05_03_12_34-b00".
Builder FindBuilder(std::string_view line, size_t from) {
  Builder first;
  for (const std::string_view mark : {"-internal-", "-internal+0-", " by "}) {
    for (size_t at = line.find(mark, from); at != line.npos; at = line.find(mark, at + 1)) {
      const Builder found = BuilderAt(line, at + mark.size());
      if (found.size == 0) continue;
      if (first.size == 0 || found.begin < first.begin) first = found;
      break;
    }
  }
  return first;
}

void ReplaceBuilders(std::string& line, DoneWords& done) {
  constexpr std::string_view kBy = "<user>";
  for (Builder found = FindBuilder(line, 0); found.size > 0;
       found = FindBuilder(line, found.begin + kBy.size())) {
    line.replace(found.begin, found.size, kBy);
    done.emplace_back("who built the JDK");
  }
}

}  // namespace walkhammer
