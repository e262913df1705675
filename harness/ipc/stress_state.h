// SPDX-License-Identifier: Apache-2.0
// StressState: the one mapping that the agent in a sampled JVM and its supervisor share. The
// supervisor makes the mapping (a memfd), the agent fills it. The mapping outlives the JVM, so the
// sample that killed the JVM can be read. The mapping's size is fixed, whatever the duration: the
// agent records nothing beyond it.
// Signal-safe: yes (fixed-size plain structs and lock-free atomics, no pointers).
#ifndef WALKHAMMER_HARNESS_IPC_STRESS_STATE_H_
#define WALKHAMMER_HARNESS_IPC_STRESS_STATE_H_

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>

#include "harness/base/walk_end.h"
#include "harness/base/walk_time.h"
#include "harness/ipc/line_state.h"
#include "harness/oracles/disagreement.h"
#include "harness/oracles/evidence.h"
#include "harness/oracles/testimony.h"

namespace walkhammer {

// The signal of samples: a standard signal, so that pending ones merge instead of queueing up.
inline constexpr int kSampleSignal = SIGPROF;

inline constexpr int kMaxSampledThreads = 1024;
inline constexpr int kWalkSlots = 48;     // walks at the same time, over all threads
inline constexpr int kSampleWords = 512;  // stack words kept with a sample

enum class SamplerKind : uint8_t { kAuto, kPerf, kTimer, kThread, kCount };
enum class SampleClock : uint8_t { kCpu, kWall };
// Where a sample is walked.
enum class WalkMode : uint8_t {
  kHandler,  // on the sampled thread, in its signal handler
  kParked,   // by another thread, while the sampled thread waits in its handler
  kRunning,  // by another thread, while the sampled thread runs on
  kNested,   // in the handler, and again in the handler of a signal that interrupts this walk
  kCount
};

// Values of StressJob::step.
inline constexpr uint8_t kStepByTrapFlag = 1, kStepByPtrace = 2;

// Set by the supervisor before the JVM starts.
struct StressJob {
  uint8_t walkers[kMaxWalkers];  // indexes into the walker table; each is shown the same sample
  uint8_t walker_count;
  uint8_t witness;  // 1 + index of the walker that answers are compared with; 0: none
  SamplerKind sampler;
  SampleClock clock;
  WalkMode mode;
  bool native_threads;  // sample also threads that run no Java
  bool no_walk;         // the handler does not walk, so that signals alone are measured
  bool uncontained;     // walks have no guard: what crashes one ends the program
  uint8_t step;         // 0: sample; kStepByTrapFlag, kStepByPtrace
  bool truth;           // kParked: compare with JVMTI if the thread is in native or blocked
  uint16_t depth;
  uint16_t rehearsal;  // the program is wh.Rehearsal: the agent binds its natives
  uint32_t hang_limit_ms;
  uint32_t without;        // bit i = AllOracles()[i] is not asked
  uint32_t park_limit_ms;  // longest wait of a sampled thread for its walk to begin
  uint64_t seed;
  uint64_t interval_min_ns, interval_max_ns;  // both 0: back to back
  uint64_t step_limit;                        // instructions, 0: no limit
  uint64_t step_window;   // instructions stepped in a row before the thread runs freely for a while
  char step_thread[64];   // part of the name of the thread to step; empty: the busiest
  char step_method[160];  // windows begin with "pkg.Class.method" on the stack; empty: anywhere
  char provider[1024];    // see Launch::provider
};

enum class AgentPhase : uint32_t {
  kAbsent,    // the JVM has not loaded the agent
  kLoaded,    // before VMInit
  kSampling,  // signals come
  kStopped,   // no more signals will come; the program runs on
  kEnded,     // the JVM ended normally
  kUnable,    // this JVM cannot be sampled; see message
};

// A sample as the walker was shown it, with what is needed to turn it into a request.
struct Sample {
  uint64_t sequence;
  uint64_t time_ns;  // CLOCK_MONOTONIC
  int32_t tid;
  uint8_t state;  // JavaThreadState; 0 for a thread that is not Java
  uint8_t walker;
  uint8_t java;
  uint8_t nested;
  Registers registers;
  uint64_t anchor_sp, anchor_pc, anchor_fp;
  uint64_t thread;                   // the JavaThread; 0 for a thread that is not Java
  uint64_t stack_limit, stack_base;  // bounds of the thread's stack; 0: not known
  uint32_t words;                    // words of `stack` in use
  uint32_t reserved;
  uint64_t stack[kSampleWords];  // from sp up
};

// The sample being walked. `phase` is 1 from the write of `sample` until its walk is judged.
struct SampleJournal {
  std::atomic<uint32_t> phase;
  uint32_t reserved;
  Sample sample;
};

// How one thread was sampled. Entry 0 of StressState::threads sums up ended threads whose entries
// were reused.
struct ThreadCounts {
  std::atomic<int32_t> tid;  // 0: free
  uint8_t java;
  uint8_t ended;
  uint8_t reserved[2];
  char name[48];
  std::atomic<uint64_t> cpu_ns;  // CPU time of the thread while it was sampled
  std::atomic<uint64_t> alive_ns;
  std::atomic<uint64_t> delivered, coalesced, idle, no_walk_slot, walks, successful;
};

// The counts that ended threads leave to one sum.
inline constexpr std::atomic<uint64_t> ThreadCounts::*kThreadSums[] = {
    &ThreadCounts::cpu_ns,    &ThreadCounts::alive_ns,  &ThreadCounts::delivered,
    &ThreadCounts::coalesced, &ThreadCounts::idle,      &ThreadCounts::no_walk_slot,
    &ThreadCounts::walks,     &ThreadCounts::successful};

// The sampled stacks of one process, as a tree in memory of fixed size. A node is a frame below its
// caller's node, and counts the walks that ended there; frames are shared by all stacks that begin
// alike.
struct StackNodes {
  static constexpr int kBits = 21;
  static constexpr uint32_t kPlaces = 1u << kBits;
  static constexpr int kRecentBits = 16;

