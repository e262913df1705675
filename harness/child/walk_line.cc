// SPDX-License-Identifier: Apache-2.0
#include "harness/child/walk_line.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "harness/base/clock.h"
#include "harness/base/hash.h"
#include "harness/guard/arch.h"
#include "harness/line/line.h"
#include "harness/oracles/oracle.h"
#include "harness/walkers/walker.h"

namespace walkhammer {
namespace {

struct SignalledWalk {
  Walker* walker;
  WalkInput input;
  Registers registers;
  Trace trace;
};
SignalledWalk* signalled_walk = nullptr;  // while SIGPROF is under way

void OnProfilingSignal(int, siginfo_t*, void* context) {
  SignalledWalk* walk = signalled_walk;
  if (walk == nullptr) return;
  auto* interrupted = static_cast<ucontext_t*>(context);
  const Registers before = ReadContext(*interrupted);
  WriteContext(walk->registers, *interrupted);
  walk->input.context = interrupted;
  walk->walker->Walk(walk->input, walk->trace);
  WriteContext(before, *interrupted);
}

// Walks as a profiler does: in the handler of a SIGPROF that is sent to this thread, without the
// guard. The handler puts `registers` into the signal's own context, shows that to `walker` instead
// of input.context, and undoes the change. If the walker crashes, the JVM handles the fault: it
// writes its hs_err log and dies.
Trace WalkInSignalHandler(Walker& walker, const WalkInput& input, const Registers& registers) {
  SignalledWalk walk{&walker, input, registers, {}};
  struct sigaction action {};
  action.sa_sigaction = OnProfilingSignal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGPROF, &action, nullptr);
  sigset_t profiling, before;
  sigemptyset(&profiling);
  sigaddset(&profiling, SIGPROF);
  pthread_sigmask(SIG_UNBLOCK, &profiling, &before);
  signalled_walk = &walk;
  pthread_kill(pthread_self(), SIGPROF);  // is delivered before the call returns
  signalled_walk = nullptr;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return walk.trace;
}

// Walks as `walker` does, by single steps while its loads are traced.
class SteppedWalker : public Walker {
 public:
  SteppedWalker(Walker& walker, FailingLoads& loads) : walker_(walker), loads_(loads) {}
  Status Bind(const WalkerHost& host) override { return walker_.Bind(host); }
  void Walk(const WalkInput& input, Trace& trace) override {
    loads_.Stepped([&] { walker_.Walk(input, trace); });
  }
  bool BufferIntact(const WalkInput& input) const override { return walker_.BufferIntact(input); }

 private:
  Walker& walker_;
  FailingLoads& loads_;
};

// Whether the answer goes on with frames of a virtual thread that are in the heap, where those of
// the stack end. By method and bytecode: kinds are for other oracles. `depth`: the most frames
// that were asked for.
bool HasHeapFrames(const Trace& trace, const ParkedScene& scene, int depth) {
  if (trace.ending != Ending::kReturned || trace.num_frames > depth) return false;
  const auto same = [](const Frame& a, const Frame& b) {
    return a.method == b.method && a.bci == b.bci;
  };
  const std::vector<Frame>&stack = scene.truth, &with_heap = scene.truth_with_heap;
  const auto heap =
      std::mismatch(with_heap.begin(), with_heap.end(), stack.begin(), stack.end(), same).first;
  return heap != with_heap.end() && trace.num_frames > heap - with_heap.begin() &&
         same(trace.frames[heap - with_heap.begin()], *heap);
}

// Of up to `most` frames of a walk that returned some; else 0. The same in every process and build.
uint64_t FrameHash(const Trace& trace, int most, const MethodRegistry& methods) {
  uint64_t hash = 0;
  if (trace.ending != Ending::kReturned) return hash;
  for (int i = 0; i < std::min(trace.num_frames, most); i++) {
    const MethodEntry* method = methods.Find(trace.frames[i].method);
    hash = Mix(hash, static_cast<uint64_t>(method == nullptr ? 0 : method->name_hash) << 32 |
                         static_cast<uint32_t>(trace.frames[i].bci));
  }
  return hash;
}

constexpr uint16_t kDepthAfterCrash = 32;  // frames: enough to see that a walker is broken
constexpr size_t kCheckedWords = 512;      // of the walked stack, compared after each walk
constexpr int kRingFullRetries = 200;      // of 5 ms
constexpr int kFaultRetries = 6000;

void SetSignalMask(uint64_t mask) {
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, nullptr, sizeof mask);
}

