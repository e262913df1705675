// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/stress_runs/cell_results.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "harness/ipc/shared_mapping.h"
#include "harness/request/walk_request.h"
#include "harness/request/walker_table.h"
#include "harness/store/shared_rows.h"

namespace walkhammer {
namespace {

std::string NameAt(const StressState& state, uint32_t offset) {
  if (offset >= StressState::kNamesBytes) return "?";
  const char* name = state.names + offset;
  const std::string text(name, strnlen(name, StressState::kNamesBytes - offset));
  return text.empty() ? "(unknown method)" : text;
}

std::string FailureName(uint32_t walker_index, int32_t code) {
  const WalkerInfo& walker = AllWalkers()[walker_index % AllWalkers().size()];
  if (code == kCodeCrash) return fmt::format("[{} crash]", walker.name);
  if (code == kCodeHang) return fmt::format("[{} hang]", walker.name);
  const char* name = CodeName(walker, code);
  return fmt::format("[{} {} {}]", walker.name, code, name == nullptr ? "undeclared" : name);
}

uint64_t Requested(const StressJob& job, const CellThreadRow& row, uint64_t alive_ns,
                   uint64_t cpu_ns) {
  const uint64_t interval = (job.interval_min_ns + job.interval_max_ns) / 2;
  if (interval == 0) return row.delivery.delivered;
  return (job.clock == SampleClock::kCpu ? cpu_ns : alive_ns) / interval;
}

}  // namespace

const char* SamplerName(SamplerKind kind) {
  static constexpr const char* kNames[] = {"auto", "perf", "timer", "thread"};
  return kNames[kind < SamplerKind::kCount ? static_cast<int>(kind) : 0];
}

const char* ModeName(WalkMode mode) {
  static constexpr const char* kNames[] = {"handler", "parked", "running", "nested"};
  return mode < WalkMode::kCount ? kNames[static_cast<int>(mode)] : "?";
}

Result<StressMemory> MakeStressState(const StressJob& job, uint64_t run_start_ns) {
  ASSIGN_OR_RETURN(const SharedMemory made,
                   MakeSharedMemory("walkhammer-stress", sizeof(StressState)));
  auto* state = static_cast<StressState*>(made.memory);
  state->magic = StressState::kMagic;
  state->start_ns = run_start_ns;
  state->job = job;
  state->supervisor.store(getpid());
  return StressMemory{made.fd, state};
}

void ForgetStressed(StressState& state) {
  state.phase.store(AgentPhase::kAbsent);
  state.stop.store(0);
  state.handlers_changed.store(0);
  state.module_count.store(0);
  state.rootless_stacks.store(0);
  state.code_count.store(0);
  state.method_count.store(0);
  state.area_count.store(0);
  auto clear = [](auto& table) { std::memset(static_cast<void*>(&table), 0, sizeof table); };
  clear(state.threads);
  clear(state.journals);
  clear(state.ring);
  clear(state.code);
  clear(state.methods);
  clear(state.pcs);
  clear(state.names);
  // Shared memory gives up its pages; other memory must be written.
  if (madvise(&state.stacks, sizeof state.stacks, MADV_REMOVE) != 0) clear(state.stacks);
}

// Each frame's name is read once. A full tree takes no new names.
uint32_t StackHarvest::Child(const StressState& state, uint32_t parent, uint32_t frame,
                             StackTree& tree) {
  if (const auto known = names_.find(frame); known != names_.end())
    return tree.Child(parent, known->second);
  const std::string name = NameAt(state, frame);
  if (tree.IsFull()) return tree.Child(parent, name);
  return tree.Child(parent, names_[frame] = tree.NameId(name));
}

// The node of the tree for the one at `place`, and for those above that are new. A JVM that dies
// may have written anything: what leads nowhere stands at the root.
const StackHarvest::Known& StackHarvest::Find(const StressState& state, uint32_t place,
                                              StackTree& tree) {
  const auto key_at = [&](uint32_t at) {
    return state.stacks.keys[at].load(std::memory_order_acquire);
  };
  const auto is_walker = [&](uint64_t key) {
    return StackNodes::AboveOf(key) == StackNodes::kRoot &&
           StackNodes::FrameOf(key) >= StackNodes::kFailedWalk;
  };
  std::vector<uint32_t>& path = path_;
  for (uint32_t at = place; at < StackNodes::kPlaces && !known_[at].found && path.size() < kDeepest;
       at = StackNodes::PlaceOfNode(StackNodes::AboveOf(key_at(at)))) {
    path.push_back(at);
    if (StackNodes::AboveOf(key_at(at)) == StackNodes::kRoot) break;
  }
  for (; !path.empty(); path.pop_back()) {
    Known& known = known_[path.back()];
    known.found = true;
    const uint64_t key = key_at(path.back());
    const uint32_t above = StackNodes::PlaceOfNode(StackNodes::AboveOf(key));
    const uint32_t frame = StackNodes::FrameOf(key);
    if (is_walker(key)) continue;  // stands at the root; its codes are the frames
    const bool has_above = above < StackNodes::kPlaces && known_[above].found;
    const uint64_t above_key = has_above ? key_at(above) : 0;
    const Known parent = has_above ? known_[above] : Known{};
    known.node = is_walker(above_key)
                     ? tree.Child(StackTree::kRoot, FailureName(StackNodes::FrameOf(above_key) -
                                                                    StackNodes::kFailedWalk,
                                                                static_cast<int32_t>(frame)))
                     : Child(state, parent.node, frame, tree);
    known.cut = parent.cut || known.node == parent.node;
  }
  return known_[place];
}

void StackHarvest::Take(const StressState& state, StackTree& tree) {
  known_.resize(StackNodes::kPlaces);
  for (uint32_t place = 0; place < StackNodes::kPlaces; place++) {
    const uint32_t count = state.stacks.counts[place].load(std::memory_order_relaxed);
    if (count == known_[place].counted) continue;
    const Known& known = Find(state, place, tree);
    tree.Count(known.node, count - known.counted, known.cut);
    known_[place].counted = count;
  }
  const uint32_t rootless = state.rootless_stacks.load();
  if (rootless != rootless_) tree.Count(StackTree::kRoot, rootless - rootless_);
  rootless_ = rootless;
}

void HarvestThreads(const StressState& state, int64_t cell, std::vector<CellThreadRow>& threads) {
  for (const ThreadCounts& counts : state.threads) {
    if (counts.tid.load() == 0) continue;
    CellThreadRow row;
    row.cell = cell;
    row.tid = counts.tid.load();
    row.name = FieldText(counts.name);
    row.java = counts.java != 0;
    row.cpu_ms = counts.cpu_ns.load() / 1000000;
    Delivery& d = row.delivery;
    d.delivered = counts.delivered.load() - std::min(counts.delivered.load(), counts.idle.load());
    d.requested = Requested(state.job, row, counts.alive_ns.load(), counts.cpu_ns.load());
    d.coalesced = counts.coalesced.load();
    if (state.job.step != 0) d.requested = d.delivered;  // a step job requests its windows
    d.requested = std::max(d.requested, d.delivered);
    d.coalesced = std::min(d.coalesced, d.requested - d.delivered);
    d.missed = d.requested - d.delivered - d.coalesced;
    d.walks = counts.walks.load();
    d.successful = counts.successful.load();
    threads.push_back(row);
  }
}

Delivery DeliveryOf(const StressJob& job, const StressState& state,
                    const std::vector<CellThreadRow>& threads) {
  Delivery all;
  if (job.step != 0) {
    all.requested = all.delivered = state.steps.load();
  } else {
    for (const CellThreadRow& thread : threads) {
      all.requested += thread.delivery.requested;
      all.delivered += thread.delivery.delivered;
      all.coalesced += thread.delivery.coalesced;
      all.missed += thread.delivery.missed;
    }
  }
  all.walks = state.walks.load();
  all.successful = state.successful.load();
  return all;
}

namespace {

// Calls visit(w, r, d, row) for each agreement[w][r][d], which compares walker w with walker w - 1.
template <typename Visit>
void ForEachComparison(const StressState& state, Visit visit) {
  const auto name = [&](int w) { return AllWalkers()[state.job.walkers[w]].name; };
  for (int w = 1; w < state.job.walker_count; w++)
    for (int r = 0; r < kPcRegions; r++)
      for (int d = 0; d < kDisagreements; d++)
        visit(w, r, d,
              AgreementRow{0, name(w), name(w - 1), Realism::kGenuine,
                           PcRegionWord(static_cast<PcRegion>(r)),
                           DisagreementWord(static_cast<Disagreement>(d)),
                           state.agreement[w][r][d].load()});
}

}  // namespace

std::vector<AgreementRow> AgreementRowsOf(const StressState& state) {
  std::vector<AgreementRow> rows;
  ForEachComparison(state, [&](int, int, int, const AgreementRow& row) {
    if (row.samples > 0) rows.push_back(row);
  });
  return rows;
}

std::vector<EvidenceRow> EvidenceRowsOf(const StressState& state) {
  std::vector<EvidenceRow> rows;
  ForEachComparison(state, [&](int w, int r, int d, const AgreementRow& row) {
    for (int i = 0; i < kWitnesses; i++)
      for (int a = 0; a < kAgainsts; a++)
        if (const uint64_t samples = state.evidence[w][r][d][i][a].load(); samples > 0)
          rows.push_back({0, row.walker, row.other, row.region, row.kind,
                          WitnessWord(static_cast<Witness>(i)),
                          AgainstWord(static_cast<Against>(a)), samples});
  });
  return rows;
}

std::vector<WalkEndRow> WalkEndRowsOf(const StressState& state) {
  std::map<std::pair<std::string, int>, uint64_t> counts;  // a job may name a walker twice
  for (int w = 0; w < state.job.walker_count; w++)
    for (int e = 1; e < kWalkEnds; e++)
      if (const uint64_t count = state.ends[w][e].load(); count > 0)
        counts[{AllWalkers()[state.job.walkers[w]].name, e}] += count;
  std::vector<WalkEndRow> rows;
  for (const auto& [key, count] : counts)
    rows.push_back({0, key.first, WalkEndWord(static_cast<WalkEnd>(key.second)), count});
  return rows;
}

std::vector<WalkTimeRow> WalkTimeRowsOf(const StressState& state, const std::string& label) {
  std::vector<WalkTimeRow> rows;
  for (int w = 0; w < state.job.walker_count; w++)
    for (int depth = 0; depth < kDepthClasses; depth++)
      for (int slot = 0; slot < kTimeSlots; slot++)
        if (const uint64_t count = state.walk_times[w][depth][slot].load(); count > 0)
          rows.push_back({AllWalkers()[state.job.walkers[w]].name, label, LeastFrames(depth),
                          TimeSlotBegin(slot), count});
  return rows;
}

uint64_t WalksOfCode(const StressState& state, int code) {
  uint64_t walks = 0;
  for (const auto& of_state : state.counts[0])
    for (const auto& of_region : of_state) walks += of_region[1 - code].load();
  return walks;
}

std::vector<CountRow> CountRowsOf(const StressState& state, const std::string& label) {
  std::map<uint8_t, std::vector<int>> places;  // a job may name a walker twice: that is one row
  for (int w = 0; w < state.job.walker_count; w++) places[state.job.walkers[w]].push_back(w);
  std::vector<CountRow> rows;
  for (const auto& [walker, at] : places)
    for (int s = 0; s < kMaxStates; s++)
      for (int r = 0; r < kPcRegions; r++)
        for (int c = 0; c < kCodeSlots; c++) {
          uint64_t count = 0;
          for (const int w : at) count += state.counts[w][s][r][c].load();
          if (count == 0) continue;
          const char* word = StateWord(static_cast<uint8_t>(s));
          rows.push_back({AllWalkers()[walker].name, label,
                          s == 0            ? "not-Java"
                          : word == nullptr ? "undeclared"
                                            : word,
                          PcRegionWord(static_cast<PcRegion>(r)), CodeText(c), count});
        }
  return rows;
}

}  // namespace walkhammer
