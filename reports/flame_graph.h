// SPDX-License-Identifier: Apache-2.0
// Flame graphs and collapsed stacks of what a stress or step run saw. Called by the verb report.
// Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_FLAME_GRAPH_H_
#define WALKHAMMER_REPORTS_FLAME_GRAPH_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/store/run_db.h"

namespace walkhammer {

// Stacks that belong together: of one cell.
struct FlameGroup {
  std::string name;  // CellLabel; the outermost frame where there are several groups
  std::vector<StackRow> stacks;
};

// Of the cell that `cell` names by its label or its position; empty: of all cells with stacks.
// Fails with kBadInput where there is no such cell or no stack.
Result<std::vector<FlameGroup>> FlameGroups(const RunDb& db, std::string_view cell);

// One HTML page that needs nothing else: zoom on click, search, tooltips. Failed walks are red.
// Width is the number of walks; neighbours are in alphabetical order. The page keeps zoom and
// search in its address: #z=FRAME&q=PATTERN.
std::string FlameGraphHtml(std::span<const FlameGroup> groups, std::string_view title);

// "a.B.c;a.B.d 12" a line, sorted: the collapsed format that flamegraph.pl and speedscope read.
// Methods are without their descriptors; stacks that then are the same are added up.
std::string CollapsedText(std::span<const FlameGroup> groups);

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_FLAME_GRAPH_H_
