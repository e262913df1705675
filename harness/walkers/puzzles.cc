// SPDX-License-Identifier: Apache-2.0
// Planted bugs: walkers that do what no walker may, to show that the guard and every oracle
// notice. Each is the real AsyncGetCallTrace with one misdeed, mostly only if the presented pc % 8
// is 5, so that walks of undisturbed scenes stay true.
#include "harness/walkers/puzzles.h"

#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>

#include "harness/guard/arch.h"
#include "harness/guard/guard.h"
#include "harness/request/walk_request.h"
#include "harness/walkers/agct.h"
#include "harness/walkers/makers.h"

namespace walkhammer {
namespace {

AgctFunction real = nullptr;

bool Triggered(void* context) {
  return ReadContext(*static_cast<ucontext_t*>(context)).pc % 8 == 5;
}

// One misdeed, done after the real walk.
using Misdeed = void (*)(AgctTrace& trace, jint depth);

template <Misdeed misdeed, bool always = false>
void Misbehave(AgctTrace* trace, jint depth, void* context) {
  real(trace, depth, context);
  if (always || Triggered(context)) misdeed(*trace, depth);
}

constexpr uint64_t kReachableBytes = 1 << 17;  // of the walked stack, above its top

volatile uint64_t nowhere = 0x10;  // volatile: the compiler must not see through the crash
volatile int zero = 0;
volatile bool forever = true;
pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
void* volatile kept = nullptr;

void Nothing(AgctTrace&, jint) {}
void Crash(AgctTrace&, jint) { *reinterpret_cast<volatile int*>(nowhere) = 1; }
void CrashElsewhere(AgctTrace&, jint) { *reinterpret_cast<volatile int*>(nowhere + 4) = 2; }
void Illegal(AgctTrace&, jint) { raise(SIGILL); }
void Divide(AgctTrace&, jint) {
  raise(SIGFPE);
  zero = 1;
}
void Abort(AgctTrace&, jint) { std::abort(); }
void Exit(AgctTrace&, jint) { _exit(0); }
void Hang(AgctTrace&, jint) {
  while (forever) {
  }
}
void Sleep(AgctTrace&, jint) {
  while (forever) pause();
}
void Overflow(AgctTrace& trace, jint depth) { trace.frames[depth].lineno = 0; }
void Underflow(AgctTrace& trace, jint) { trace.frames[-1].lineno = 0; }
void Count(AgctTrace& trace, jint depth) { trace.num_frames = depth + 1; }
void Undeclared(AgctTrace& trace, jint) { trace.num_frames = -42; }
void BadMethod(AgctTrace& trace, jint) {
  trace.num_frames = 1;
  trace.frames[0] = AgctFrame{0, reinterpret_cast<jmethodID>(const_cast<int*>(&zero))};
}
void WildMethod(AgctTrace& trace, jint) {
  trace.num_frames = 1;
  trace.frames[0] = AgctFrame{0, reinterpret_cast<jmethodID>(nowhere + 8)};
}
void BadBci(AgctTrace& trace, jint) {
  if (trace.num_frames > 1) trace.frames[1].lineno = 70000;
}
void Lie(AgctTrace& trace, jint) {
  if (trace.num_frames > 2) trace.frames[1] = trace.frames[2];
}
void Errno(AgctTrace&, jint) { errno = ENOTTY; }
void Mask(AgctTrace&, jint) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}
void State(AgctTrace&, jint) {
  GuardSlot* slot = CurrentGuardSlot();
  if (slot != nullptr && slot->thread_state != nullptr) *slot->thread_state = 11;
}
void Anchor(AgctTrace&, jint) {
  GuardSlot* slot = CurrentGuardSlot();
  if (slot != nullptr && slot->anchor != nullptr) *slot->anchor = *slot->anchor ^ 0x10;
}
// Writes into the walked stack, 64 bytes above its lowest address.
void Stack(AgctTrace&, jint) {
  GuardSlot* slot = CurrentGuardSlot();
  if (slot != nullptr && slot->walked_stack != 0)
    *reinterpret_cast<uint64_t*>(slot->walked_stack + 64) ^= 1;
}
void Malloc(AgctTrace&, jint) {
  kept = std::malloc(24);
  std::free(kept);
}
void Lock(AgctTrace&, jint) {
  pthread_mutex_lock(&held);
  pthread_mutex_unlock(&held);
}
void TryLock(AgctTrace&, jint) {
  if (pthread_mutex_trylock(&held) == 0) pthread_mutex_unlock(&held);
}
constexpr timespec kLongAgo{1, 0};
void WaitForCondition(AgctTrace&, jint) {
  static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  // One for each thread: no other walk may use it during the wait.
  __attribute__((tls_model("initial-exec"))) static thread_local pthread_mutex_t mutex =
      PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_timedwait(&condition, &mutex, &kLongAgo);
  pthread_mutex_unlock(&mutex);
}
void WaitForSemaphore(AgctTrace&, jint) {
  static sem_t semaphore;  // of value 0
  const int error_number = errno;
  sem_timedwait(&semaphore, &kLongAgo);
  errno = error_number;
}
void Align(AgctTrace&, jint) {
  kept = memalign(64, 24);
  std::free(kept);
}
void FindSymbol(AgctTrace&, jint) { kept = dlsym(RTLD_DEFAULT, "getpid"); }
void VisitLibraries(AgctTrace&, jint) {
  zero = dl_iterate_phdr([](dl_phdr_info*, size_t, void*) { return 0; }, nullptr);
}
int Recurse(int depth) {
  volatile char frame[512];
  frame[0] = static_cast<char>(depth);
  return forever ? Recurse(depth + 1) + frame[0] : 0;
}
void Recursion(AgctTrace&, jint) { zero = Recurse(0) & 0; }
void Blind(AgctTrace& trace, jint) { trace.num_frames = -3; }
// Loses the caller, like a walker that takes a frame for complete before it is.
void SkipCaller(AgctTrace& trace, jint) {
  if (trace.num_frames < 3) return;
  for (int i = 2; i < trace.num_frames; i++) trace.frames[i - 1] = trace.frames[i];
  trace.num_frames--;
}

// Like a walker that gives up halfway.
void CutOff(AgctTrace& trace, jint) {
  if (trace.num_frames > 1) trace.num_frames /= 2;
}
// Claims that the newest frame has not begun, whatever it has called.
void Entry(AgctTrace& trace, jint) {
  if (trace.num_frames > 0 && trace.frames[0].lineno > 0) trace.frames[0].lineno = 0;
}

bool spoiled = false;

// Crashes if triggered. Every later walk ends with the misdeed: the crash has left something
// behind.
template <Misdeed misdeed>
void Spoil(AgctTrace* trace, jint depth, void* context) {
  real(trace, depth, context);
  if (spoiled) misdeed(*trace, depth);
  if (!Triggered(context)) return;
  spoiled = true;
  *reinterpret_cast<volatile int*>(nowhere + 12) = 3;
}

// Return address of the call stub's call of Java code; 0: unknown.
uint64_t call_stub_return = 0;

// Crashes if [sp] is an address near call_stub_return. That is true of a sample at the last
// instruction of a method that the call stub called, and never of a scene.
void OnCallStub(AgctTrace* trace, jint depth, void* context) {
  real(trace, depth, context);
  constexpr uint64_t kStubBytes = 512;  // either way
  const uint64_t sp = ReadContext(*static_cast<ucontext_t*>(context)).sp;
  const GuardSlot* slot = CurrentGuardSlot();
  if (call_stub_return == 0 || slot == nullptr || sp % 8 != 0 || sp < slot->walked_stack ||
      sp - slot->walked_stack > kReachableBytes)
    return;
  const uint64_t distance = *reinterpret_cast<const uint64_t*>(sp) - call_stub_return;
  if (distance + kStubBytes < 2 * kStubBytes) *reinterpret_cast<volatile int*>(nowhere + 8) = 5;
}

// AsyncGetCallTrace with a misdeed that needs the JVM's structures.
class CallStubWalker : public Walker {
 public:
  Status Bind(const WalkerHost& host) override {
    ASSIGN_OR_RETURN(const auto structs, VmStructs::Load(host.libjvm));
    if (void* place = structs.Static("StubRoutines", "_call_stub_return_address"))
      call_stub_return = *static_cast<uint64_t*>(place);
    return inner_->Bind(host);
  }
  void Walk(const WalkInput& input, Trace& trace) override { inner_->Walk(input, trace); }
  bool BufferIntact(const WalkInput& input) const override { return inner_->BufferIntact(input); }

