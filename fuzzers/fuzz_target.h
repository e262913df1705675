// SPDX-License-Identifier: Apache-2.0
// FuzzTarget: what every fuzz engine calls: takes the bytes of an input, does one walk, gives
// feedback. Start boots the JVM in the process that walks, because a JVM cannot be forked. One per
// process. Signal-safe: no.
#ifndef WALKHAMMER_FUZZERS_FUZZ_TARGET_H_
#define WALKHAMMER_FUZZERS_FUZZ_TARGET_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "fuzzers/engine_input.h"
#include "fuzzers/feedback.h"
#include "harness/child/campaign.h"
#include "harness/child/engine_thread.h"

namespace walkhammer {

class FuzzTarget {
 public:
  struct Options {
    std::string walker;            // used if no parent names one
    SharedState* state = nullptr;  // null: FindState(walker)
    uint8_t* counters = nullptr;   // Feedback::kSize bytes that the engine reads and clears
    bool forget = false;           // each input shows all of its blocks, not only new ones
  };

  // Returns the supervisor's state; without a supervisor, a state with a job for `walker` on every
  // scene. On failure, ends the process with one sentence on stderr. Starts no thread.
  static SharedState& FindState(const std::string& walker);

  // Boots the JVM and sets up its scenes. The calling thread must be the one that will walk. On
  // failure, ends the process with one sentence on stderr or in the SharedState.
  static FuzzTarget& Start(const Options& options);

  // Walks the request that `input` (text or binary form) decodes to, and records findings for the
  // parent. Without a parent, prints a forbidden outcome to stderr and aborts, as engines expect.
  void Walk(std::span<const uint8_t> input);

  // Restores stacks and code and lets the JVM go on. Call before an orderly end of the process.
  void Leave() { engine_->CloseWindow(); }

  const InputMutator& mutator() const { return *mutator_; }

 private:
  FuzzTarget() = default;
  static void* JvmThread(void* target);
  bool IsKiller(uint64_t hash) const;
  void AbortOnFinding();
  [[noreturn]] void End(ChildPhase phase);

  Options options_;
  SharedState* state_ = nullptr;
  ChildEnvironment environment_;
  std::unique_ptr<EngineThread> engine_;
  std::unique_ptr<Feedback> feedback_;
  std::unique_ptr<InputMutator> mutator_;
  uint64_t sequence_ = 0;
  sem_t ready_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_FUZZERS_FUZZ_TARGET_H_
