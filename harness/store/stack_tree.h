// SPDX-License-Identifier: Apache-2.0
// StackTree: stacks and how often each was seen, with the frames that they share kept once. A
// failed walk is a stack of one frame, "[agct -5 unknown_Java]". Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_STORE_STACK_TREE_H_
#define WALKHAMMER_HARNESS_STORE_STACK_TREE_H_

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace walkhammer {

// Stands for stacks that found no room at all.
inline constexpr std::string_view kStackTableFull = "[stack table full]";

class StackTree {
 public:
  static constexpr uint32_t kRoot = 0;
  // An hour of a compiler, sampled every 50 us, took 3.2 million beside other work.
  static constexpr size_t kMostNodes = 1 << 23;

  // A frame below its caller's, which has a smaller index. The root has neither.
  struct Node {
    uint32_t parent = kRoot;
    uint32_t name = 0;   // index into names()
    uint64_t count = 0;  // of stacks that end here
    uint64_t saved = 0;  // of these, when the run's store got them
  };

  StackTree() = default;
  explicit StackTree(size_t most_nodes) : most_nodes_(most_nodes) {}
  // The stacks, as AppendFrame joins them; for tests and small amounts.
  StackTree(std::initializer_list<std::pair<std::string_view, uint64_t>> stacks);

  uint32_t NameId(std::string_view name);
  // The node of a name below `parent`, made if new; `parent` itself if there is no more room.
  uint32_t Child(uint32_t parent, uint32_t name);
  uint32_t Child(uint32_t parent, std::string_view name);
  // `times` stacks that end at `node`; `cut`: they had more frames, which found no room. What has
  // no frame at all counts as kStackTableFull.
  void Count(uint32_t node, uint64_t times, bool cut = false);
  // A whole stack, outermost frame first.
  void Add(std::span<const std::string_view> frames, uint64_t times);

  bool empty() const { return nodes_.size() == 1; }
  bool IsFull() const { return nodes_.size() > most_nodes_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::deque<std::string>& names() const { return names_; }
  uint64_t cut() const { return cut_; }
  // The names from the outermost frame to `node`.
  std::vector<std::string_view> FramesOf(uint32_t node) const;
  // All that were seen, as AppendFrame joins them; for tests and small amounts.
  std::map<std::string, uint64_t> Stacks() const;

  // Saving, in rounds: [next_to_save(), nodes().size()) is left of this one.
  uint32_t next_to_save() const { return next_to_save_; }
  bool IsSaved(uint32_t node) const { return node < saved_nodes_; }
  bool IsChanged(uint32_t node) const {
    return !IsSaved(node) || nodes_[node].count != nodes_[node].saved;
  }
  // The store got what was changed of the nodes before `end`, and all names.
  void MarkSaved(uint32_t end);
  void BeginRound() { next_to_save_ = 1; }
  uint32_t saved_names() const { return saved_names_; }

 private:
  void Grow();
  uint32_t& PlaceFor(uint32_t parent, uint32_t name);
  uint32_t Append(uint32_t parent, uint32_t name);

  size_t most_nodes_ = kMostNodes;
  std::vector<Node> nodes_ = std::vector<Node>(1);
  std::deque<std::string> names_;  // which stay where they are
  std::unordered_map<std::string_view, uint32_t> name_ids_;
  std::vector<uint32_t> index_ = std::vector<uint32_t>(64);  // of nodes, by hash; kRoot: free
  uint64_t cut_ = 0;
  uint32_t saved_nodes_ = 1, saved_names_ = 0, next_to_save_ = 1;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_STORE_STACK_TREE_H_
