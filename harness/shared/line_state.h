// SPDX-License-Identifier: Apache-2.0
// LineState: what the memory of a child and that of an agent have in common, at its beginning.
// Signal-safe: yes (fixed-size plain structs and lock-free atomics; no pointers across).
#ifndef WALKHAMMER_HARNESS_SHARED_LINE_STATE_H_
#define WALKHAMMER_HARNESS_SHARED_LINE_STATE_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "harness/base/trace.h"
#include "harness/elf/modules.h"
#include "harness/request/walk_request.h"

namespace walkhammer {

inline constexpr int kMaxWalkers = 4;  // that are shown the same
inline constexpr int kMaxStates = 16;  // last = any undeclared state
inline constexpr int kMaxModules = 64;
inline constexpr int kMaxCrashSites = 256;
inline constexpr int kMaxKeptFrames = 64;

// Where the presented pc lies; the third dimension of the counts.
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

// The fourth dimension: 0 = frames, 1 .. 29 = codes 0 .. -28, 30 = other code, 31 = crash,
// 32 = hang.
inline constexpr int kCodeFrames = 0;
inline constexpr int kCodeOther = 30;
inline constexpr int kCodeCrash = 31;
inline constexpr int kCodeHang = 32;
inline constexpr int kCodeSlots = 33;

// A raw finding on its way to the parent.
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
  Fault fault;            // with kCrashed and kHung, and for what an oracle pins to a pc
  Registers presented;    // the resolved register values that the walker saw
  char detail[256];       // what the oracle says, one sentence
  char where[160];        // what names fault.registers.pc outside of modules, or ""
  int32_t kept_frames;    // frames that follow in `frame_text`
  char frame_text[2048];  // '\n'-separated "pkg.Class.method(Sig)Ret @ bci", newest first
};

// De-duplication inside of the JVM that survives it.
struct CrashSite {
  std::atomic<uint64_t> key;    // 0 = free
  std::atomic<uint64_t> count;  // times seen
  std::atomic<uint64_t> sent;   // findings handed to the parent
  std::atomic<uint64_t> best;   // lowest rank handed over: realism, then edits; + 1, 0 = none
};

// Set by the supervisor: the first two. The rest by the JVM that walks.
struct LineState {
  uint64_t magic;                    // which state it is, and of which layout
  uint64_t start_ns;                 // CLOCK_MONOTONIC at the run's start
  std::atomic<uint64_t> walks;       // judged walks
  std::atomic<uint64_t> successful;  // of these, with num_frames > 0
  std::atomic<uint64_t> contained_crashes;
  std::atomic<uint64_t> dropped_findings;  // for lack of room
  std::atomic<uint32_t> module_count;
  Module modules[kMaxModules];
  CrashSite crash_sites[kMaxCrashSites];
};

// The text in a fixed-size field that a child filled; need not be NUL-terminated.
template <size_t kSize>
std::string FieldText(const char (&field)[kSize]) {
  return std::string(
      std::string_view(field, kSize).substr(0, std::string_view(field, kSize).find('\0')));
}

// Modules that may be read, whatever a dying child wrote over the count.
inline uint32_t ModuleCount(const LineState& state) {
  const uint32_t count = state.module_count.load();
  return count < kMaxModules ? count : kMaxModules;
}

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SHARED_LINE_STATE_H_