  // Who is above a node: the root, or the node at a place.
  static constexpr uint32_t kRoot = 1;
  static constexpr uint32_t AtPlace(uint32_t place) { return place + 2; }
  static constexpr uint32_t PlaceOfNode(uint32_t node) { return node - 2; }
  // A frame is an offset into StressState::names. Failed walks are two nodes: the walker's (the
  // frame is kFailedWalk + its index in the walker table), and below it the code's.
  static constexpr uint32_t kFailedWalk = 1u << 31;

  static constexpr uint64_t Key(uint32_t above, uint32_t frame) {
    return static_cast<uint64_t>(above) << 32 | frame;
  }
  static constexpr uint32_t AboveOf(uint64_t key) { return static_cast<uint32_t>(key >> 32); }
  static constexpr uint32_t FrameOf(uint64_t key) { return static_cast<uint32_t>(key); }

  // Page-aligned, so that it can be emptied without being touched.
  alignas(4096) std::atomic<uint64_t> keys[kPlaces];  // 0: free; once set, it stays
  std::atomic<uint32_t> counts[kPlaces];              // of walks; wraps around
  // Where whole stacks that were seen before end: 43 bits of a hash, then the place. 0: none.
  std::atomic<uint64_t> recent[1 << kRecentBits];
};

// A finding for the supervisor. Several threads may write findings at the same time.
struct StressFinding {
  std::atomic<uint32_t> state;  // 0 free, 1 being written, 2 ready
  uint32_t reserved;
  RawFinding raw;  // of its request, only walker, state, depth and against are set
  Sample sample;
};

// A piece of generated code, as reported by JVMTI's events and the code cache.
struct CodeEntry {
  std::atomic<uint64_t> begin;  // 0: free
  uint64_t end;
  uint32_t name;  // offset into `names`
  uint8_t kind;   // SymbolKind: kNmethod, kStub or kCodelet
  int8_t level;   // of an nmethod; -1: not known
  uint8_t gone;   // 1: the code is no longer there
  uint8_t reserved;
  int32_t frame_complete;  // bytes from `begin` to where its CodeBlob's frame is built; -1: never
  int32_t frame_words;     // its CodeBlob's frame, with the return address; 0: not known, or none
  int32_t entry;           // bytes from `begin` to an nmethod's verified entry
  uint32_t id;             // an nmethod's compile id, which its successors do not have
  uint64_t id_at;          // address of that id; 0: not known
};

// A method. Its Method* stays valid as long as its class.
struct MethodPlace {
  std::atomic<uint64_t> method;  // Method*; 0: free
  uint64_t codes;                // address of its first bytecode
  uint32_t code_size;            // bytes; 0: not known
  uint32_t name;                 // offset into `names`
};

// Mapped memory of the process. Adjoining mappings with the same `readable` are one area.
struct Area {
  uint64_t begin, end;
  uint8_t readable;
  uint8_t reserved[7];
};

// A walker's answers at an instruction that was stepped.
struct StepAnswers {
  uint32_t answered, failed, wrong;
  uint32_t proven, contradicted;                // by the calls that were made: a CallerVerdict
  uint32_t caller_proven, caller_contradicted;  // by the newest of them: NewestCalls
  int32_t code;                                 // last error code
};

// How far from an instruction's sp and fp an address was.
struct SeenAddress {
  static constexpr int32_t kFar = INT32_MIN;  // a distance that does not fit
  uint32_t steps;
  uint32_t other_sp, other_fp;  // of these: not as far from sp, from fp as at first
  int32_t from_sp, from_fp;     // bytes from sp and fp up, at the first step
};

// Where an instruction finds the return address of its frame, by the calls that were made. `steps`:
// at which it was on the stack.
struct SeenPlace : SeenAddress {
  uint32_t in_register;  // steps at which it was in a register alone
  int32_t last_sp;       // bytes from sp up, at the last step of other_sp
  uint32_t registers;    // bit i: register i held it at all steps of both kinds
  // Steps at which an answer with the right callers does not tell which word the walker has read: a
  // word that it may take for the return address held a copy, or the newest call is not known.
  uint32_t ambiguous;
  // Steps at which the return address of one of the newest calls (NewestCalls) was not what the
  // call had pushed: a caller is being deoptimised (frame::deoptimize), or is in the heap.
  uint32_t replaced;
};

// How many of the 8 bytes from `pc` on are in its page; the next one may be unmapped.
inline int CodeBytesAt(uint64_t pc) {
  constexpr uint64_t kPage = 4096;
  return static_cast<int>(std::min<uint64_t>(8, kPage - pc % kPage));
}
// These bytes, which tell whether other code has come there. Those behind them are 0.
[[gnu::no_sanitize_address]] inline uint64_t CodeWordAt(uint64_t pc) {
  const auto* words = reinterpret_cast<const volatile uint64_t*>(pc & ~uint64_t{7});
  const uint64_t shift = 8 * (pc & 7);
  const uint64_t begin = words[0] >> shift;
  return shift == 0 || CodeBytesAt(pc) < 8 ? begin : begin | words[1] << (64 - shift);
}

// Where an instruction finds the stack pointer of its compiled caller, as that was before the call.
struct SeenSender : SeenAddress {
  // Bytes from an interpreted frame's fp to the word of its caller's sp.
  static constexpr int32_t kSlot = -8;  // interpreter_frame_sender_sp_offset of x86_64
  uint32_t in_frame;                    // steps at which the word at fp + kSlot held it
  uint32_t registers;                   // bit i: register i held it at all steps
};

// An instruction that was stepped, and the first walker's answers there.
struct SteppedPc : StepAnswers {
  std::atomic<uint64_t> pc;  // 0: free
  uint32_t steps;
  std::atomic<bool> outdated;  // `seen` is of code that other code has replaced
  std::atomic<bool> outside;   // a thread that was not in Java was stepped here, too
  uint64_t word;               // CodeWordAt(pc) at the steps of `seen`
  SeenPlace seen;
  SeenSender sender;
  StepAnswers others[kMaxWalkers - 1];  // of the other walkers