 private:
  std::unique_ptr<Walker> inner_ = MakeAgctWalker(OnCallStub, &real);
};

template <AgctFunction function>
std::unique_ptr<Walker> Make() {
  return MakeAgctWalker(function, &real);
}

template <Misdeed misdeed, bool always = false>
std::unique_ptr<Walker> Plant() {
  return MakeAgctWalker(Misbehave<misdeed, always>, &real);
}

// Says something wrong about the newest frame's method, or contradicts itself, if triggered; else
// says nothing.
class NameWalker : public Walker {
 public:
  explicit NameWalker(bool contradicts) : contradicts_(contradicts) {}
  Status Bind(const WalkerHost& host) override { return inner_->Bind(host); }
  void Walk(const WalkInput& input, Trace& trace) override {
    inner_->Walk(input, trace);
    const bool triggered = Triggered(input.context) && trace.num_frames > 0;
    trace.described = triggered && !contradicts_ ? &kWrong : nullptr;
    trace.described_count = trace.described == nullptr ? 0 : 1;
    trace.complaint = triggered && contradicts_ ? "it says yes and no" : nullptr;
  }
  bool BufferIntact(const WalkInput& input) const override { return inner_->BufferIntact(input); }

 private:
  static constexpr DescribedFrame kWrong = {"wh/Nobody.nothing()V"};
  const bool contradicts_;
  std::unique_ptr<Walker> inner_ = MakeAgctWalker(nullptr, nullptr);
};

// Answers half of the frames every other time, as if the stack had changed in between.
class FickleWalker : public Walker {
 public:
  Status Bind(const WalkerHost& host) override { return inner_->Bind(host); }
  void Walk(const WalkInput& input, Trace& trace) override {
    inner_->Walk(input, trace);
    if (!Triggered(input.context) || trace.num_frames < 2) return;
    cuts_ = !cuts_;
    if (cuts_) trace.num_frames /= 2;
  }
  bool BufferIntact(const WalkInput& input) const override { return inner_->BufferIntact(input); }

