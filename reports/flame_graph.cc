// SPDX-License-Identifier: Apache-2.0
#include "reports/flame_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "harness/base/hash.h"
#include "harness/base/nearest.h"
#include "harness/base/numbers.h"
#include "harness/base/text.h"
#include "reports/flame_page.h"
#include "reports/markup.h"

namespace walkhammer {
namespace {

// How the page colours a frame; kJavaColour and above are the shades of packages.
enum Colour : int { kCellColour, kFailedColour, kOtherColour, kJavaColour };
constexpr uint32_t kShades = 16;

bool IsFailed(std::string_view frame) { return frame.starts_with('['); }

bool IsJava(std::string_view frame) {
  const size_t open = frame.find('(');
  return open != std::string_view::npos &&
         frame.substr(0, open).find('.') != std::string_view::npos;
}

// "pkg.Class.method" for a Java frame; other frames as they are.
std::string_view ShortName(std::string_view frame) {
  return IsFailed(frame) || !IsJava(frame) ? frame : frame.substr(0, frame.find('('));
}

int ColourOf(std::string_view frame) {
  if (IsFailed(frame)) return kFailedColour;
  if (!IsJava(frame)) return kOtherColour;
  std::string_view package = ShortName(frame);
  for (int parts = 0; parts < 2; parts++)  // drops the method's and the class's name
    package = package.substr(0, std::min(package.rfind('.'), package.size()));
  uint32_t hash = kFnvBegin32;
  for (const char c : package) hash = Fnv1a32(hash, static_cast<uint8_t>(c));
  return kJavaColour + static_cast<int>((hash ^ (hash >> 16)) % kShades);
}

// A frame of the picture below its caller's, which has a smaller index; the root is 0.
struct Flame {
  uint32_t parent = 0, name = 0;
  uint64_t count = 0, before = 0;  // of stacks that it is on; of the baseline's
};

// All names, each once and in alphabetical order, and the frames in pre-order, neighbours in
// alphabetical order.
struct Picture {
  std::vector<std::pair<std::string_view, int>> names;  // and colour
  Flame root;
  std::vector<Flame> frames;     // without the root
  std::vector<uint32_t> levels;  // of the frames, from 1
};

// Trees as one. Frames that no stack is on have a count of 0.
class TreeJoiner {
 public:
  // Names that are the same after `rename` are joined, too.
  using Rename = std::function<std::string(std::string_view name)>;
  explicit TreeJoiner(Rename rename = nullptr) : rename_(std::move(rename)) {}

  // A group's tree, below a frame of its own if `framed`, with its counts in `count`.
  void Add(const FlameGroup& group, bool framed, uint64_t Flame::*count) {
    const std::vector<StackTree::Node>& nodes = group.stacks.nodes();
    std::vector<uint32_t> name_of, at(std::max<size_t>(1, nodes.size()));
    for (const std::string& name : group.stacks.names())
      name_of.push_back(NameOf(Renamed(name), ColourOf(name)));
    if (framed) at[0] = FrameOf(0, NameOf(Renamed(group.name), kCellColour));
    for (size_t i = 1; i < nodes.size(); i++) {
      at[i] = FrameOf(at[nodes[i].parent], name_of[nodes[i].name]);
      frames_[at[i]].*count += nodes[i].count;
    }
  }
  // With the counts of the frames that each one calls.
  std::vector<Flame> Frames() const {
    std::vector<Flame> all = frames_;
    for (size_t i = all.size(); i-- > 1;) {
      all[all[i].parent].count += all[i].count;
      all[all[i].parent].before += all[i].before;
    }
    return all;
  }
  const std::vector<std::pair<std::string_view, int>>& names() const { return names_; }

