// SPDX-License-Identifier: Apache-2.0
// PlayedAfl: a test's stand-in for afl-fuzz: starts walk_afl, gives it inputs and reads its
// answers. PlayedAfl also plays the parent that reads the exit mailbox. Signal-safe: no.
#ifndef WALKHAMMER_FUZZERS_AFL_TESTING_H_
#define WALKHAMMER_FUZZERS_AFL_TESTING_H_

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/shm.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fuzzers/feedback.h"
#include "harness/base/testing/temporary_folder.h"
#include "harness/ipc/shared_mapping.h"
#include "harness/process/spawn.h"
#include "harness/supervise/command_testing.h"

namespace walkhammer {

struct Answer {
  pid_t pid = 0;
  int wait_status = -1;
  std::vector<uint8_t> map;
};

// What the parent learns about a dead child from the exit mailbox and the journal.
struct Taken {
  int wait_status;
  bool walking;
  int64_t pc;  // addend of the journal's request
  bool by_engine;
};

// afl-fuzz's side of the protocol.
class PlayedAfl {
 public:
  static constexpr size_t kMapSize = Feedback::kSize + 64;  // bytes; the target must report this

  // `state`: of the parent that this object plays; null: the target has no supervisor.
  PlayedAfl(const Jdk& jdk, const std::string& walker, SharedMapping* state = nullptr)
      : state_(state),
        map_(shmget(IPC_PRIVATE, kMapSize, 0600)),
        input_(shmget(IPC_PRIVATE, 1 << 20, 0600)) {
    map_bytes_ = static_cast<uint8_t*>(shmat(map_, nullptr, 0));
    input_bytes_ = static_cast<uint8_t*>(shmat(input_, nullptr, 0));
    signal(SIGPIPE, SIG_IGN);  // a write to a dead target must fail, not kill the test
    unsetenv(kStateVariable);
    int commands[2], answers[2];
    if (pipe2(commands, O_CLOEXEC) != 0 || pipe2(answers, O_CLOEXEC) != 0) return;
    dup2(commands[0], kCommandFd);
    dup2(answers[1], kAnswerFd);
    SpawnOptions options{
        .arguments = {BesideExecutable("walk_afl")},
        .environment = {"__AFL_SHM_ID=" + std::to_string(map_),
                        "__AFL_SHM_FUZZ_ID=" + std::to_string(input_),
                        "WALKHAMMER_WALKER=" + walker, "WALKHAMMER_JDK=" + jdk.home},
        .directory = folder_.Under(""),
        .inherited = {kCommandFd, kAnswerFd}};
    if (state_ != nullptr) {
      options.inherited.push_back(state_->fd());
      options.environment.push_back(std::string(kStateVariable) + "=/proc/self/fd/" +
                                    std::to_string(state_->fd()));
    }
    EXPECT_TRUE(target_.Start(options).ok());
    for (const int fd : {commands[0], answers[1], kCommandFd, kAnswerFd}) close(fd);
    commands_ = commands[1];
    answers_ = answers[0];
  }

  ~PlayedAfl() {
    Leave();
    shmdt(map_bytes_);
    shmdt(input_bytes_);
    shmctl(map_, IPC_RMID, nullptr);
    shmctl(input_, IPC_RMID, nullptr);
  }

  // Reads and answers the target's greeting. Returns the size of the map in bytes, or 0 if the
  // greeting is missing or wrong.
  size_t Hello() {
    const auto word = Word(std::chrono::seconds(10));
    if (!word.has_value()) return 0;
    const auto hello = static_cast<uint32_t>(*word);
    // Required: enabled, map size, inputs in shared memory; no other option.
    if ((hello & 0xff000001) != 0xc1000001) return 0;
    Send(0x81000001);
    return ((hello & 0x00fffffe) >> 1) + 1;
  }

  Answer Run(const std::string& input) {
    const auto size = static_cast<uint32_t>(input.size());
    std::memcpy(input_bytes_, &size, sizeof size);
    std::memcpy(input_bytes_ + sizeof size, input.data(), input.size());
    std::fill_n(map_bytes_, kMapSize, 0);
    Send(0);
    Answer answer;
    answer.pid = Word(kBootWithin).value_or(0);
    answer.wait_status = Word(std::chrono::seconds(30)).value_or(-1);
    answer.map.assign(map_bytes_, map_bytes_ + kMapSize);
    return answer;
  }

  const std::vector<Taken>& exits() const { return exits_; }
  // How long the parent does something else before it looks at an exit.
  void set_parent_busy(std::chrono::milliseconds time) { parent_busy_ = time; }

  // Closes the pipes, as an afl-fuzz that ends does.
  void Leave() {
    for (int* fd : {&commands_, &answers_})
      if (*fd >= 0) close(std::exchange(*fd, -1));
  }

  // The target's wait status; nullopt if the target does not end by itself within `limit`.
  std::optional<int> EndedWithin(std::chrono::seconds limit) {
    const auto until = std::chrono::steady_clock::now() + limit;
    while (!target_.HasEnded()) {
      if (std::chrono::steady_clock::now() > until) return std::nullopt;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return target_.wait_status();
  }

  bool NothingMoreSaid() const {
    pollfd answer{answers_, POLLIN, 0};
    return poll(&answer, 1, 200) == 0;
  }

 private:
  static constexpr int kCommandFd = 198, kAnswerFd = 199;
  static constexpr auto kBootWithin = std::chrono::seconds(60);

  void Send(uint32_t word) {
    if (write(commands_, &word, sizeof word) != sizeof word) ADD_FAILURE() << "the target is gone";
  }

  std::optional<int32_t> Word(std::chrono::milliseconds within) {
    const auto until = std::chrono::steady_clock::now() + within;
    pollfd answer{answers_, POLLIN, 0};
    while (poll(&answer, 1, 10) != 1) {
      TakeExit();
      if (std::chrono::steady_clock::now() > until) return std::nullopt;
    }
    int32_t word;
    if (read(answers_, &word, sizeof word) != sizeof word) return std::nullopt;
    return word;
  }

  // Records a posted exit and acknowledges it, as the parent does. The target waits for that.
  void TakeExit() {
    if (state_ == nullptr) return;
    SharedState& state = state_->state();
    if (state.exits.acknowledged.load() == state.exits.posted.load()) return;
    const auto now = std::chrono::steady_clock::now();
    if (!exit_seen_.has_value()) exit_seen_ = now;
    if (now - *exit_seen_ < parent_busy_) return;
    exit_seen_.reset();
    exits_.push_back({state.exits.wait_status, state.journal.phase.load() == 1,
                      state.journal.request.pc.addend, state.exits.by_engine != 0});
    state.exits.acknowledged.store(state.exits.posted.load());
  }

  SharedMapping* state_;
  std::vector<Taken> exits_;
  std::chrono::milliseconds parent_busy_{0};
  std::optional<std::chrono::steady_clock::time_point> exit_seen_;
  TemporaryFolder folder_;  // takes the files that a dying JVM leaves
  int map_, input_;
  uint8_t* map_bytes_;
  uint8_t* input_bytes_;
  int commands_ = -1, answers_ = -1;
  Spawned target_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_FUZZERS_AFL_TESTING_H_
