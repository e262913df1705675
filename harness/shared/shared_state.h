// SPDX-License-Identifier: Apache-2.0
// SharedState: the one mapping that parent and child share. The parent makes it (a memfd), the
// child fills it; it outlives the child, so whatever the child did last can be read.
// Signal-safe: yes (fixed-size plain structs and lock-free atomics; no pointers across).
#ifndef WALKHAMMER_HARNESS_SHARED_SHARED_STATE_H_
#define WALKHAMMER_HARNESS_SHARED_SHARED_STATE_H_

#include <atomic>
#include <cstdint>

#include "harness/jvm/structs/safefetch_source.h"
#include "harness/oracles/disagreement.h"
#include "harness/request/symbol_table.h"
#include "harness/request/vocabulary.h"
#include "harness/request/walk_request.h"
#include "harness/shared/line_state.h"

namespace walkhammer {

inline constexpr int kMaxScenes = 32;
inline constexpr int kRingSize = 64;

enum class ChildMode : uint8_t {
  kFuzz,    // random engine until told to stop
  kEngine,  // requests come from a fuzz engine that hosts the JVM: libFuzzer, AFL++
  kReplay,  // one request, once
  kScenes,  // set up every scene, report, end
};

enum class ChildPhase : uint32_t {
  kStarting,  // not yet in main
  kBooting,   // JVM being created
  kScenes,    // scenes being set up
  kRunning,   // walking
  kDone,      // ended as asked
  kRetired,   // no longer walks truly after a contained crash; wants a successor
  kUnable,    // this JDK or machine cannot do it; see message
  kFailed,    // the tool failed; see message
};

// For how many walks the JVM stands still at a time. The random engine's workers take such turns.
inline constexpr uint64_t kWalksPerWindow = 8192;

// Set by the parent before the child starts.
struct Job {
  ChildMode mode;
  uint8_t walker;    // the first; requests and coverage are made for it
  uint8_t keep;      // kReplay: wait for further requests instead of ending after the first
  uint8_t coverage;  // kFuzz, kEngine: set traps on the walker's blocks
  uint8_t alone;     // kEngine: nobody supervises; a finding ends the process
  uint8_t worker;    // which of `workers` that share a campaign
  uint8_t workers;   // 0 reads as 1
  uint8_t churn;     // kFuzz, kEngine: background Java threads press the collector, see Churn
  uint8_t merging;   // kEngine: under libFuzzer's -merge, which takes exit code 0 for "walked all"
  // Walkers that are shown each request after `walker`, and each compared with the one before it.
  uint8_t other_count;
  uint8_t others[kMaxWalkers - 1];
  uint8_t reserved[3];
  uint64_t seed;
  uint64_t first_walk;     // sequence number at which a successor goes on
  uint64_t max_walks;      // 0 = no limit
  uint32_t scene_mask;     // bit i = scene i wanted
  uint32_t hang_limit_ms;  // of the walking thread's CPU time, per walk
  WalkRequest request;     // for kReplay
};

// The walkers of a job, by their place: 0 is Job::walker.
inline int WalkerCount(const Job& job) {
  return 1 + (job.other_count < kMaxWalkers ? job.other_count : kMaxWalkers - 1);
}
inline uint8_t WalkerAt(const Job& job, int place) {
  return place == 0 ? job.walker : job.others[place - 1];
}

// How to boot the JVM; set by the parent before each child starts.
struct Launch {
  char libjvm[1024];
  char flags[15 * 1024];  // one a line
  char provider[1024];    // a library that stands in for libjvm; empty: none
};

// Inputs that ended or retired a child, by InputHash: no successor walks them again, though an
// engine loads them out of its corpus once more.
struct CrashingInputs {
  static constexpr uint32_t kMost = 1024;
  std::atomic<uint64_t> current;  // hash of the input being walked, 0 = none
  std::atomic<uint32_t> count;    // so far; the last kMost of them are kept
  uint64_t hashes[kMost];
};

// Handshake for children that the engine (AFL++, libFuzzer) restarts itself, whose exit the parent
// cannot wait for. The engine's process posts the exit status and waits until the parent has
// acknowledged it; until then the journal holds the dead child's last walk.
struct ChildExitMailbox {
  std::atomic<uint32_t> posted;        // exits so far
  std::atomic<uint32_t> acknowledged;  // of these, seen by the parent
  int32_t wait_status;                 // of the last
  uint32_t reserved;
};

// Which of the walker's blocks were entered; by index into FindBlocks of launch.libjvm.
struct Covered {
  static constexpr uint32_t kMaxBlocks = 16384;
  std::atomic<uint32_t> blocks;  // in the map; 0: no coverage, see `reason`
  char reason[256];
  uint8_t hit[kMaxBlocks];  // 0 or 1
};

// What churn did, over all children.
struct ChurnCounts {
  std::atomic<uint64_t> collections;  // by the JVM's own count, also those that others asked for
  // Written by wh.Churn.
  struct {
    std::atomic<uint64_t> rounds;    // guests loaded, compiled, deoptimised and dropped
    std::atomic<uint64_t> unloaded;  // of these, gone: their class loader was collected
  } java;
};

struct SceneReport {
  bool available;
  bool pristine_true;  // walked to its JVMTI truth
  uint8_t tried;
  uint8_t reserved;
  int32_t truth_frames;
  int32_t tried_by;  // process that set it up
  char reason[240];  // why not available, or how the pristine walk differed
};

// One fact of HotSpot's layout: see LayoutFact of harness/child.
struct LayoutRow {
  char name[62];
  uint8_t present;
  uint8_t proof;
};
inline constexpr uint32_t kMaxLayoutRows = 192;

// The request being walked. `phase` is 1 between the write and the judged result.
struct Journal {
  std::atomic<uint32_t> phase;
  uint32_t reserved;
  std::atomic<uint64_t> sequence;  // walks begun, over all generations of children
  WalkRequest request;
};

// Single producer (child), single consumer (parent).
struct FindingRing {
  std::atomic<uint32_t> head;  // next to write
  std::atomic<uint32_t> tail;  // next to read
  RawFinding slots[kRingSize];
};

// What a replayed walk returned.
struct ReplayResult {
  uint32_t done;  // 1 once the walker came back
  int32_t num_frames;
  char frame_text[8192];  // as RawFinding::frame_text
  uint32_t stand_ins;     // names of the request that this JVM lacks, see Landscape::AddStandIn
  char stand_in[200];     // one of them
};

struct SharedState : LineState {
  static constexpr uint64_t kMagic = 0x57484d534841524c;  // also the layout's version
  Job job;
  Launch launch;
  CrashingInputs crashing;
  ChildExitMailbox exits;