 private:
  std::string_view Renamed(std::string_view name) {
    return rename_ == nullptr ? name : renamed_.emplace_back(rename_(name));
  }
  uint32_t NameOf(std::string_view name, int colour) {
    const auto [known, is_new] = (colour == kCellColour ? cells_ : functions_).try_emplace(name, 0);
    if (is_new) {
      known->second = static_cast<uint32_t>(names_.size());
      names_.emplace_back(name, colour);
    }
    return known->second;
  }
  uint32_t FrameOf(uint32_t parent, uint32_t name) {
    const auto [known, is_new] = known_.try_emplace(uint64_t{parent} << 32 | name, 0);
    if (is_new) {
      known->second = static_cast<uint32_t>(frames_.size());
      frames_.push_back({parent, name});
    }
    return known->second;
  }

  const Rename rename_;
  std::deque<std::string> renamed_;
  std::vector<std::pair<std::string_view, int>> names_;
  std::unordered_map<std::string_view, uint32_t> cells_, functions_;
  std::vector<Flame> frames_ = std::vector<Flame>(1);
  std::unordered_map<uint64_t, uint32_t> known_;  // by caller and name
};

// `trees` must outlive the picture.
Picture DrawTrees(const TreeJoiner& trees) {
  Picture picture;
  const auto& names = trees.names();
  std::vector<Flame> all = trees.Frames();
  picture.root = all[0];
  std::vector<uint32_t> order(names.size()), ranks(names.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return std::tie(names[a], a) < std::tie(names[b], b); });
  for (const uint32_t id : order) {
    ranks[id] = static_cast<uint32_t>(picture.names.size());
    picture.names.push_back(names[id]);
  }
  for (Flame& frame : all)
    if (!ranks.empty()) frame.name = ranks[frame.name];
  // The frames below each one, the last first; a stack of those yet to be drawn.
  std::vector<uint32_t> by_caller;
  for (uint32_t i = 1; i < all.size(); i++)
    if (all[i].count + all[i].before > 0) by_caller.push_back(i);
  std::sort(by_caller.begin(), by_caller.end(), [&](uint32_t a, uint32_t b) {
    return std::tuple(all[a].parent, all[b].name) < std::tuple(all[b].parent, all[a].name);
  });
  std::vector<uint32_t> first(all.size() + 1);
  for (const uint32_t i : by_caller) first[all[i].parent + 1]++;
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<std::pair<uint32_t, uint32_t>> waiting = {{0, 0}};  // and their levels
  while (!waiting.empty()) {
    const auto [at, level] = waiting.back();
    waiting.pop_back();
    if (at != 0) {
      picture.frames.push_back(all[at]);
      picture.levels.push_back(level);
    }
    for (uint32_t i = first[at]; i < first[at + 1]; i++)
      waiting.emplace_back(by_caller[i], level + 1);
  }
  return picture;
}

Picture Draw(std::span<const FlameGroup> groups, std::span<const FlameGroup> before) {
  TreeJoiner trees;
  for (const FlameGroup& group : groups) trees.Add(group, groups.size() > 1, &Flame::count);
  for (const FlameGroup& group : before) trees.Add(group, groups.size() > 1, &Flame::before);
  return DrawTrees(trees);  // its names are those of the groups
}

// The tree in pre-order, three numbers per frame: level (from 1), index of the name, count.
std::string TreeText(const Picture& picture) {
  std::string text;
  for (size_t i = 0; i < picture.frames.size(); i++)
    text += fmt::format("{}{},{},{}", text.empty() ? "" : ",", picture.levels[i],
                        picture.frames[i].name, picture.frames[i].count);
  return text;
}

// For each frame, the count of the baseline and its ShareChange: two further members of the data.
std::string DifferenceText(const Picture& picture, bool framed) {
  std::string before, changes;
  Flame of = picture.root;
  for (size_t i = 0; i < picture.frames.size(); i++) {
    const Flame& frame = picture.frames[i];
    if (framed && picture.levels[i] == 1) of = frame;
    const char* comma = i == 0 ? "" : ",";
    before += fmt::format("{}{}", comma, frame.before);
    changes +=
        fmt::format("{}{}", comma, ShareChange(frame.before, of.before, frame.count, of.count));
  }
  return fmt::format(R"(,"before":[{}],"changes":[{}])", before, changes);
}

void ReplaceOnce(std::string& page, std::string_view mark, const std::string& text) {
  page.replace(page.find(mark), mark.size(), text);
}

Failure NoSuchCell(const std::vector<CellRow>& cells, std::string_view wanted) {
  std::vector<std::string> labels;
  for (const CellRow& cell : cells) labels.push_back(CellLabel(cell));
  const std::vector<std::string_view> names(labels.begin(), labels.end());
  return BadInput(fmt::format("there is no cell \"{}\"; nearest: {}", wanted,
                              fmt::join(NearestNames(wanted, names, 3), ", ")));
}

}  // namespace

