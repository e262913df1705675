// SPDX-License-Identifier: Apache-2.0
// walk_afl: a target for AFL++ over a stock JVM, started by `walkhammer fuzz --engine afl` or by
// afl-fuzz itself; a copy named agct_afl fuzzes agct. walk_afl speaks the fork-server protocol but
// forks no process per input: a JVM cannot be forked, and AFL++'s persistent mode would stop and
// wake all of the JVM's threads for each input. There are two processes instead: the keeper, which
// afl-fuzz starts and which runs no JVM, and a walking child, which the keeper forks and which then
// boots a JVM. The child serves afl-fuzz directly. When the child has died, the keeper posts the
// exit to the parent's mailbox, answers afl-fuzz for the child, and forks the next child.
// Without AFL++, walk_afl walks the files that are its arguments once.
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "fuzzers/afl_protocol.h"
#include "fuzzers/block_credits.h"
#include "fuzzers/engine_input.h"
#include "fuzzers/fuzz_target.h"
#include "fuzzers/walker_name.h"
#include "harness/base/clock.h"

namespace walkhammer {
namespace {

// The feedback and one byte that every run sets, rounded up to the multiple of 64 that AFL++ needs.
// AFL++ calls a run without any coverage uninstrumented and never fuzzes such an input.
constexpr size_t kMapSize = Feedback::kSize + 64;
constexpr size_t kAlwaysSet = Feedback::kSize;
static_assert(Feedback::kSize % 64 == 0 && Feedback::kBlocks <= BlockCredits::kMost);

constexpr uint32_t kMostEarlyDeaths = 3;  // in a row, of children that took no command
constexpr int64_t kStuckAfterMs = 30000;  // least limit of one walk; the guard's limit is shorter

// Less than what afl-fuzz waits for an answer, by as much as Await may be late.
constexpr int64_t kAflEndsAfterMs = 9000;

enum class Service : uint32_t {
  kIdle,     // waiting for a command
  kWalking,  // took a command and has not answered it
  kOver,     // AFL++ is gone
};

// What the keeper and its children share.
struct Between {
  std::atomic<Service> service;
  std::atomic<uint64_t> served;
  BlockCredits credits;
};

void Sleep(int ms) {
  const timespec pause{ms / 1000, ms % 1000 * 1000000L};
  nanosleep(&pause, nullptr);
}

int64_t NowMs() { return static_cast<int64_t>(MonotonicNs() / 1000000); }

// Starts the target on all CPUs, then restores the affinity. afl-fuzz binds itself and its target
// to one CPU. That suits the walking thread, which takes turns with afl-fuzz, but the JVM would
// choose its collector and its compilers for a machine with one CPU.
FuzzTarget& StartOnAllCpus(const FuzzTarget::Options& options) {
  cpu_set_t bound, all;
  std::fill_n(reinterpret_cast<uint8_t*>(&all), sizeof all, 0xff);
  const bool known = sched_getaffinity(0, sizeof bound, &bound) == 0;
  sched_setaffinity(0, sizeof all, &all);
  FuzzTarget& target = FuzzTarget::Start(options);
  if (known) sched_setaffinity(0, sizeof bound, &bound);
  return target;
}

class Keeper {
 public:
  Keeper(const AflProtocol& afl, SharedState& state, Between& between)
      : afl_(afl), state_(state), between_(between), keeper_(getpid()) {
    // Blocks SIGCHLD, so that sigtimedwait can wait for it.
    sigemptyset(&child_signal_);
    sigaddset(&child_signal_, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child_signal_, &mask_);
  }

  // Serves afl-fuzz until afl-fuzz is gone or a child fails for good. Returns the exit code.
  int Run() {
    // No child before the first command: afl-fuzz may only ask for the size of the map.
    while (afl_.AwaitCommand()) {
      const int code = KeepOne();
      if (code != 0) return code;
    }
    return 0;
  }

 private:
  // Runs one child until it ends. Returns 0 to go on with a successor, else the exit code.
  int KeepOne() {
    ForgetChild(state_);
    between_.service.store(Service::kIdle);
    const uint64_t served = between_.served.load();
    const pid_t child = fork();
    if (child < 0) return GiveUp("cannot start a process");
    if (child == 0) Serve();
    const int wait_status = Await(child);
    const bool walking = between_.service.load() == Service::kWalking;
    if (between_.service.load() == Service::kOver) return 0;
    const ChildPhase phase = state_.phase.load();
    if (phase == ChildPhase::kUnable || phase == ChildPhase::kFailed) return 4;
    if (phase == ChildPhase::kDone) {
      // The parent asked the child to end and next ends afl-fuzz, which ends this process, too.
      std::fill_n(afl_.map(), kMapSize, 0);
      afl_.Answer(child, 0);
      for (;;) pause();
    }
    PostExit(wait_status);
    if (walking) {
      // A contained crash retired the child, or somebody else killed it: the input is neither kept
      // nor called a crash.
      const bool innocent = phase == ChildPhase::kRetired || IsFromOutside(wait_status);
      if (innocent) std::fill_n(afl_.map(), kMapSize, 0);
      afl_.map()[kAlwaysSet] = 1;
      // A walker that ends the process counts as crashed, even if the process exits.
      const int crash = WIFSIGNALED(wait_status) ? wait_status : SIGABRT;
      if (!afl_.Answer(child, innocent ? 0 : crash)) return 4;
    }
    early_deaths_ = !walking && between_.served.load() == served ? early_deaths_ + 1 : 0;
    if (early_deaths_ >= kMostEarlyDeaths) return GiveUp("the JVM dies before its first walk");
    // A child without a supervisor that exits before it can walk: its exit code says why.
    if (state_.job.alone != 0 && WIFEXITED(wait_status) && phase < ChildPhase::kRunning)
      return WEXITSTATUS(wait_status);
    return 0;
  }