  const StepAnswers& Of(int walker) const { return walker == 0 ? *this : others[walker - 1]; }
  StepAnswers& Of(int walker) { return walker == 0 ? *this : others[walker - 1]; }
};

struct StressState : LineState {
  static constexpr uint64_t kMagic = 0x57485354524553b7;  // also the layout's version
  static constexpr uint32_t kNamesBytes = 12 << 20;
  static constexpr uint32_t kMaxCode = 1 << 16;
  static constexpr uint32_t kMaxPcs = 1 << 17;
  static constexpr uint32_t kMaxMethods = 1 << 17;
  static constexpr uint32_t kMaxAreas = 4096;
  static constexpr int kRing = 64;

  StressJob job;

  std::atomic<AgentPhase> phase;
  std::atomic<uint32_t> stop;              // written by the supervisor: no more samples
  std::atomic<uint32_t> handlers_changed;  // a signal whose handler was replaced; 0: none
  std::atomic<int32_t> pid;
  std::atomic<int32_t> supervisor;  // pid; the agent stops sampling when this process ends
  uint32_t lacking;                 // with kUnable: 1: this JVM lacks something; 0: the tool failed
  char message[512];
  char vm_version[256];
  char vm_gc[64];
  SamplerKind sampler;       // in use
  char sampler_reason[200];  // why this sampler