  // Child to parent.
  std::atomic<ChildPhase> phase;
  std::atomic<uint32_t> stop;  // parent to child: end soon
  uint32_t reserved;
  char message[512];          // with kUnable and kFailed: one sentence
  char vm_version[256];       // java.vm.vendor, java.vm.name, java.vm.version
  char vm_gc[64];             // garbage collector in use
  SafeFetchSource safefetch;  // once the scenes are being set up
  std::atomic<uint64_t> pristine_walks;
  std::atomic<uint64_t> pristine_true;
  std::atomic<uint64_t> request_hash;  // order-sensitive hash over all requests made
  ChurnCounts churn;
  SceneReport scenes[kMaxScenes];
  std::atomic<uint32_t> layout_count;
  uint32_t reserved_layout;
  LayoutRow layout[kMaxLayoutRows];
  // By place in the job: Job::walker, then Job::others.
  uint64_t counts[kMaxWalkers][kMaxScenes][kMaxStates][kPcRegions][kCodeSlots];
  // Requests that a walker and the one before it answered.
  uint64_t agreement[kMaxWalkers][kRealisms][kPcRegions][kDisagreements];
  Journal journal;
  std::atomic<uint32_t> asked;     // kReplay: requests put into job.request so far
  std::atomic<uint32_t> answered;  // of these, walked and judged
  ReplayResult replay;
  FindingRing ring;
  Covered covered;
  std::atomic<uint32_t> vocabulary_ready;  // 1: symbols and vocabulary are complete
  uint32_t reserved_too;
  SymbolTable symbols;
  Vocabulary vocabulary;
};

// Before each child starts: nothing of what its forerunner was at is true any more.
void ForgetChild(SharedState& state);

// The environment variable that tells a child which file holds its SharedState.
inline constexpr char kStateVariable[] = "WALKHAMMER_STATE";
// The command, as a shell takes it, by which libFuzzer starts itself anew.
inline constexpr char kCommandVariable[] = "WALKHAMMER_COMMAND";

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SHARED_SHARED_STATE_H_