  int GiveUp(const char* why) {
    std::fprintf(stderr, "walkhammer: %s\n", why);
    return 4;
  }

  [[noreturn]] void Serve() {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != keeper_) _exit(0);
    sigprocmask(SIG_SETMASK, &mask_, nullptr);
    FuzzTarget::Options options;
    options.state = &state_;
    options.counters = afl_.map();
    FuzzTarget& target = StartOnAllCpus(options);
    while (afl_.TakeCommand()) {
      between_.service.store(Service::kWalking, std::memory_order_relaxed);
      const std::span<const uint8_t> input = afl_.Input();
      target.Walk(input);
      between_.credits.Settle(InputHash(input), afl_.map(), Blocks());
      afl_.map()[kAlwaysSet] = 1;
      between_.served.store(between_.served.load(std::memory_order_relaxed) + 1,
                            std::memory_order_relaxed);
      between_.service.store(Service::kIdle, std::memory_order_relaxed);
      if (!afl_.Answer(getpid(), 0)) break;
    }
    between_.service.store(Service::kOver);
    _exit(0);
  }

  // Number of block counters in use, rounded up to a multiple of 8 for BlockCredits.
  size_t Blocks() const {
    return (std::min<size_t>(state_.covered.blocks.load(), Feedback::kBlocks) + 7) & ~size_t{7};
  }

  // Waits for the child's end and returns its wait status. Kills a child whose walk does not end.
  int Await(pid_t child) {
    int wait_status = 0;
    uint64_t served = between_.served.load();
    int64_t moved = NowMs();
    const int64_t limit = std::max<int64_t>(kStuckAfterMs, 25 * state_.job.hang_limit_ms);
    while (waitpid(child, &wait_status, WNOHANG) == 0) {
      const timespec second{1, 0};
      sigtimedwait(&child_signal_, nullptr, &second);
      if (served != between_.served.load() || between_.service.load() != Service::kWalking) {
        served = between_.served.load();
        moved = NowMs();
      } else if (NowMs() - moved > limit) {
        kill(child, SIGKILL);
      }
    }
    by_engine_ = served == between_.served.load() && between_.service.load() == Service::kWalking &&
                 NowMs() - moved > kAflEndsAfterMs;
    return wait_status;
  }

  // Where nobody supervises, afl-fuzz has a time limit of its user's, so a SIGKILL may be its own.
  bool IsFromOutside(int wait_status) const {
    return state_.job.alone == 0 && !by_engine_ && WIFSIGNALED(wait_status) &&
           WTERMSIG(wait_status) == SIGKILL;
  }

  // Posts the child's exit and waits until the parent has acknowledged it, however busy the parent
  // is: a successor overwrites what the dead child left. A parent that ends takes afl-fuzz and us
  // with it.
  void PostExit(int wait_status) {
    const bool killed_to_stop =
        state_.stop.load() != 0 && WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGKILL;
    if (state_.job.alone != 0 || killed_to_stop) return;
    ChildExitMailbox& exits = state_.exits;
    exits.wait_status = wait_status;
    exits.by_engine = by_engine_ ? 1 : 0;
    const uint32_t number = exits.posted.fetch_add(1) + 1;
    while (exits.acknowledged.load() != number) Sleep(1);
  }

  const AflProtocol& afl_;
  SharedState& state_;
  Between& between_;
  const pid_t keeper_;
  sigset_t child_signal_, mask_;
  uint32_t early_deaths_ = 0;
  bool by_engine_ = false;  // the child's walk did not end, so afl-fuzz or the keeper killed it
};

// Walks inputs without AFL++, for example to reproduce a crash from afl-fuzz's output folder.
int WalkFiles(const std::string& walker, const std::vector<std::string>& paths) {
  static uint8_t counters[Feedback::kSize];
  if (paths.empty()) {
    std::fprintf(
        stderr,
        "usage: afl-fuzz -i SEEDS -o OUT -- walk_afl, or: walk_afl FILE...\n"
        "A copy named WALKER_afl walks with that walker; else WALKHAMMER_WALKER, or agct.\n");
    return 2;
  }
  FuzzTarget::Options options;
  options.walker = walker;
  options.counters = counters;
  FuzzTarget& target = FuzzTarget::Start(options);
  int code = 0;
  for (const std::string& path : paths) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "walkhammer: cannot read %s\n", path.c_str());
      code = 2;
      continue;
    }
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    target.Walk({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  }
  target.Leave();
  _exit(code);  // destructors must not run beside the JVM's threads
}

int Main(int argc, char** argv) {
  const std::string walker = WalkerName(argv[0], "_afl", "walk_afl");
  const std::optional<AflProtocol> afl = AflProtocol::Attach();
  if (!afl.has_value()) return WalkFiles(walker, {argv + 1, argv + argc});
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  SharedState& state = FuzzTarget::FindState(walker);
  void* memory =
      mmap(nullptr, sizeof(Between), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    std::fprintf(stderr, "walkhammer: cannot map shared memory\n");
    return 4;
  }
  Keeper keeper(*afl, state, *static_cast<Between*>(memory));
  if (!afl->SayHello(kMapSize)) return 4;
  return keeper.Run();
}

}  // namespace
}  // namespace walkhammer

int main(int argc, char** argv) { return walkhammer::Main(argc, argv); }