Result<std::vector<FlameGroup>> FlameGroups(const RunReader& db, std::string_view wanted) {
  ASSIGN_OR_RETURN(const auto cells, db.Rows<CellRow>());
  std::vector<FlameGroup> groups;
  if (cells.empty())
    return BadInput(db.dir() + ": has no stacks; only stress and step runs keep them");
  bool found = wanted.empty();
  for (const CellRow& cell : cells) {
    const std::string label = CellLabel(cell);
    if (!wanted.empty() && wanted != label && wanted != std::to_string(cell.position)) continue;
    found = true;
    ASSIGN_OR_RETURN(auto stacks, db.Stacks(cell.position));
    if (!stacks.empty())
      groups.push_back({label, std::move(stacks), cell.workload + " " + cell.profile});
  }
  if (!found) return NoSuchCell(cells, wanted);
  if (!groups.empty()) return groups;
  return BadInput(
      db.dir() + (wanted.empty() ? ": none of its cells has stacks" : ": this cell has no stacks") +
      "; the report says how they ended");
}

namespace {

// `more`: further members of the page's data, each after a comma.
std::string FlamePage(const Picture& picture, const std::string& more, std::string_view title) {
  nlohmann::ordered_json names = nlohmann::ordered_json::array(), colours = names;
  for (const auto& [name, colour] : picture.names) {
    names.push_back(name);
    colours.push_back(colour);
  }
  std::string data =
      fmt::format(R"({{"names":{},"colours":{},"shades":{},"tree":[{}]{}}})",
                  names.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace),
                  colours.dump(), kShades, TreeText(picture), more);
  // "</script>" or "<!--" in a name must not end the element that the data are in.
  for (size_t at = 0; (at = data.find('<', at)) != std::string::npos;)
    data.replace(at, 1, "\\u003c");
  std::string page = kFlamePage;
  const std::string safe_title = EscapeMarkup(Printable(OnOneLine(std::string(title))));
  const size_t data_at = page.find("@DATA@");
  page.replace(data_at, 6, data);  // the last mark first: names may hold marks
  ReplaceOnce(page, "@TITLE@", safe_title);
  ReplaceOnce(page, "@HEADING@", safe_title);
  return page;
}

// Named by workload, and in its order. A workload that `wanted` lacks may be there more than once;
// nullptr: none may.
Result<std::map<std::string, FlameGroup>> ByWorkload(
    const RunReader& db, std::string_view cell, const std::map<std::string, FlameGroup>* wanted) {
  ASSIGN_OR_RETURN(auto groups, FlameGroups(db, cell));
  std::map<std::string, FlameGroup> by_workload;
  for (FlameGroup& group : groups) {
    const std::string name = group.name = group.workload;
    const bool is_new = by_workload.try_emplace(name, std::move(group)).second;
    if (!is_new && (wanted == nullptr || wanted->contains(name)))
      return BadInput(
          fmt::format("{}: has \"{}\" more than once, on several JDKs; give runs of one JDK each",
                      db.dir(), name));
  }
  return by_workload;
}

}  // namespace

std::string FlameGraphHtml(std::span<const FlameGroup> groups, std::string_view title) {
  return FlamePage(Draw(groups, {}), "", title);
}

