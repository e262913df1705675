// SPDX-License-Identifier: Apache-2.0
#include "reports/first_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "harness/base/numbers.h"
#include "harness/base/shell.h"
#include "harness/base/text.h"

namespace walkhammer {
namespace {

constexpr size_t kMostNews = 3;
constexpr size_t kLastLines = 3;  // an empty one, the page, what to read next

// Cuts the last words off; within a word only if that is most of the line.
std::string Cut(std::string text, size_t most) {
  text = OnOneLine(std::move(text));
  if (text.size() <= most) return text;
  size_t end = most - 3;
  const size_t blank = text.rfind(' ', end);
  if (blank != text.npos && blank > most / 2) end = text.find_last_not_of(' ', blank) + 1;
  while (end > 0 && (text[end] & 0xc0) == 0x80) end--;  // not within a character of UTF-8
  return text.substr(0, end) + "...";
}

std::string WalkedText(const RunSummary& summary) {
  const RunTotals& totals = summary.run.totals;
  std::string text =
      fmt::format("{} in {:.0f} s: {} with a stack", Counted(totals.walks, "walk"),
                  static_cast<double>(totals.time_ms) / 1000,
                  Percent(std::min(totals.successful, totals.walks), totals.walks, 0));
  if (totals.contained_crashes > 0)
    text += fmt::format(", {} crashed (contained)", Grouped(totals.contained_crashes));
  return text;
}

// "undisturbed stacks right in 20 of 22 scenes; 3 with fewer than 100 walks; not in a, b". For such
// a scene, a verdict holds for the undisturbed walks alone.
std::string ScenesText(const RunSummary& summary) {
  std::map<std::string, uint64_t> walks;
  for (const CountRow& row : summary.counts) walks[row.scene] += row.count;
  size_t right = 0, tried = 0, few = 0;
  std::string others;
  for (const SceneRow& scene : summary.scenes) {
    if (scene.tried == 0 || !scene.available) continue;
    tried++;
    if (walks[scene.name] < kLeastWalks) few++;
    if (scene.pristine_true)
      right++;
    else
      others += (others.empty() ? "" : ", ") + scene.name;
  }
  if (tried == 0) return "";
  std::string text =
      fmt::format("undisturbed stacks right in {} of {}", right, Counted(tried, "scene"));
  if (few > 0) text += fmt::format("; {} with fewer than {} walks", few, kLeastWalks);
  return text + (others.empty() ? "" : "; not in " + others);
}

// Which of the buckets are one known issue.
struct KnownLine {
  const KnownAs* name = nullptr;
  Realism realism = Realism::kCount;
  uint64_t buckets = 0, count = 0;
};

std::vector<KnownLine> KnownLines(const RunSummary& summary) {
  std::vector<KnownLine> lines;
  std::map<std::string, size_t> by_id;
  for (size_t i = 0; i < summary.buckets.size(); i++) {
    const KnownAs& name = summary.names[i];
    if (WantsSomebody(name.word.verdict)) continue;
    const auto [at, is_new] = by_id.try_emplace(name.word.id, lines.size());
    if (is_new) lines.push_back({&name});
    KnownLine& line = lines[at->second];
    line.realism = std::min(line.realism, summary.buckets[i].realism);
    line.buckets++;
    line.count += summary.buckets[i].count;
  }
  return lines;
}

class Screen {
 public:
  explicit Screen(size_t columns) : columns_(columns) {}
  // Wraps the line at blanks, to at most three lines.
  void AddWrapped(const std::string& line) {
    constexpr size_t kMostWrapped = 3;
    std::string part;
    for (const std::string& word : Words(OnOneLine(line))) {
      const bool last = lines_.size() + 1 == kMostWrapped;
      if (!part.empty() && !last && part.size() + 1 + word.size() > columns_) {
        lines_.push_back(std::exchange(part, "  "));
        part += word;
      } else {
        part += (part.empty() ? "" : " ") + word;
      }
    }
    Add(part);
  }
  void Add(const std::string& line) { lines_.push_back(Cut(line, columns_)); }
  // Commands and paths stay whole, so that they can be copied.
  void AddWhole(const std::string& line) { lines_.push_back(OnOneLine(line)); }
  void Space() { lines_.emplace_back(); }
  size_t size() const { return lines_.size(); }
  std::string Text() const {
    std::string text;
    for (const std::string& line : lines_) text += line + "\n";
    return text;
  }