 private:
  bool cuts_ = false;
  std::unique_ptr<Walker> inner_ = MakeAgctWalker(nullptr, nullptr);
};

// Frames and their number.
using FrameEdit = int (*)(Frame* frames, int count);

int SkipNewestCaller(Frame* frames, int count) {
  if (count < 2) return count;
  std::copy(frames + 2, frames + count, frames + 1);
  return count - 1;
}
// Makes up a caller of the newest frame: the method that the thread began with.
int MakeUpCaller(Frame* frames, int count) {
  if (count < 2 || count == WalkRequest::kMaxDepth) return count;
  const Frame made_up = frames[count - 1];
  std::copy_backward(frames + 1, frames + count, frames + count + 1);
  frames[1] = made_up;
  return count + 1;
}
int KeepNewest(Frame*, int count) { return std::min(count, 1); }

// The reference with wrong callers, always: for what judges callers at every kind of code, also
// where AsyncGetCallTrace has no answer.
template <FrameEdit edit>
class CallerWalker : public Walker {
 public:
  Status Bind(const WalkerHost& host) override { return inner_->Bind(host); }
  void Walk(const WalkInput& input, Trace& trace) override {
    inner_->Walk(input, trace);
    if (trace.num_frames <= 0 || trace.num_frames > input.depth) return;
    std::copy(trace.frames, trace.frames + trace.num_frames, frames_);
    trace.num_frames = std::min(edit(frames_, trace.num_frames), int{input.depth});
    trace.frames = frames_;
  }
  bool BufferIntact(const WalkInput& input) const override { return inner_->BufferIntact(input); }

 private:
  std::unique_ptr<Walker> inner_ = MakeAsgst();
  Frame frames_[WalkRequest::kMaxDepth + 1];
};

template <typename Puzzle, auto... arguments>
std::unique_ptr<Walker> MakeOne() {
  return std::make_unique<Puzzle>(arguments...);
}

}  // namespace

std::unique_ptr<Walker> MakePuzzle(size_t row) {
  using Maker = std::unique_ptr<Walker> (*)();
  constexpr Maker kMakers[] = {
#define ROW(make, ...) make,
#include "harness/request/puzzle_rows.inc"
#undef ROW
  };
  return kMakers[row]();
}

}  // namespace walkhammer