void Look(const ParkedScene& scene, Surroundings& seen) {
  seen.error_number = errno;
  seen.thread_state = scene.thread.State();
  seen.anchor_sp = *scene.thread.last_sp();
  seen.anchor_pc = *scene.thread.last_pc();
  seen.anchor_fp = *scene.thread.last_fp();
}

// No locked instruction: nobody else writes it.
void Increment(std::atomic<uint64_t>& count) {
  count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

// `address` with a signature, like return addresses under pointer authentication. If this CPU has
// none, synthetic bits are flipped where the signature would be.
uint64_t Signed(uint64_t address) {
  constexpr uint64_t kMadeUp = 0x2b000000000000;  // of bits 48 to 54
  const uint64_t with_signature = SignReturnAddress(address);
  return with_signature != address ? with_signature : address ^ kMadeUp;
}

}  // namespace

WalkLine::WalkLine(SharedState& shared, const AddressMap& address_map,
                   const MethodRegistry& methods, std::span<const std::unique_ptr<Walker>> walkers)
    : shared_(shared), address_map_(address_map), methods_(methods), walkers_(walkers) {
  getcontext(&context_);
  (void)OraclesFor(0);  // the tables are made at their first use
}

uint64_t WalkLine::Resolve(const ParkedScene& scene, const Value& value, uint64_t pristine) const {
  constexpr Value kUnchanged{0, SymbolTable::IdOf(SymbolKind::kPristine)};
  if (value == kUnchanged) return pristine;  // as most are
  const uint64_t address = Unsigned(scene, value, pristine);
  return value.is_signed != 0 ? Signed(address) : address;
}

uint64_t WalkLine::Unsigned(const ParkedScene& scene, const Value& value, uint64_t pristine) const {
  const auto addend = static_cast<uint64_t>(value.addend);
  switch (value.symbol) {
    case SymbolTable::IdOf(SymbolKind::kLiteral):
      return addend;
    case SymbolTable::IdOf(SymbolKind::kPristine):
      return pristine + addend;
    case SymbolTable::IdOf(SymbolKind::kStack):
      return scene.stack_low + addend;
    case SymbolTable::IdOf(SymbolKind::kStackBase):
      return scene.stack_high + addend;
    case SymbolTable::IdOf(SymbolKind::kStackLimit):
      return scene.stack_limit + addend;
    case SymbolTable::IdOf(SymbolKind::kThread):
      return reinterpret_cast<uint64_t>(scene.thread.address()) + addend;
    case SymbolTable::IdOf(SymbolKind::kSlot): {
      const uint64_t word = addend / 8;  // a negative addend is far beyond the end
      return word < scene.snapshot.size() ? scene.snapshot[word] : 0;
    }
    default:
      return address_map_.AddressOf(value.symbol) + addend;
  }
}

WalkLine::Presented WalkLine::ResolveAll(const ParkedScene& scene,
                                         const WalkRequest& request) const {
  Presented p{};
  p.registers = {
      Resolve(scene, request.pc, scene.pristine.pc), Resolve(scene, request.sp, scene.pristine.sp),
      Resolve(scene, request.fp, scene.pristine.fp), Resolve(scene, request.lr, scene.pristine.lr)};
  p.state = request.state;
  switch (request.anchor) {
    case AnchorMode::kTrue:
      p.anchor_sp = scene.stack_low;
      p.anchor_pc = scene.anchor_pc;
      p.anchor_fp = scene.anchor_fp;
      break;
    case AnchorMode::kCustom:
      p.anchor_sp = Resolve(scene, request.anchor_sp, scene.stack_low);
      p.anchor_pc = Resolve(scene, request.anchor_pc, scene.anchor_pc);
      p.anchor_fp = Resolve(scene, request.anchor_fp, scene.anchor_fp);
      break;
    default:
      break;
  }
  return p;
}

