// SPDX-License-Identifier: Apache-2.0
// The rows that a stress or step run adds to run.db (agreement: a fuzz run, too): the cells of its
// matrix, how their threads were sampled, what stacks were seen, where the walker was blind. See
// docs/reference/run-folder-programs.md. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_STORE_STRESS_ROWS_H_
#define WALKHAMMER_HARNESS_STORE_STRESS_ROWS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/request/walk_request.h"

namespace walkhammer {

// How a cell ended. Only kPassed is a pass.
enum class CellStatus : uint8_t {
  kRunning,
  kPassed,           // the workload did its work, the walker was called and answered
  kInterrupted,      // by the user, before its time was up
  kVacuous,          // no tracked Java thread, no signal delivered or no successful walk
  kDied,             // the JVM died; a finding describes the death
  kWorkloadFailed,   // the workload ended with an exit code of its own
  kHung,             // the program made no progress and was killed
  kOutputFlood,      // the program printed more than the limit
  kHandlersChanged,  // other code replaced one of our signal handlers
  kBadOutput,        // the output of another profiler is missing or cannot be read
  kDiskFull,
  kUnavailable,  // not installed; `reason` says what fixes it
  kNotHotspot,   // this java has no HotSpot
  kNotForJdk,    // the program does not run on this JDK, by its catalogue; nothing fixes that
  kToolFailed,
  kCount
};
bool IsSkipped(CellStatus status);              // kUnavailable, kNotHotspot or kNotForJdk
const char* CellStatusWord(CellStatus status);  // "running", "passed", "workload-failed", ...
CellStatus CellStatusFromWord(const std::string& word);  // kToolFailed for unknown words

// The signals of a cell or of a thread. requested = delivered + coalesced + missed.
struct Delivery {
  uint64_t requested = 0;   // samples that the interval asks for
  uint64_t delivered = 0;   // signal handlers entered
  uint64_t coalesced = 0;   // expiries that the kernel merged into an earlier signal
  uint64_t missed = 0;      // the rest
  uint64_t walks = 0;       // walker calls
  uint64_t successful = 0;  // walker calls that returned at least one frame
  bool operator==(const Delivery&) const = default;
};

// CellRow::mode of a cell that was to count signals alone.
inline constexpr char kNoWalkMode[] = "no-walk";

// One workload under one JDK with one flag profile.
struct CellRow {
  int64_t position = 0;  // from 0
  std::string label;     // "torture:recursion jdk17 zgc", unique within the run; see CellLabel
  std::string workload;  // "torture:recursion"
  std::string jdk_path, vm_version, vm_gc;
  std::string profile;         // "default", "zgc", ...
  std::string jvm_flags;       // all that the tool gave, space-separated
  std::string walker;          // or several, comma-separated
  std::string mode;            // "handler", "parked", "running", "nested", "step", kNoWalkMode
  std::string sampler;         // "perf", "timer", "thread", "trap-flag", "ptrace", "jfr", "agent"
  std::string sampler_reason;  // why this sampler: one sentence
  std::string clock;           // "cpu" or "wall"; like `mode`, empty if another profiler walks
  uint64_t interval_min_ns = 0, interval_max_ns = 0;  // both 0: back to back
  CellStatus status = CellStatus::kRunning;
  std::string reason;    // one sentence, or empty
  uint64_t time_ms = 0;  // length of the sampling
  uint64_t starts = 0;   // JVMs started
  Delivery delivery;
  uint64_t contained_crashes = 0;
  uint64_t agent_kib = 0;     // peak memory of the agent
  uint64_t output_bytes = 0;  // printed by the workload
  bool operator==(const CellRow&) const = default;
};
// The cell's name in reports, and the `scene` of its rows in `count`: the label; if that is empty,
// "WORKLOAD FOLDER PROFILE", where FOLDER is the last folder of jdk_path.
std::string CellLabel(const CellRow& cell);
// Walks without which a fuzz run, or a cell, has no verdict.
inline constexpr uint64_t kLeastWalks = 100;
// Why so few walks have none: one clause.
std::string TooFewWalks(uint64_t walks);
// True if the cell proves nothing: kVacuous, or kPassed without a successful walk or with fewer
// than kLeastWalks walks.
bool IsVacuous(const CellRow& cell);

struct CellThreadRow {
  int64_t cell = 0;  // CellRow::position
  int64_t tid = 0;
  std::string name;
  bool java = false;
  uint64_t cpu_ms = 0;  // CPU time of the thread while sampled
  Delivery delivery;
  bool operator==(const CellThreadRow&) const = default;
};

// A frame of a StackTree by its name; `id` from 0.
struct StackFrameRow {
  int64_t cell = 0;
  int64_t id = 0;
  std::string name;
};

// A node of a StackTree, by indices of nodes; the root, 0, has no row.
struct StackNodeRow {
  int64_t cell = 0;
  int64_t id = 0, parent = 0;
  int64_t frame = 0;   // StackFrameRow::id
  uint64_t count = 0;  // of stacks that end here
};

// Separates the frames of a stack as text, outermost first. AppendFrame makes a separator in a name
// a space.
inline constexpr char kFrameSeparator = '\n';
void AppendFrame(std::string& frames, std::string_view frame);
std::vector<std::string_view> SplitFrames(std::string_view frames);

// How many distinct stacks a cell has, and the sum of their counts.
struct StackTotals {
  int64_t cell = 0;
  uint64_t distinct = 0, count = 0;
  bool operator==(const StackTotals&) const = default;
};

// What step mode saw of one piece of code. All from `steps` on are numbers of instructions
// executed.
struct StepRegionRow {
  int64_t cell = 0;
  std::string kind;       // "codelet", "stub", "adapter", "prologue", "body", "epilogue", "native"
  std::string name;       // of the codelet, stub or method
  int level = -1;         // compile level 1 .. 4, 0 native wrapper; -1: not compiled
  uint64_t pcs = 0;       // distinct instructions
  uint64_t steps = 0;     // instructions executed
  uint64_t answered = 0;  // steps that the walker answered with a stack that may be true
  uint64_t failed = 0;    // steps answered with an error code
  uint64_t wrong = 0;     // steps answered with a stack that cannot be true
  // By the calls that the thread has made while it was stepped: steps whose answer has just these
  // callers, and steps whose answer has not. The rest could not be judged.
  uint64_t proven = 0, contradicted = 0;
  bool operator==(const StepRegionRow&) const = default;
};

// The `cell` of rows that belong to no cell.
inline constexpr int64_t kNoCell = -1;

// Number of samples (in a fuzz run: requests) of one region for which the answers of two walkers
// compare as `kind`. Counts only samples for which at least one of the two returned frames.
struct AgreementRow {
  int64_t cell = 0;  // kNoCell in a fuzz run
  std::string walker, other;
  Realism realism = Realism::kGenuine;  // samples are always genuine
  std::string region;                   // where the pc was: a PcRegionWord
  std::string kind;                     // DisagreementWord
  uint64_t samples = 0;
  bool operator==(const AgreementRow&) const = default;
};

// How many of an AgreementRow's samples a witness judges in one way.
struct EvidenceRow {
  int64_t cell = 0;
  std::string walker, other, region, kind;  // as in AgreementRow
  std::string witness;                      // WitnessWord
  std::string against;                      // AgainstWord
  uint64_t samples = 0;
  bool operator==(const EvidenceRow&) const = default;
};

// How many of a walker's walks ended in one way. Only walkers that tell have rows.
struct WalkEndRow {
  int64_t cell = 0;
  std::string walker;
  std::string end;  // WalkEndWord
  uint64_t count = 0;
  bool operator==(const WalkEndRow&) const = default;
};

// What a run says of itself beside its findings. A verdict is worth no more than its notes.
enum class NoteKind : uint8_t {
  kInForce,     // a protection, a control or an oracle worked
  kNotInForce,  // it did not: whatever it would have found is not in this run
  kDropped,     // something was lost for want of room or time; `count` says how much
  kIncident,    // something from outside that is nobody's finding; `count` says how often
  kCount
};
const char* NoteKindWord(NoteKind kind);             // "in-force", "not-in-force", ...
NoteKind NoteKindFromWord(const std::string& word);  // kIncident for unknown words

// One note. `name` is unique within a cell and kind.
struct NoteRow {
  int64_t cell = kNoCell;  // CellRow::position; kNoCell: of the run as a whole
  NoteKind kind = NoteKind::kIncident;
  std::string name;    // what: "interposition", "findings", "killed from outside"
  uint64_t count = 0;  // of kDropped and kIncident; else 0
  std::string detail;  // one sentence, or empty

