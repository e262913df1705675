// SPDX-License-Identifier: Apache-2.0
// SharedState: the one mapping that parent and child share. The parent makes the mapping (a memfd),
// the child fills it. The mapping outlives the child, so the child's last action can be read.
// Signal-safe: yes (fixed-size plain structs and lock-free atomics, no pointers).
#ifndef WALKHAMMER_HARNESS_IPC_SHARED_STATE_H_
#define WALKHAMMER_HARNESS_IPC_SHARED_STATE_H_

#include <atomic>
#include <cstdint>

#include "harness/base/walk_time.h"
#include "harness/ipc/line_state.h"
#include "harness/jvm/structs/safefetch_source.h"
#include "harness/oracles/disagreement.h"
#include "harness/request/symbol_table.h"
#include "harness/request/vocabulary.h"
#include "harness/request/walk_request.h"

namespace walkhammer {

inline constexpr int kMaxScenes = 32;
inline constexpr int kRingSize = 64;

enum class ChildMode : uint8_t {
  kFuzz,    // random engine, until `stop` or max_walks
  kEngine,  // requests come from a fuzz engine that hosts the JVM: libFuzzer, AFL++
  kReplay,  // one request; with `keep`, further ones
  kScenes,  // set up the scenes of scene_mask, report, end
  kFaults,  // each load of each scene's undisturbed walks fails once
};

enum class ChildPhase : uint32_t {
  kStarting,  // not yet in main
  kBooting,   // JVM being created
  kScenes,    // scenes being set up
  kRunning,   // walking
  kDone,      // ended as asked
  kRetired,   // cannot walk correctly after a contained crash; needs a successor
  kUnable,    // this JDK or machine cannot do it; see message
  kFailed,    // the tool failed; see message
};

// Length of a window: walks for which the JVM stands still at a time. The random engine's workers
// take windows in turn.
inline constexpr uint64_t kWalksPerWindow = 8192;

// Set by the parent before the child starts.
struct Job {
  ChildMode mode;
  uint8_t walker;    // the first walker; requests and coverage are made for this one
  uint8_t keep;      // kReplay: wait for further requests instead of ending after the first
  uint8_t coverage;  // kFuzz, kEngine: set traps on the walker's blocks
  uint8_t alone;     // kEngine: no parent supervises; a Forbidden finding ends the process
  uint8_t churn;     // kFuzz, kEngine: run background Java threads, see Churn
  uint8_t merging;   // exit code of an early end: 1 under libFuzzer's -merge (0: "walked all")
  // Further walkers. Each request is shown to `walker`, then to these; each is compared with the
  // walker before it.
  uint8_t other_count;
  uint8_t others[kMaxWalkers - 1];
  uint8_t uncontained;  // kReplay: walk the request in a signal handler, without the guard
  uint32_t worker;      // index of this worker among the `workers` of a campaign, over all shards
  uint32_t workers;     // 0 reads as 1
  uint64_t seed;
  uint64_t first_walk;     // sequence number of the first walk: a successor goes on there
  uint64_t max_walks;      // 0 = no limit
  uint32_t scene_mask;     // bit i = scene i wanted
  uint32_t hang_limit_ms;  // CPU time of the walking thread, per walk
  uint32_t without;        // bit i = AllOracles()[i] is not asked
  WalkRequest request;     // for kReplay
};

// The walkers of a job by place: 0 is Job::walker, 1 and up are Job::others.
inline int WalkerCount(const Job& job) {
  return 1 + (job.other_count < kMaxWalkers ? job.other_count : kMaxWalkers - 1);
}
inline uint8_t WalkerAt(const Job& job, int place) {
  return place == 0 ? job.walker : job.others[place - 1];
}

// How to boot the JVM; set by the parent before each child starts.
struct Launch {
  char libjvm[1024];
  char flags[15 * 1024];  // one per line
  char provider[1024];    // a library that stands in for libjvm; empty: none
};

// Inputs that ended or retired a child, by InputHash. A successor skips these inputs when its
// engine loads them from the corpus again.
struct CrashingInputs {
  static constexpr uint32_t kMost = 1024;
  std::atomic<uint64_t> current;  // hash of the input being walked, 0 = none
  std::atomic<uint32_t> count;    // crashing inputs so far; the last kMost are kept
  uint64_t hashes[kMost];
};

// Handshake for children that an engine's process (walk_afl) restarts itself, so that the parent
// cannot wait for their exit. walk_afl posts the exit status and waits until the parent has
// acknowledged it; until then the journal holds the dead child's last walk.
struct ChildExitMailbox {
  std::atomic<uint32_t> posted;        // exits so far
  std::atomic<uint32_t> acknowledged;  // exits seen by the parent
  int32_t wait_status;                 // of the last exit
  uint32_t
      by_engine;  // of the last exit: 1 if the walk did not end and the engine killed the child
};

// Blocks of the walker that were entered, by index into BlockMap::blocks of FindWalkerCode.
struct Covered {
  static constexpr uint32_t kMaxBlocks = 16384;
  std::atomic<uint32_t> blocks;  // number of blocks in the map; 0: no coverage, see `reason`
  char reason[256];
  uint8_t hit[kMaxBlocks];  // 0 or 1
};

// What churn did, over all children.
struct ChurnCounts {
  std::atomic<uint64_t> collections;  // by the JVM's own count, whatever caused them
  // Written by wh.Churn.
  struct {
    std::atomic<uint64_t> rounds;    // guests loaded, compiled, deoptimised and dropped
    std::atomic<uint64_t> unloaded;  // guests whose class loader was collected
  } java;
};

// What became of loads that were made to fail, over all children.
struct FailedLoads {
  std::atomic<uint64_t> loads;      // of the undisturbed walks that were begun
  std::atomic<uint64_t> contained;  // the walker got over the failed load
  std::atomic<uint64_t> crashed;    // it did not, or faulted elsewhere after it
  std::atomic<uint64_t> hung;
  std::atomic<uint64_t> missed;  // the walk did not come to the load again
  std::atomic<uint64_t> unseen;  // undisturbed walks that were not traced to their end
  std::atomic<uint64_t>
      finished;  // undisturbed walks all of whose loads have failed, or were missed
};

struct SceneReport {
  bool available;
  bool pristine_true;  // all undisturbed walks gave the JVMTI truth
  uint8_t tried;
  uint8_t reserved;
  int32_t truth_frames;
  int32_t tried_by;  // pid of the process that tried last
  char reason[240];  // why not available, or how the undisturbed walk differed
};

// One fact of HotSpot's layout: see LayoutFact of harness/layout_check.
struct LayoutRow {
  char name[62];
  uint8_t present;
  uint8_t proof;
};
inline constexpr uint32_t kMaxLayoutRows = 192;

// The request being walked.
struct Journal {
  static constexpr uint32_t kIdle = 0;     // no walk is at work: nobody is to blame for sure
  static constexpr uint32_t kWalking = 1;  // from before the walker's call to the judged answer
  static constexpr uint32_t kWalked = 2;   // the answer is judged; what the walk left is looked at
  // True if a death now is the request's doing.
  bool Blames() const { return phase.load() == kWalking || phase.load() == kWalked; }