int WalkLine::ApplyEdits(const ParkedScene& scene, const WalkRequest& request, Undo* undo) const {
  const uint64_t words = (scene.edit_high - scene.stack_low) / 8;
  uint64_t values[WalkRequest::kMaxEdits];
  // Values are resolved ahead of all edits: `slot` means the pristine content.
  for (int i = 0; i < request.edit_count; i++)
    values[i] = Resolve(scene, request.edits[i].value, 0);
  for (int i = 0; i < request.edit_count; i++) {
    const Edit& edit = request.edits[i];
    auto* slot = reinterpret_cast<uint64_t*>(scene.stack_low) +
                 (static_cast<uint32_t>(edit.slot) / 8) % words;
    undo[i] = {slot, *slot};
    switch (edit.op) {
      case EditOp::kXor:
        *slot ^= values[i];
        break;
      case EditOp::kAdd:
        *slot += values[i];
        break;
      default:
        *slot = values[i];
        break;
    }
  }
  return request.edit_count;
}

// The bracket: from here to the walker's return, no code of ours allocates, locks or calls the JVM.
void WalkLine::CallWalker(ParkedScene& scene, const WalkRequest& request,
                          const Presented& presented) {
  const JavaThreadView& thread = scene.thread;
  const uint64_t sp = *thread.last_sp(), pc = *thread.last_pc(), fp = *thread.last_fp();
  const int32_t state = *thread.state();

  WriteContext(presented.registers, context_);
  Walker& walker = *walkers_[static_cast<size_t>(turn_)];
  const WalkInput input{&context_, scene.env, request.depth, request.options};
  *thread.last_sp() = presented.anchor_sp;
  *thread.last_pc() = presented.anchor_pc;
  *thread.last_fp() = presented.anchor_fp;
  thread.SetState(presented.state);
  errno = 0;
  seen_.stack_write = {};
  seen_.failed_load = 0;
  seen_.before.signal_mask = scene.signal_mask;
  Look(scene, seen_.before);

  if (uncontained_)
    seen_.trace = WalkInSignalHandler(walker, input, presented.registers);
  else if (tracing_) {
    SteppedWalker stepped(walker, *loads_);
    CallGuarded(scene.guard, stepped, input, seen_.trace);
  } else
    CallGuarded(scene.guard, walker, input, seen_.trace);
  if (seen_.trace.ending != Ending::kReturned || seen_.trace.protected_faults != 0)
    statics_.GiveUp();

  Look(scene, seen_.after);
  *thread.state() = state;
  *thread.last_sp() = sp;
  *thread.last_pc() = pc;
  *thread.last_fp() = fp;
  const bool may_differ = uncontained_ || request.fault != 0 || scene.guard.may_have_called_kernel;
  seen_.after.signal_mask = may_differ ? ThreadSignalMask() : scene.signal_mask;
  if (seen_.after.signal_mask != scene.signal_mask) SetSignalMask(scene.signal_mask);
  seen_.buffer_intact = seen_.trace.ending != Ending::kReturned || walker.BufferIntact(input);
}

