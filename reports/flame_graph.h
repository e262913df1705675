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
#include "harness/store/run_reader.h"

namespace walkhammer {

// The stacks of one cell.
struct FlameGroup {
  std::string name;  // CellLabel; the outermost frame if there are several groups
  StackTree stacks;
  std::string workload = {};  // and profile: the name without the JDK
};

// The stacks of the cell that `cell` names by label or by position; if `cell` is empty, of all
// cells with stacks. Fails with kBadInput if there is no such cell or no stack.
Result<std::vector<FlameGroup>> FlameGroups(const RunReader& db, std::string_view cell);

// Returns a self-contained HTML page: zoom on click, search, tooltips. Failed walks are red.
// Width is the number of walks; neighbours are in alphabetical order. The page keeps zoom and
// search in its address: #z=FRAME&q=PATTERN.
std::string FlameGraphHtml(std::span<const FlameGroup> groups, std::string_view title);

// The stacks of what two runs have in common, by workload and profile: the JDKs may differ.
struct FlameComparison {
  std::vector<FlameGroup> before, now;  // of the same names, such as "torture:mixed zgc"
  std::vector<std::string> left_out;    // names that one of the runs lacks, or has no stacks of
};

// `cell`: of `now`, as in FlameGroups. Fails with kBadInput as FlameGroups does, if nothing is in
// common, or if a run has a workload and profile for several JDKs and `cell` names none of them.
Result<FlameComparison> CompareFlames(const RunReader& before, const RunReader& now,
                                      std::string_view cell);

// How the share of a frame's walks in those of its cell changed: 0 by less than a tenth, or by no
// more than chance may do; 1 by a tenth, 2 by a half, 3 to double, or more; negative if it shrank.
int ShareChange(uint64_t before, uint64_t of_before, uint64_t now, uint64_t of_now);

// The same page, with frames coloured by ShareChange. Width is the number of walks now or before.
std::string FlameDifferenceHtml(const FlameComparison& comparison, std::string_view title);

// Returns lines "a.B.c;a.B.d 12", callers before what they call and neighbours in alphabetical
// order: the collapsed format that flamegraph.pl and speedscope read. Omits the descriptors of
// methods and adds up stacks that are the same without these. Takes time and memory in proportion
// to the text.
std::string CollapsedText(std::span<const FlameGroup> groups);

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_FLAME_GRAPH_H_
