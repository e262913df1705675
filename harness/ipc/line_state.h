// SPDX-License-Identifier: Apache-2.0
// LineState: the common first part of SharedState (a child's memory) and StressState (an agent's).
// Signal-safe: FieldText no; the rest yes (fixed-size plain structs and lock-free atomics).
#ifndef WALKHAMMER_HARNESS_IPC_LINE_STATE_H_
#define WALKHAMMER_HARNESS_IPC_LINE_STATE_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "harness/base/trace.h"
#include "harness/elf/modules.h"
#include "harness/request/walk_request.h"

namespace walkhammer {

inline constexpr int kMaxWalkers = 4;  // walkers of one job, each shown the same
inline constexpr int kMaxStates = 16;  // last = any undeclared state
inline constexpr int kMaxModules = 64;
inline constexpr int kMaxCrashSites = 1024;
inline constexpr int kMaxKeptFrames = 64;

// Where the presented pc is; the last dimension but one of `counts`.
enum class PcRegion : uint8_t {
  kPristine,
  kShifted,
  kNmethod,
  kStub,
  kCodelet,
  kLibrary,
  kCodeCache,
  kStack,
  kHeap,
  kMetaspace,
  kUnmapped,
  kLiteral,
  kCount
};
inline constexpr int kPcRegions = static_cast<int>(PcRegion::kCount);
const char* PcRegionWord(PcRegion region);

// The last dimension of `counts`: 0 = frames, 1 .. 29 = codes 0 .. -28, 30 = other code,
// 31 = crash, 32 = hang.
inline constexpr int kCodeFrames = 0;
inline constexpr int kCodeOther = 30;
inline constexpr int kCodeCrash = 31;
inline constexpr int kCodeHang = 32;
inline constexpr int kCodeSlots = 33;

// A finding as the walking process hands it to the parent or supervisor.
struct RawFinding {
  uint64_t sequence;
  uint64_t time_ms;  // since the run's start, CLOCK_MONOTONIC based
  WalkRequest request;
  uint8_t oracle;   // index into the oracle table
  uint8_t outcome;  // index into that oracle's outcomes
  Ending ending;
  uint8_t reserved;
  uint32_t site;  // index into LineState::crash_sites
  int32_t num_frames;
  Fault fault;            // of a crash or hang; of an unsafe call: pc and native chain
  Registers presented;    // the resolved register values that the walker saw
  char detail[256];       // one sentence by the oracle
  char where[160];        // generated code that holds fault.registers.pc, or ""
  int32_t kept_frames;    // number of frames in `frame_text`
  char frame_text[2048];  // '\n'-separated "pkg.Class.method(Sig)Ret @ bci", newest first
};

// De-duplicates findings in the walking JVM; outlives that JVM.
struct CrashSite {
  std::atomic<uint64_t> key;    // 0 = free
  std::atomic<uint64_t> count;  // times seen
  std::atomic<uint64_t> sent;   // findings handed to the parent
  std::atomic<uint64_t> best;   // 1 + lowest RankOf of the findings handed over; 0 = none
};

// `magic` and `start_ns` are set by the process that makes the state, the rest by the walking JVM.
struct LineState {
  uint64_t magic;                    // kind of state and version of its layout
  uint64_t start_ns;                 // CLOCK_MONOTONIC at the run's start
  std::atomic<uint64_t> walks;       // judged walks
  std::atomic<uint64_t> successful;  // of these, those with num_frames > 0
  std::atomic<uint64_t> contained_crashes;
  std::atomic<uint64_t> dropped_findings;  // for lack of room
  std::atomic<uint32_t> module_count;
  Module modules[kMaxModules];
  CrashSite crash_sites[kMaxCrashSites];
};

// Copies `text` into a fixed-size field, cut where that is full.
template <size_t kSize>
void CopyText(std::string_view text, char (&field)[kSize]) {
  field[text.copy(field, kSize - 1)] = 0;
}

// Returns the text in a fixed-size field that a child filled; the field need not contain a NUL.
template <size_t kSize>
std::string FieldText(const char (&field)[kSize]) {
  const std::string_view whole(field, kSize);
  return std::string{whole.substr(0, whole.find('\0'))};
}

// Number of entries of `modules` that may be read, even if a dying child overwrote module_count.
inline uint32_t ModuleCount(const LineState& state) {
  const uint32_t count = state.module_count.load();
  return count < kMaxModules ? count : kMaxModules;
}

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_IPC_LINE_STATE_H_