  std::atomic<uint32_t> phase;
  uint32_t reserved;
  std::atomic<uint64_t> sequence;  // of the request; continues over all generations of children
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
  uint32_t done;    // 1 once the walker has returned
  uint32_t unable;  // 1: this request cannot be walked, see SharedState::message; others may
  int32_t num_frames;
  char frame_text[8192];  // in the form of RawFinding::frame_text
  uint32_t stand_ins;     // unknown names that got an address, see AddressMap::AddStandIn
  char stand_in[200];     // one of these names
};

struct SharedState : LineState {
  static constexpr uint64_t kMagic = 0x57484d534841524e;  // also the layout's version
  Job job;
  Launch launch;
  CrashingInputs crashing;
  ChildExitMailbox exits;

  // Written by the child, where no comment says otherwise.
  std::atomic<ChildPhase> phase;
  std::atomic<uint32_t> stop;  // written by the parent: the child is to end soon
  uint32_t reserved;
  char message[512];          // with kUnable and kFailed: one sentence
  char vm_version[256];       // java.vm.vendor, java.vm.name, java.vm.version
  char vm_gc[64];             // garbage collector in use
  SafeFetchSource safefetch;  // valid from phase kScenes on
  std::atomic<uint64_t> pristine_walks;
  std::atomic<uint64_t> pristine_true;
  std::atomic<uint64_t> request_hash;    // see WalkWindow
  std::atomic<uint64_t> walking_cpu_ns;  // CPU time of the random engine's windows that ended
  ChurnCounts churn;
  FailedLoads failed_loads;
  std::atomic<uint64_t> unknown_methods;  // MethodRegistry::unknown, summed over all children
  SceneReport scenes[kMaxScenes];
  std::atomic<uint32_t> layout_count;
  uint32_t reserved_layout;
  LayoutRow layout[kMaxLayoutRows];
  // First index: the walker's place in the job.
  uint64_t counts[kMaxWalkers][kMaxScenes][kMaxStates][kPcRegions][kCodeSlots];
  // Walks that returned frames, by walker (its place in the job), scene and TimeSlotOf.
  uint64_t walk_times[kMaxWalkers][kMaxScenes][kTimeSlots];
  // Requests that a walker (first index: its place in the job) and the walker before it answered.
  uint64_t agreement[kMaxWalkers][kRealisms][kPcRegions][kDisagreements];
  Journal journal;
  std::atomic<uint32_t> asked;     // by the parent; kReplay: requests put into job.request so far
  std::atomic<uint32_t> answered;  // kReplay: requests walked and judged so far
  ReplayResult replay;
  FindingRing ring;
  Covered covered;
  std::atomic<uint32_t> vocabulary_ready;  // 1: symbols and vocabulary are complete
  uint32_t reserved_too;
  SymbolTable symbols;
  Vocabulary vocabulary;
};

// Clears what the previous child was doing: journal phase, current input, the scenes it had tried,
// phase and message. To be called before each child starts.
void ForgetChild(SharedState& state);

// Environment variable: path of the file that holds the SharedState or StressState of a process.
inline constexpr char kStateVariable[] = "WALKHAMMER_STATE";
// Environment variable: the shell command by which libFuzzer restarts itself.
inline constexpr char kCommandVariable[] = "WALKHAMMER_COMMAND";

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_IPC_SHARED_STATE_H_