PcRegion WalkLine::RegionOf(const Value& pc) const {
  const auto kind = pc.symbol < kSymbolKinds ? static_cast<SymbolKind>(pc.symbol)
                                             : shared_.symbols.at(pc.symbol).kind;
  switch (kind) {
    case SymbolKind::kPristine:
      return pc.addend == 0 ? PcRegion::kPristine : PcRegion::kShifted;
    case SymbolKind::kNmethod:
      return PcRegion::kNmethod;
    case SymbolKind::kStub:
      return PcRegion::kStub;
    case SymbolKind::kCodelet:
      return PcRegion::kCodelet;
    case SymbolKind::kLibrary:
    case SymbolKind::kLibraryEnd:
      return PcRegion::kLibrary;
    case SymbolKind::kCodeCache:
    case SymbolKind::kCodeCacheEnd:
      return PcRegion::kCodeCache;
    case SymbolKind::kStack:
    case SymbolKind::kSlot:
    case SymbolKind::kStackBase:
    case SymbolKind::kStackLimit:
    case SymbolKind::kSceneStack:
      return PcRegion::kStack;
    case SymbolKind::kHeap:
    case SymbolKind::kHeapEnd:
      return PcRegion::kHeap;
    case SymbolKind::kMetaspace:
    case SymbolKind::kMethod:
    case SymbolKind::kBytecodes:
      return PcRegion::kMetaspace;
    case SymbolKind::kLiteral:
      return PcRegion::kLiteral;
    default:
      return PcRegion::kUnmapped;
  }
}

void WalkLine::Count(const WalkRequest& request) {
  const int state = std::min<int>(request.state, kMaxStates - 1);
  const int code = CodeSlotOf(trace());
  shared_.counts[turn_][request.scene][state][static_cast<int>(region_)][code]++;
  // Traps take more time than the walk.
  if (code == kCodeFrames && request.fault == 0)
    shared_.walk_times[turn_][request.scene][TimeSlotOf(trace().ns)]++;
}

void WalkLine::CountAgreement(const WalkRequest& request) {
  const Trace& other = seen_.other.trace;
  if (seen_.other.walker == nullptr || !CanCompare(trace(), other, request.depth)) return;
  const Disagreement kind = Compare(trace(), other).kind;
  if (kind != Disagreement::kNone) differed_ = kind;
  shared_.agreement[turn_][static_cast<int>(realism_)][static_cast<int>(region_)]
                   [static_cast<int>(kind)]++;
}

// A walker that is twice in the job must answer the same only if the scene is pristine: synthetic
// registers may lead the walker to words that have changed since, such as its own frames.
void WalkLine::KeepForNext() {
  const int next = turn_ + 1;
  seen_.other.walker = nullptr;
  if (next == std::ssize(walkers_) || trace().ending != Ending::kReturned) return;
  seen_.other = {trace(), &info(turn_), seen_.pristine && &info(next) == &info(turn_)};
}

void WalkLine::Take(const WalkRequest& request) {
  realism_ = RealismOf(request);
  region_ = RegionOf(request.pc);
  seen_.other.walker = nullptr;
}

// If the process dies from here on, this walker is blamed.
void WalkLine::WriteJournal(const WalkRequest& request) {
  Journal& journal = shared_.journal;
  journal.request = request;
  journal.request.walker = WalkerAt(shared_.job, turn_);
  journal.request.against = 0;
  journal.phase.store(Journal::kWalking, std::memory_order_release);
}

bool WalkLine::Walk(ParkedScene& scene, const WalkRequest& request, uint64_t sequence) {
  shared_.journal.sequence.store(sequence, std::memory_order_relaxed);
  Take(request);
  differed_ = Disagreement::kNone;
  for (turn_ = 0; turn_ < std::ssize(walkers_); turn_++)
    if (!WalkInTurn(scene, request, sequence)) return false;
  return true;
}