  bool operator==(const NoteRow&) const = default;
};

// Name of the note that says whether a cell's answers were compared with a truth.
inline constexpr char kTruthNote[] = "truth";

// Instructions in a row where the walker fails in the same way.
struct StepRangeRow {
  int64_t cell = 0;
  std::string kind, name;  // of the StepRegionRow
  int level = -1;
  std::string answer;           // "-5 unknown_Java", "wrong" or "contradicted"
  uint64_t begin = 0, end = 0;  // bytes from the start of the code `name`; end exclusive
  uint64_t steps = 0;
  std::string disassembly;  // one instruction a line
  bool operator==(const StepRangeRow&) const = default;
};

// Instructions of one kind of code that have their return address at one kind of place, by the code
// alone, and what the calls that were made say of that.
struct FramePlaceRow {
  int64_t cell = 0;
  std::string code;           // "nmethod", "stub", "adapter", "codelet"
  std::string place;          // "sp+8", "fp+n", "unknown: paths disagree", ...
  uint64_t instructions = 0;  // of all code of the JVM when the run ended
  uint64_t pcs = 0;           // of these, stepped
  uint64_t steps = 0;
  uint64_t judged = 0;  // steps at which the calls know the place
  uint64_t agreed = 0, disagreed = 0;
  uint64_t senders = 0;  // of `instructions`, those whose code tells the caller's sp
  uint64_t sender_agreed = 0, sender_disagreed = 0;  // steps at which the calls know that, too
  bool operator==(const FramePlaceRow&) const = default;
};

// A walker's answers at the instructions of a FramePlaceRow.
struct FrameWalkerRow {
  int64_t cell = 0;
  std::string walker, code, place;
  uint64_t answered = 0, failed = 0, wrong = 0, proven = 0, contradicted = 0;
  bool operator==(const FrameWalkerRow&) const = default;
};

// An instruction whose code and whose calls disagree on where its return address is, or where its
// caller's sp is.
struct FrameDifferenceRow {
  int64_t cell = 0;
  std::string code, name;
  int level = -1;
  uint64_t begin = 0;       // bytes from the start of the code `name`
  std::string place, seen;  // by the code, by the calls
  uint64_t steps = 0;
  std::string instruction;
  bool operator==(const FrameDifferenceRow&) const = default;
};

// What a walker's rules make of the instructions of one kind of code, and how far its answers are
// as predicted.
struct FramePredictionRow {
  int64_t cell = 0;
  std::string walker, code;
  std::string predicted, rule;  // PredictedName, Prediction::rule
  uint64_t instructions = 0;    // of the code cache, stepped or not
  uint64_t pcs = 0;  // instructions that were stepped and that answers could be compared at
  uint64_t confirmed = 0, refuted = 0;  // steps
  bool operator==(const FramePredictionRow&) const = default;
};

// An instruction at which a walker does not answer as predicted.
struct FrameRefutedRow {
  int64_t cell = 0;
  std::string walker, code, name;
  int level = -1;
  uint64_t begin = 0;  // bytes from the start of the code `name`
  std::string predicted, rule, place, instruction;
  uint64_t proven = 0, contradicted = 0;  // steps, by the newest known caller alone
  uint64_t failed = 0;                    // steps
  bool operator==(const FrameRefutedRow&) const = default;
};

// Returns the frames of a stack such as "java.lang.Thread.run()V;wh.A.b(Ljava/lang/String;)I", as
// parts of `frames`. The ';' in a method's descriptor separates no frames.
std::vector<std::string_view> SplitCollapsed(std::string_view frames);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_STORE_STRESS_ROWS_H_