  char not_interposed[200];  // why signal-safety sees nothing, or not all; empty: it does
  char no_witness[200];      // why the job's witness cannot be asked; empty: it can
  uint32_t unwatched_slots;  // walk slots whose hangs nobody would notice
  uint32_t undescribed;      // 1: the JVM has no vmStructs; 0: it has
  uint32_t follows_calls;    // in steps: 1: the stepped shadow stack is kept; 0: it is not
  // Samples that were walked on a signal stack of the program's own, whose overflow would not be
  // contained.
  std::atomic<uint64_t> foreign_stacks;

  std::atomic<uint64_t> abandoned;        // samples whose walk did not begin within park_limit_ms
  std::atomic<uint64_t> untracked;        // signals on threads that are not tracked
  std::atomic<uint64_t> dropped_stacks;   // samples for whose frames `stacks` had not enough room
  std::atomic<uint32_t> rootless_stacks;  // of these, those without any frame; wraps around
  std::atomic<uint64_t> unarmed;          // threads whose sampler the kernel refused
  std::atomic<uint64_t> truth_checked, shadow_checked;  // samples compared: JVMTI, shadow stack
  std::atomic<uint64_t> agent_kib;  // highest resident memory of the agent itself
  std::atomic<uint64_t> steps, step_windows;
  std::atomic<uint64_t> step_ns;  // in windows: CPU time; with kStepByPtrace wall-clock time
  // kStepByPtrace. step_tid: the thread that the agent needs stepped; 0: none. step_on: 0: not
  // stepped, 1: steps begin or some were missed (both set by the supervisor), 2: steps go on (set
  // by the thread's handler).
  std::atomic<int32_t> step_tid;
  std::atomic<uint32_t> step_on;

  std::atomic<uint64_t> counts[kMaxWalkers][kMaxStates][kPcRegions][kCodeSlots];
  // Walks that returned frames, by walker (its place in the job), DepthClassOf and TimeSlotOf.
  std::atomic<uint64_t> walk_times[kMaxWalkers][kDepthClasses][kTimeSlots];
  // Walks that returned, of a walker (its place in the job), by WalkEnd.
  std::atomic<uint64_t> ends[kMaxWalkers][kWalkEnds];
  // Samples that a walker (first index: its place in the job) and the walker before it answered.
  std::atomic<uint64_t> agreement[kMaxWalkers][kPcRegions][kDisagreements];
  // Samples of `agreement` that a witness could judge, by whom the witness contradicts.
  std::atomic<uint64_t> evidence[kMaxWalkers][kPcRegions][kDisagreements][kWitnesses][kAgainsts];
  // Samples of threads in Java that the job's witness answered, by a walker (its place in the job),
  // how its answer compares, and the second in which it was made, modulo kWitnessSlices: samples of
  // one moment are alike.
  std::atomic<uint64_t> witnessed[kMaxWalkers][kTestimonies][kWitnessSlices];
  ThreadCounts threads[kMaxSampledThreads];
  SampleJournal journals[kWalkSlots];
  StressFinding ring[kRing];
  StackNodes stacks;
  std::atomic<uint32_t> code_count;  // entries of `code` that are or were in use
  CodeEntry code[kMaxCode];
  std::atomic<uint32_t> method_count;  // methods so far; the last kMaxMethods are kept
  MethodPlace methods[kMaxMethods];
  std::atomic<uint32_t> area_count;  // as it was some seconds ago
  Area areas[kMaxAreas];
  SteppedPc pcs[kMaxPcs];
  char names[kNamesBytes];
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_IPC_STRESS_STATE_H_