bool WalkLine::WalkInTurn(ParkedScene& scene, const WalkRequest& request, uint64_t sequence) {
  WriteJournal(request);
  Undo undo[WalkRequest::kMaxEdits];
  const Presented presented = ResolveAll(scene, request);
  const int edits = ApplyEdits(scene, request, undo);
  uncontained_ = shared_.job.uncontained != 0;
  if (request.fault != 0 && loads_ != nullptr && request.fault <= loads_->count())
    CallFailing(scene, request, presented);
  else
    CallWalker(scene, request, presented);
  uncontained_ = false;
  for (int i = edits - 1; i >= 0; i--) *undo[i].slot = undo[i].word;
  seen_.stack_write = TakeBackWrites(scene);

  Judge(scene, request, sequence, presented);
  Count(request);
  CountAgreement(request);
  KeepForNext();
  const Ending ending = trace().ending;
  if (turn_ == 0) {
    walked_ = trace();
    if (keeps_digests_)
      digest_ = DigestOf(CodeSlotOf(trace()), FrameHash(trace(), request.depth, methods_));
  }
  if (turn_ == 0 && ending != Ending::kReturned) fault_ = scene.guard.fault;
  Increment(shared_.walks);
  if (ending == Ending::kReturned && trace().num_frames > 0) Increment(shared_.successful);
  shared_.journal.phase.store(Journal::kWalked, std::memory_order_release);
  if (ending == Ending::kReturned && shared_.job.mode == ChildMode::kReplay) SaveReplay();
  if (request.fault != 0) CountFailed();
  bool goes_on = ending == Ending::kReturned || ContainedWell(scene, request);
  if (ending == Ending::kReturned && seen_.failed_load != 0)
    goes_on = RecoversWell(scene, request, sequence, presented);
  // All that happens to a replay is its one request's doing.
  if (shared_.job.mode != ChildMode::kReplay)
    shared_.journal.phase.store(Journal::kIdle, std::memory_order_release);
  return goes_on;
}

bool WalkLine::ContainedWell(ParkedScene& scene, const WalkRequest& request) {
  shared_.contained_crashes.fetch_add(1, std::memory_order_relaxed);
  if (scene.guard.inside_unsafe_call) {
    // The allocator or a lock stays locked: the next thread that needs it would hang.
    shared_.phase.store(ChildPhase::kRetired);
    if (shared_.job.alone != 0) abort();
    _exit(shared_.job.merging);
  }
  char ignored[8];
  return StillWalksTruly(scene, request, ignored, sizeof ignored) ||
         (scene.walked_truly >> turn_ & 1) == 0;
}

StackWrite WalkLine::TakeBackWrites(const ParkedScene& scene) const {
  auto* stack = reinterpret_cast<uint64_t*>(scene.stack_low);
  const size_t words = std::min(scene.snapshot.size(), kCheckedWords);
  StackWrite write{};
  if (std::memcmp(stack, scene.snapshot.data(), words * 8) == 0) return write;
  for (size_t i = words; i-- > 0;) {
    if (stack[i] == scene.snapshot[i]) continue;
    write = {true, static_cast<uint32_t>(8 * i), scene.snapshot[i], stack[i]};
    stack[i] = scene.snapshot[i];
  }
  return write;
}

bool WalkLine::StillWalksTruly(ParkedScene& scene, const WalkRequest& request, char* detail,
                               size_t size) {
  WalkRequest unedited;
  unedited.scene = static_cast<uint8_t>(scene.index);
  unedited.depth = kDepthAfterCrash;
  Take(unedited);
  CallWalker(scene, unedited, ResolveAll(scene, unedited));
  Observe(scene, unedited);
  const bool truly =
      trace().ending == Ending::kReturned && FindOracle("truth")->judge(seen_, detail, size) == 0;
  Take(request);  // which the next walker walks
  seen_.request = &request;
  return truly;
}

bool WalkLine::WalkPristine(ParkedScene& scene, char* difference, size_t size) {
  WalkRequest request;
  request.scene = static_cast<uint8_t>(scene.index);
  request.depth = WalkRequest::kMaxDepth;
  scene.walked_truly = UINT32_MAX;
  for (bool in_java : {true, false}) {
    request.state = in_java ? kStateInJava : kStateInNative;
    request.anchor = in_java ? AnchorMode::kCleared : AnchorMode::kTrue;
    Take(request);
    for (turn_ = 0; turn_ < std::ssize(walkers_); turn_++)
      if (!WalkPristineInTurn(scene, request, difference, size))
        scene.walked_truly &= ~(1U << turn_);
  }
  return scene.walked_truly == UINT32_MAX;
}

