// SPDX-License-Identifier: Apache-2.0
// StressState: the one mapping that the agent in a sampled JVM and its supervisor share. The
// supervisor makes it (a memfd), the agent fills it; it outlives the JVM, so the sample that killed
// it can be read. Fixed size: whatever the duration, this is all that the agent records.
// Signal-safe: yes (fixed-size plain structs and lock-free atomics; no pointers across).
#ifndef WALKHAMMER_HARNESS_SHARED_STRESS_STATE_H_
#define WALKHAMMER_HARNESS_SHARED_STRESS_STATE_H_

#include <atomic>
#include <csignal>
#include <cstdint>

#include "harness/oracles/disagreement.h"
#include "harness/oracles/evidence.h"
#include "harness/shared/line_state.h"

namespace walkhammer {

// The signal that samples come with: one of the standard ones, so that what is not handled in time
// merges instead of queueing up.
inline constexpr int kSampleSignal = SIGPROF;

inline constexpr int kMaxSampledThreads = 1024;
inline constexpr int kWalkSlots = 48;     // walks at the same time, over all threads
inline constexpr int kSampleWords = 512;  // of the stack, kept with a sample

enum class SamplerKind : uint8_t { kAuto, kPerf, kTimer, kThread, kCount };
enum class SampleClock : uint8_t { kCpu, kWall };
// Where a sample is walked.
enum class WalkMode : uint8_t {
  kHandler,  // on the sampled thread, in its signal handler
  kParked,   // by another thread, while the sampled one waits in its handler
  kRunning,  // by another thread, while the sampled one goes on
  kNested,   // in the handler, and again in a second signal's handler in the middle of it
  kCount
};

// StressJob::step.
inline constexpr uint8_t kStepByTrapFlag = 1, kStepByPtrace = 2;

// Set by the supervisor before the JVM starts.
struct StressJob {
  uint8_t walkers[kMaxWalkers];  // indexes into the walker table; the same sample for each
  uint8_t walker_count;
  SamplerKind sampler;
  SampleClock clock;
  WalkMode mode;
  uint8_t native_threads;  // sample also threads that run no Java
  uint8_t no_walk;         // an empty handler: what signals alone cost
  uint8_t step;            // 0: sample; kStepByTrapFlag, kStepByPtrace
  uint8_t truth;           // compare with JVMTI where the thread stands still anyway
  uint16_t depth;
  uint16_t rehearsal;  // the program is wh.Rehearsal: give it its natives
  uint32_t hang_limit_ms;
  uint32_t park_limit_ms;  // how long a sampled thread waits for its walker at most
  uint64_t seed;
  uint64_t interval_min_ns, interval_max_ns;  // both 0: back to back
  uint64_t step_limit;                        // instructions, 0: no limit
  uint64_t step_window;   // instructions stepped in a row before the thread runs freely for a while
  char step_thread[64];   // part of the name of the thread to step
  char step_method[160];  // step while this method is on the stack: "pkg.Class.method"; empty: any
  char provider[1024];    // as in Launch
};

enum class AgentPhase : uint32_t {
  kAbsent,    // the JVM has not loaded the agent
  kLoaded,    // before VMInit
  kSampling,  // signals come
  kStopped,   // no more signals will come; the program goes on
  kEnded,     // the JVM ended in order
  kUnable,    // this JVM cannot be sampled; see message
};

// A sample as the walker was shown it, with what is needed to make a request of it.
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
  uint32_t words;                    // of `stack`
  uint32_t reserved;
  uint64_t stack[kSampleWords];  // from sp up
};

// The sample being walked. `phase` is 1 between its write and the judged result.
struct SampleJournal {
  std::atomic<uint32_t> phase;
  uint32_t reserved;
  Sample sample;
};

// How one thread was sampled. Counters are written by that thread alone.
struct ThreadCounts {
  std::atomic<int32_t> tid;  // 0: free
  uint8_t java;
  uint8_t ended;
  uint8_t reserved[2];
  char name[48];
  std::atomic<uint64_t> cpu_ns;  // of the thread while it was sampled
  std::atomic<uint64_t> alive_ns;
  std::atomic<uint64_t> delivered, coalesced, idle, no_walk_slot, walks, successful;
};

// A finding on its way to the supervisor; several threads write.
struct StressFinding {
  std::atomic<uint32_t> state;  // 0 free, 1 being written, 2 ready
  uint32_t reserved;
  RawFinding raw;  // its request holds walker, state and depth only
  Sample sample;
};

// A distinct stack and how often it was seen, by names: offsets into `names`.
struct SeenStack {
  std::atomic<uint64_t> hash;  // 0: free
  std::atomic<uint64_t> count;
  uint32_t first;   // index into stack_frames, newest frame first
  uint16_t frames;  // 0: a failed walk
  uint8_t state;
  uint8_t walker;
  std::atomic<uint32_t> ready;
  int32_t code;  // of a failed walk; kCrashed and kHung count as kCodeCrash and kCodeHang
};

