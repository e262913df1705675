// SPDX-License-Identifier: Apache-2.0
#include "harness/store/stack_tree.h"

#include <algorithm>

#include "harness/base/hash.h"
#include "harness/store/stress_rows.h"

namespace walkhammer {
StackTree::StackTree(std::initializer_list<std::pair<std::string_view, uint64_t>> stacks) {
  for (const auto& [frames, times] : stacks) Add(SplitFrames(frames), times);
}

uint32_t StackTree::NameId(std::string_view name) {
  if (const auto known = name_ids_.find(name); known != name_ids_.end()) return known->second;
  const auto id = static_cast<uint32_t>(names_.size());
  name_ids_.emplace(names_.emplace_back(name), id);
  return id;
}

// Where the index has the node, or would have it. The size of the index is a power of two.
uint32_t& StackTree::PlaceFor(uint32_t parent, uint32_t name) {
  size_t at = Scramble(static_cast<uint64_t>(parent) << 32 | name);
  for (;; at++) {
    uint32_t& node = index_[at & (index_.size() - 1)];
    if (node == kRoot || (nodes_[node].parent == parent && nodes_[node].name == name)) return node;
  }
}

// At most half of the index is in use.
void StackTree::Grow() {
  if (2 * nodes_.size() < index_.size()) return;
  index_.assign(2 * index_.size(), kRoot);
  for (uint32_t i = 1; i < nodes_.size(); i++) PlaceFor(nodes_[i].parent, nodes_[i].name) = i;
}

uint32_t StackTree::Append(uint32_t parent, uint32_t name) {
  Grow();
  const auto node = static_cast<uint32_t>(nodes_.size());
  PlaceFor(parent, name) = node;
  nodes_.push_back({parent, name});
  return node;
}

uint32_t StackTree::Child(uint32_t parent, uint32_t name) {
  const uint32_t known = PlaceFor(parent, name);
  if (known != kRoot) return known;
  return IsFull() ? parent : Append(parent, name);
}

uint32_t StackTree::Child(uint32_t parent, std::string_view name) {
  return IsFull() && !name_ids_.contains(name) ? parent : Child(parent, NameId(name));
}

void StackTree::Count(uint32_t node, uint64_t times, bool cut) {
  if (cut) cut_ += times;
  if (node == kRoot) {  // has a place also where nothing else has
    const uint32_t name = NameId(kStackTableFull);
    const uint32_t known = PlaceFor(kRoot, name);
    node = known != kRoot ? known : Append(kRoot, name);
  }
  nodes_[node].count += times;
}

void StackTree::Add(std::span<const std::string_view> frames, uint64_t times) {
  uint32_t node = kRoot;
  for (const std::string_view frame : frames) {
    const uint32_t below = Child(node, frame);
    if (below == node) return Count(node, times, true);
    node = below;
  }
  if (node != kRoot) Count(node, times);
}

std::vector<std::string_view> StackTree::FramesOf(uint32_t node) const {
  std::vector<std::string_view> frames;
  for (; node != kRoot; node = nodes_[node].parent) frames.emplace_back(names_[nodes_[node].name]);
  std::reverse(frames.begin(), frames.end());
  return frames;
}

std::map<std::string, uint64_t> StackTree::Stacks() const {
  std::map<std::string, uint64_t> stacks;
  for (uint32_t i = 1; i < nodes_.size(); i++) {
    if (nodes_[i].count == 0) continue;
    std::string text;
    for (const std::string_view frame : FramesOf(i)) AppendFrame(text, frame);
    stacks[text] += nodes_[i].count;
  }
  return stacks;
}

void StackTree::MarkSaved(uint32_t end) {
  for (uint32_t i = next_to_save_; i < end; i++) nodes_[i].saved = nodes_[i].count;
  saved_nodes_ = std::max(saved_nodes_, end);
  saved_names_ = static_cast<uint32_t>(names_.size());
  next_to_save_ = end < nodes_.size() ? end : 1;
}

}  // namespace walkhammer