Result<FlameComparison> CompareFlames(const RunReader& before, const RunReader& now,
                                      std::string_view cell) {
  ASSIGN_OR_RETURN(auto of_now, ByWorkload(now, cell, nullptr));
  ASSIGN_OR_RETURN(auto of_before, ByWorkload(before, "", &of_now));
  FlameComparison both;
  for (auto& [name, group] : of_now) {
    const auto at = of_before.find(name);
    if (at == of_before.end()) {
      both.left_out.push_back(name);
      continue;
    }
    both.now.push_back(std::move(group));
    both.before.push_back(std::move(at->second));
    of_before.erase(at);
  }
  if (cell.empty())
    for (const auto& [name, group] : of_before) both.left_out.push_back(name);
  if (!both.now.empty()) return both;
  return BadInput(fmt::format("{} and {} have no workload and profile with stacks in common",
                              before.dir(), now.dir()));
}

int ShareChange(uint64_t before, uint64_t of_before, uint64_t now, uint64_t of_now) {
  if (of_before == 0 || of_now == 0) return 0;
  // As if walks were independent, of which kSure deviations allow for that they are not.
  constexpr double kSure = 4;
  const auto old_walks = static_cast<double>(of_before), new_walks = static_cast<double>(of_now);
  const double old_share = static_cast<double>(before) / old_walks,
               new_share = static_cast<double>(now) / new_walks;
  const double share = static_cast<double>(before + now) / (old_walks + new_walks);
  const double deviation = std::sqrt(share * (1 - share) * (1 / old_walks + 1 / new_walks));
  if (std::abs(new_share - old_share) <= kSure * deviation) return 0;
  const double low = std::min(old_share, new_share), high = std::max(old_share, new_share);
  const int step = high >= 2 * low ? 3 : high >= 1.5 * low ? 2 : high >= 1.1 * low ? 1 : 0;
  return new_share > old_share ? step : -step;
}

std::string FlameDifferenceHtml(const FlameComparison& comparison, std::string_view title) {
  const Picture picture = Draw(comparison.now, comparison.before);
  return FlamePage(picture, DifferenceText(picture, comparison.now.size() > 1), title);
}

namespace {

// What the collapsed format can hold of a frame's name.
std::string CollapsedName(std::string_view frame) {
  std::string name = OnOneLine(std::string(ShortName(frame)));
  std::replace(name.begin(), name.end(), ';', ':');
  return Printable(name);
}

// Returns, for each frame of the picture, how many stacks end there.
std::vector<uint64_t> OwnCounts(const Picture& picture) {
  std::vector<uint64_t> own(picture.frames.size());
  std::vector<size_t> at_level;  // the last frame of each level, from 1
  for (size_t i = 0; i < own.size(); i++) {
    const uint32_t level = picture.levels[i];
    own[i] = picture.frames[i].count;
    if (level > 1) own[at_level[level - 2]] -= own[i];
    at_level.resize(level - 1);
    at_level.push_back(i);
  }
  return own;
}

}  // namespace

std::string CollapsedText(std::span<const FlameGroup> groups) {
  TreeJoiner trees(CollapsedName);
  for (const FlameGroup& group : groups) trees.Add(group, groups.size() > 1, &Flame::count);
  const Picture picture = DrawTrees(trees);
  const std::vector<uint64_t> own = OwnCounts(picture);
  std::string text, line;
  std::vector<size_t> ends = {0};  // of the line, by level
  for (size_t i = 0; i < own.size(); i++) {
    const uint32_t level = picture.levels[i];
    line.resize(ends[level - 1]);
    if (level > 1) line += ';';
    line += picture.names[picture.frames[i].name].first;
    ends.resize(level);
    ends.push_back(line.size());
    if (own[i] != 0) fmt::format_to(std::back_inserter(text), "{} {}\n", line, own[i]);
  }
  return text;
}

}  // namespace walkhammer