// A piece of generated code, as JVMTI's events and the code cache told of it.
struct CodeEntry {
  std::atomic<uint64_t> begin;  // 0: free
  uint64_t end;
  uint32_t name;  // offset into `names`
  uint8_t kind;   // SymbolKind: kNmethod, kStub or kCodelet
  int8_t level;   // of an nmethod; -1: not known
  uint8_t gone;   // no longer there
  uint8_t reserved;
  int32_t frame_complete;  // bytes from `begin` until an nmethod has its frame; -1: never
};

// A method. Its Method* stays as long as its class.
struct MethodPlace {
  std::atomic<uint64_t> method;  // Method*; 0: free
  uint64_t codes;                // its first byte code
  uint32_t code_size;            // bytes
  uint32_t name;                 // offset into `names`
};

// Mapped memory of the process: adjoining mappings of the same kind as one.
struct Area {
  uint64_t begin, end;
  uint8_t readable;
  uint8_t reserved[7];
};

// An instruction that was stepped.
struct SteppedPc {
  std::atomic<uint64_t> pc;  // 0: free
  uint32_t steps, answered, failed, wrong;
  int32_t code;  // last error code
  uint32_t reserved;
};

struct StressState : LineState {
  static constexpr uint64_t kMagic = 0x57485354524553af;  // also the layout's version
  static constexpr uint32_t kNamesBytes = 12 << 20;
  static constexpr uint32_t kMaxStacks = 1 << 15;
  static constexpr uint32_t kMaxStackFrames = 1 << 20;
  static constexpr uint32_t kMaxCode = 1 << 16;
  static constexpr uint32_t kMaxPcs = 1 << 17;
  static constexpr uint32_t kMaxMethods = 1 << 17;
  static constexpr uint32_t kMaxAreas = 4096;
  static constexpr int kRing = 64;

  StressJob job;

  std::atomic<AgentPhase> phase;
  std::atomic<uint32_t> stop;              // supervisor to agent: no more samples
  std::atomic<uint32_t> handlers_changed;  // a signal whose handler somebody replaced; 0: none
  std::atomic<int32_t> pid;
  std::atomic<int32_t> supervisor;  // whose end ends the sampling
  uint32_t lacking;                 // with kUnable: 1, what this JVM lacks; 0: the tool failed
  char message[512];
  char vm_version[256];
  char vm_gc[64];
  SamplerKind sampler;       // in use
  char sampler_reason[200];  // why that one

  std::atomic<uint64_t> abandoned;  // walks: park limit
  std::atomic<uint64_t> untracked;  // signals on threads that are not known
  std::atomic<uint64_t> dropped_stacks;
  std::atomic<uint64_t> unarmed;                        // threads that the kernel refused to signal
  std::atomic<uint64_t> truth_checked, shadow_checked;  // compared with JVMTI, with a shadow
  std::atomic<uint64_t> agent_kib;                      // resident memory that is the agent's own
  std::atomic<uint64_t> steps, step_windows;
  std::atomic<uint64_t> step_ns;  // stepped: of the thread's CPU clock; by ptrace, as it passed
  // Stepping by ptrace: the thread that the agent wants stepped, 0: none; and what the supervisor
  // says to its handler: 0 it is not stepped, 1 steps begin or some were missed, 2 they go on.
  std::atomic<int32_t> step_tid;
  std::atomic<uint32_t> step_on;

  std::atomic<uint64_t> counts[kMaxWalkers][kMaxStates][kPcRegions][kCodeSlots];
  // Samples that a walker and the one before it in the job answered; its place in the job.
  std::atomic<uint64_t> agreement[kMaxWalkers][kPcRegions][kDisagreements];
  // Of these, those that a witness speaks of.
  std::atomic<uint64_t> evidence[kMaxWalkers][kPcRegions][kDisagreements][kWitnesses][kAgainsts];
  ThreadCounts threads[kMaxSampledThreads];
  SampleJournal journals[kWalkSlots];
  StressFinding ring[kRing];
  std::atomic<uint32_t> stack_frames_used;
  SeenStack stacks[kMaxStacks];
  uint32_t stack_frames[kMaxStackFrames];
  std::atomic<uint32_t> code_count;  // of `code`, in use or once in use
  CodeEntry code[kMaxCode];
  std::atomic<uint32_t> method_count;  // so far; the last kMaxMethods of them are kept
  MethodPlace methods[kMaxMethods];
  std::atomic<uint32_t> area_count;  // as of some seconds ago
  Area areas[kMaxAreas];
  SteppedPc pcs[kMaxPcs];
  char names[kNamesBytes];
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SHARED_STRESS_STATE_H_
