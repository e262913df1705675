// SPDX-License-Identifier: Apache-2.0
#include "harness/line/line.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "harness/base/hash.h"
#include "harness/base/ticks.h"

namespace walkhammer {
namespace {

constexpr uint64_t kReportsPerSite = 3;      // at once; later at every fourfold count alone
constexpr uint64_t kMaxReportsPerSite = 16;  // better-ranked findings included

// The calls that led to a crash or an unsafe call, innermost first; empty: the finding has no place
// in the walker's code.
std::span<const uint64_t> CallsOf(const Observation& seen, const Oracle& oracle) {
  const auto calls = [](const uint64_t* native, int32_t count) {
    return std::span(native, static_cast<size_t>(std::clamp(count, 0, kMaxNativeFrames)));
  };
  if (seen.trace.ending == Ending::kCrashed || oracle.at_own_fault)
    return calls(seen.fault->native, seen.fault->native_count);
  if (seen.trace.ending == Ending::kReturned && seen.unsafe_call->function != nullptr)
    return calls(seen.unsafe_call->native, seen.unsafe_call->native_count);
  return {};
}

// The innermost pc that lies in a module, as an offset in it; of the pc itself, with the call that
// led there from the same module. 0: none does.
uint64_t PlaceInModules(std::span<const uint64_t> pcs, const LineState& state) {
  const std::span<const Module> modules(state.modules, ModuleCount(state));
  for (size_t i = 0; i < pcs.size(); i++)
    for (const Module& module : modules) {
      const auto is_in = [&](uint64_t pc) { return pc >= module.start && pc < module.end; };
      if (!is_in(pcs[i])) continue;
      const bool has_caller = i == 0 && pcs.size() > 1 && is_in(pcs[1]);
      return Mix(pcs[i] - module.bias, has_caller ? pcs[i + 1] - module.bias : 0);
    }
  return 0;
}

bool IsMilestone(uint64_t count) {  // 1, 4, 16, 64, ...
  return (count & (count - 1)) == 0 && (count & 0x5555555555555555) != 0;
}

}  // namespace

void CallUncontained(Walker& walker, const WalkInput& input, Trace& trace) {
  trace = {};
  const uint64_t begun = ReadTicks();
  walker.Walk(input, trace);
  trace.ns = NsBetween(begun, ReadTicks());
}

void CallGuarded(GuardSlot& guard, Walker& walker, const WalkInput& input, Trace& trace) {
  trace.ending = GuardedCall(guard, [&] { CallUncontained(walker, input, trace); });
  trace.protected_faults = guard.protected_faults;
}

int CodeSlotOf(const Trace& trace) {
  if (trace.ending == Ending::kCrashed) return kCodeCrash;
  if (trace.ending == Ending::kHung) return kCodeHang;
  if (trace.num_frames > 0) return kCodeFrames;
  return trace.num_frames > 1 - kCodeOther ? 1 - trace.num_frames : kCodeOther;
}

uint64_t SiteOf(const Observation& seen, uint8_t oracle, uint8_t outcome, uint64_t walker,
                const LineState& state) {
  const uint64_t place = PlaceInModules(CallsOf(seen, AllOracles()[oracle]), state);
  const uint64_t scene = AllOracles()[oracle].by_scene ? seen.request->scene + 1U : 0;
  return Mix(Mix(Mix(Mix(Mix(1, oracle), outcome), place), walker), scene) | 1;
}

int WantsReport(LineState& state, uint64_t site, uint64_t rank, bool all) {
  for (uint64_t probe = 0; probe < kMaxCrashSites; probe++) {
    const uint64_t index = (site + probe) % kMaxCrashSites;
    CrashSite& at = state.crash_sites[index];
    uint64_t found = 0;
    if (!at.key.compare_exchange_strong(found, site) && found != site) continue;
    const uint64_t count = at.count.fetch_add(1, std::memory_order_relaxed) + 1;
    const uint64_t sent = at.sent.load(), best = at.best.load();
    if (sent >= kMaxReportsPerSite && !all) return -1;
    if (sent >= kReportsPerSite && rank + 1 >= best && !IsMilestone(count) && !all) return -1;
    at.sent.fetch_add(1);
    if (best == 0 || rank + 1 < best) at.best.store(rank + 1);
    return static_cast<int>(index);
  }
  state.dropped_findings.fetch_add(1);
  return -1;
}

void WasDropped(LineState& state, int site) {
  state.dropped_findings.fetch_add(1);
  CrashSite& at = state.crash_sites[site];
  at.sent.fetch_sub(1);
  at.best.store(UINT64_MAX);
}

int KeptFrames(const Observation& seen, char* text, size_t size) {
  return FramesText(seen.trace, std::min<int>(kMaxKeptFrames, seen.request->depth), *seen.methods,
                    text, size);
}

void FillFinding(const Observation& seen, uint8_t oracle, uint8_t outcome, const char* detail,
                 RawFinding& finding) {
  finding.oracle = oracle;
  finding.outcome = outcome;
  finding.request.against = AgainstOf(seen, AllOracles()[oracle]);
  finding.ending = seen.trace.ending;
  finding.num_frames = seen.trace.num_frames;
  std::snprintf(finding.detail, sizeof finding.detail, "%s", detail);
  if (seen.trace.ending != Ending::kReturned) {
    finding.fault = *seen.fault;
    return;
  }
  if (AllOracles()[oracle].at_own_fault) finding.fault = *seen.fault;
  const UnsafeCall& unsafe = *seen.unsafe_call;
  if (unsafe.function != nullptr) {
    finding.fault.registers.pc = unsafe.native[0];
    finding.fault.native_count = unsafe.native_count;
    std::memcpy(finding.fault.native, unsafe.native, sizeof unsafe.native);
  }
  finding.kept_frames = KeptFrames(seen, finding.frame_text, sizeof finding.frame_text);
}

}  // namespace walkhammer