 private:
  size_t columns_;
  std::vector<std::string> lines_;
};

void AddNews(const RunSummary& summary, const std::string& command, Screen& screen) {
  std::vector<size_t> news;
  for (size_t i = 0; i < summary.buckets.size(); i++)
    if (WantsSomebody(summary.names[i].word.verdict)) news.push_back(i);
  // What fails the run comes first.
  std::stable_partition(news.begin(), news.end(),
                        [&](size_t i) { return IsNews(summary.buckets[i], summary.names[i]); });
  if (news.empty()) return;
  screen.Space();
  screen.Add("New");
  for (size_t i = 0; i < std::min(news.size(), kMostNews); i++) {
    const BucketRow& bucket = summary.buckets[news[i]];
    const KnownAs& name = summary.names[news[i]];
    const std::string& signature = name.signature;
    const std::string title = signature.empty() ? bucket.signature.title : signature;
    screen.Add(fmt::format("  {}", title));
    std::string facts =
        fmt::format("    {}, {}, {}, {}x", RealismWord(bucket.realism), GradeWord(bucket.grade),
                    ReplaysText(bucket), Grouped(bucket.count));
    if (!name.word.id.empty()) facts += fmt::format("; {} {}", name.word.id, name.word.why);
    screen.Add(facts);
    const BucketFiles& files = summary.files[news[i]];
    const std::string& input = files.minimized.empty() ? files.input : files.minimized;
    if (!input.empty())
      screen.AddWhole("    " + command + " show " + ShellWord(summary.dir + "/" + input));
  }
  if (news.size() > kMostNews) screen.Add(fmt::format("  and {} more", news.size() - kMostNews));
}

void AddKnown(const RunSummary& summary, Screen& screen) {
  const std::vector<KnownLine> lines = KnownLines(summary);
  if (lines.empty()) return;
  screen.Space();
  screen.Add("Known");
  const size_t room = kMostScreenLines - kLastLines - screen.size();
  const size_t shown = lines.size() <= room ? lines.size() : room - 1;
  for (size_t i = 0; i < shown; i++)
    screen.Add(fmt::format("  {:<13} {:<16} {}", lines[i].name->word.id,
                           RealismWord(lines[i].realism), lines[i].name->title));
  if (lines.size() > shown) screen.Add(fmt::format("  and {} more", lines.size() - shown));
}

}  // namespace

std::string FirstScreen(const RunSummary& summary, const std::string& page, size_t columns,
                        const std::string& command) {
  const RunIdentity& identity = summary.run.identity;
  Screen screen(columns);
  screen.AddWrapped(fmt::format("{}: {}", summary.verdict.word, summary.verdict.sentence));
  screen.Add(fmt::format("  {} on {}", identity.walker,
                         identity.vm_version.empty() ? identity.jdk_path : identity.vm_version));
  screen.Add("  " + WalkedText(summary));
  if (const std::string scenes = ScenesText(summary); !scenes.empty()) screen.Add("  " + scenes);
  const std::string limits = LimitsText(summary);
  if (!limits.empty()) screen.Add(limits.substr(0, limits.find('\n')));
  AddNews(summary, command, screen);
  AddKnown(summary, screen);
  screen.Space();
  if (!page.empty()) screen.AddWhole("Page  " + page);
  screen.AddWhole("More  " + command + " report " + ShellWord(summary.dir));
  return screen.Text();
}

}  // namespace walkhammer
