// SPDX-License-Identifier: Apache-2.0
#include "reports/flame_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "harness/base/hash.h"
#include "harness/base/nearest.h"
#include "harness/base/numbers.h"
#include "reports/flame_page.h"

namespace walkhammer {
namespace {

// How the page colours a frame; kJava and above are the shades of packages.
enum Colour : int { kCell, kFailed, kOther, kJava };
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
  if (IsFailed(frame)) return kFailed;
  if (!IsJava(frame)) return kOther;
  std::string_view package = ShortName(frame);
  for (int parts = 0; parts < 2; parts++)  // drops the method's and the class's name
    package = package.substr(0, std::min(package.rfind('.'), package.size()));
  uint32_t hash = kFnvBegin32;
  for (const char c : package) hash = Fnv1a32(hash, static_cast<uint8_t>(c));
  return kJava + static_cast<int>((hash ^ (hash >> 16)) % kShades);
}

// Bytes that are no UTF-8 become U+FFFD.
std::string Utf8(std::string_view text) {
  using Json = nlohmann::json;
  return Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::string EscapeHtml(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '&':
        escaped += "&amp;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

// All distinct frames, and the stacks as indices of frames. Stacks are sorted, so that stacks with
// a common root are neighbours.
struct Stacks {
  struct Stack {
    std::vector<uint32_t> frames;
    uint64_t count = 0;
  };
  std::vector<std::pair<std::string, int>> names;  // name and colour
  std::vector<Stack> stacks;
};

Stacks SortedStacks(std::span<const FlameGroup> groups) {
  Stacks sorted;
  std::vector<std::pair<std::string_view, int>> names;  // name and colour, by first use
  std::unordered_map<std::string_view, uint32_t> frame_ids;
  const auto add_name = [&](std::string_view name, int colour) {
    names.emplace_back(name, colour);
    return static_cast<uint32_t>(names.size() - 1);
  };
  for (const FlameGroup& group : groups) {
    const uint32_t root = groups.size() > 1 ? add_name(group.name, kCell) : 0;
    for (const StackRow& row : group.stacks) {
      if (row.count == 0) continue;
      Stacks::Stack& stack = sorted.stacks.emplace_back();
      stack.count = row.count;
      if (groups.size() > 1) stack.frames.push_back(root);
      for (const std::string_view frame : SplitFrames(row.frames)) {
        const auto [known, is_new] = frame_ids.try_emplace(frame, 0);
        if (is_new) known->second = add_name(frame, ColourOf(frame));
        stack.frames.push_back(known->second);
      }
    }
  }
  std::vector<uint32_t> order(names.size()), ranks(names.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return std::tie(names[a], a) < std::tie(names[b], b); });
  for (const uint32_t id : order) {
    ranks[id] = static_cast<uint32_t>(sorted.names.size());
    sorted.names.emplace_back(names[id]);
  }
  for (Stacks::Stack& stack : sorted.stacks)
    for (uint32_t& frame : stack.frames) frame = ranks[frame];
  std::sort(sorted.stacks.begin(), sorted.stacks.end(),
            [](const auto& a, const auto& b) { return a.frames < b.frames; });
  return sorted;
}

// The tree in pre-order, three numbers per frame: level (from 1), index of the name, count.
std::string TreeText(const std::vector<Stacks::Stack>& stacks) {
  struct Frame {
    size_t level;
    uint32_t name;
    uint64_t count;
  };
  std::vector<Frame> frames;
  std::vector<size_t> path;  // indices into `frames`, of the current stack
  for (const Stacks::Stack& stack : stacks) {
    size_t common = 0;
    while (common < path.size() && common < stack.frames.size() &&
           frames[path[common]].name == stack.frames[common])
      common++;
    path.resize(common);
    for (size_t i = common; i < stack.frames.size(); i++) {
      path.push_back(frames.size());
      frames.push_back({i + 1, stack.frames[i], 0});
    }
    for (const size_t at : path) frames[at].count += stack.count;
  }
  std::string text;
  for (const Frame& frame : frames)
    text +=
        fmt::format("{}{},{},{}", text.empty() ? "" : ",", frame.level, frame.name, frame.count);
  return text;
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

Result<std::vector<FlameGroup>> FlameGroups(const RunDb& db, std::string_view wanted) {
  ASSIGN_OR_RETURN(const auto cells, db.Cells());
  std::vector<FlameGroup> groups;
  if (cells.empty())
    return BadInput(db.dir() + ": has no stacks; only stress and step runs keep them");
  bool found = wanted.empty();
  for (const CellRow& cell : cells) {
    const std::string label = CellLabel(cell);
    if (!wanted.empty() && wanted != label && wanted != std::to_string(cell.position)) continue;
    found = true;
    ASSIGN_OR_RETURN(auto stacks, db.Stacks(cell.position));
    if (!stacks.empty()) groups.push_back({label, std::move(stacks)});
  }
  if (!found) return NoSuchCell(cells, wanted);
  if (!groups.empty()) return groups;
  return BadInput(
      db.dir() + (wanted.empty() ? ": none of its cells has stacks" : ": this cell has no stacks") +
      "; the report says how they ended");
}

std::string FlameGraphHtml(std::span<const FlameGroup> groups, std::string_view title) {
  const Stacks sorted = SortedStacks(groups);
  nlohmann::ordered_json names = nlohmann::ordered_json::array(), colours = names;
  for (const auto& [name, colour] : sorted.names) {
    names.push_back(name);
    colours.push_back(colour);
  }
  std::string data =
      fmt::format(R"({{"names":{},"colours":{},"shades":{},"tree":[{}]}})",
                  names.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace),
                  colours.dump(), kShades, TreeText(sorted.stacks));
  // "</script>" or "<!--" in a name must not end the element that the data are in.
  for (size_t at = 0; (at = data.find('<', at)) != std::string::npos;)
    data.replace(at, 1, "\\u003c");
  std::string page = kFlamePage;
  const std::string safe_title = EscapeHtml(Utf8(OnOneLine(std::string(title))));
  const size_t data_at = page.find("@DATA@");
  page.replace(data_at, 6, data);  // the last mark first: names may hold marks
  ReplaceOnce(page, "@TITLE@", safe_title);
  ReplaceOnce(page, "@HEADING@", safe_title);
  return page;
}

std::string CollapsedText(std::span<const FlameGroup> groups) {
  std::map<std::string, uint64_t> lines;
  for (const FlameGroup& group : groups)
    for (const StackRow& row : group.stacks) {
      if (row.count == 0) continue;
      std::string line;
      const auto add = [&](std::string_view frame) {
        std::string name = OnOneLine(std::string(ShortName(frame)));
        std::replace(name.begin(), name.end(), ';', ':');
        line += (line.empty() ? "" : ";") + name;
      };
      if (groups.size() > 1) add(group.name);
      for (const std::string_view frame : SplitFrames(row.frames)) add(frame);
      lines[Utf8(line)] += row.count;
    }
  std::string text;
  for (const auto& [line, count] : lines) text += fmt::format("{} {}\n", line, count);
  return text;
}

}  // namespace walkhammer