bool WalkLine::WalkPristineInTurn(ParkedScene& scene, const WalkRequest& request, char* difference,
                                  size_t size) {
  Journal& journal = shared_.journal;
  WriteJournal(request);
  const Presented presented = ResolveAll(scene, request);
  CallWalker(scene, request, presented);
  // A replay reports on its own request only.
  if (shared_.job.mode == ChildMode::kReplay)
    Observe(scene, request);
  else
    Judge(scene, request, journal.sequence.load(), presented);
  CountAgreement(request);
  KeepForNext();
  journal.phase.store(Journal::kIdle, std::memory_order_release);
  shared_.pristine_walks.fetch_add(1, std::memory_order_relaxed);
  char detail[sizeof RawFinding::detail] = "crashed or hung";
  if (trace().ending == Ending::kReturned &&
      FindOracle("truth")->judge(seen_, detail, sizeof detail) == 0) {
    shared_.pristine_true.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  if (difference == nullptr) return false;
  const bool several = walkers_.size() > 1;
  std::snprintf(difference, size, "%s%s%s: %s", several ? info(turn_).name : "", several ? " " : "",
                request.state == kStateInJava ? "in_Java" : "in_native", detail);
  return false;
}

void WalkLine::Observe(const ParkedScene& scene, const WalkRequest& request) {
  seen_.request = &request;
  seen_.walker = &info(turn_);
  seen_.methods = &methods_;
  seen_.truth =
      HasHeapFrames(seen_.trace, scene, request.depth) ? scene.truth_with_heap : scene.truth;
  seen_.pristine = request.origin == Origin::kMade && realism_ == Realism::kGenuine;
  seen_.undisturbed = undisturbed_;
  seen_.true_frames = TrueFrames(seen_.trace, seen_.truth, request.depth);
  seen_.fault = &scene.guard.fault;
  seen_.unsafe_call = &scene.guard.unsafe_call;
}

void WalkLine::Judge(const ParkedScene& scene, const WalkRequest& request, uint64_t sequence,
                     const Presented& presented) {
  Observe(scene, request);
  JudgeWalk(seen_, shared_.job.without, [&](uint8_t oracle, uint8_t outcome, const char* detail) {
    Report(request, sequence, presented, oracle, outcome, detail);
  });
}

void WalkLine::Report(const WalkRequest& request, uint64_t sequence, const Presented& presented,
                      uint8_t oracle, uint8_t outcome, const char* detail) {
  const bool replaying = shared_.job.mode == ChildMode::kReplay;  // the ring never fills up
  const uint64_t key = SiteOf(seen_, oracle, outcome, static_cast<uint64_t>(turn_), shared_);
  const auto rank = static_cast<uint64_t>(RankOf(realism_, request.edit_count));
  const int site = WantsReport(shared_, key, rank, replaying);
  if (site < 0) return;

  FindingRing& ring = shared_.ring;
  const uint32_t head = ring.head.load();
  // Each load that fails is met once: what is dropped never comes again.
  const int most = shared_.job.mode == ChildMode::kFaults ? kFaultRetries : kRingFullRetries;
  for (int retry = 0; head - ring.tail.load() >= kRingSize; retry++) {
    if (retry == most) return WasDropped(shared_, site);  // the parent is gone or stuck
    timespec pause{0, 5000000};
    nanosleep(&pause, nullptr);
  }
  RawFinding& finding = ring.slots[head % kRingSize];
  std::construct_at(&finding);  // g++ 14 takes an assignment for one beyond the ring
  finding.sequence = sequence;
  finding.site = static_cast<uint32_t>(site);
  finding.time_ms = (MonotonicNs() - shared_.start_ns) / 1000000;
  finding.request = request;
  finding.request.walker = WalkerAt(shared_.job, turn_);
  finding.presented = presented.registers;
  FillFinding(seen_, oracle, outcome, detail, finding);
  if (trace().ending != Ending::kReturned)
    address_map_.Describe(finding.fault.registers.pc, finding.where, sizeof finding.where);
  ring.head.store(head + 1);
}

void WalkLine::SaveReplay() {
  shared_.replay.num_frames = trace().num_frames;
  KeptFrames(seen_, shared_.replay.frame_text, sizeof shared_.replay.frame_text);
  shared_.replay.done = 1;
}

}  // namespace walkhammer
