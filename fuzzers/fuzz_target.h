// SPDX-License-Identifier: Apache-2.0
// FuzzTarget: what a fuzz engine calls, whichever it is: bytes in, one walk, feedback out. Boots
// the JVM at the first input, since a JVM cannot be forked. One per process. Signal-safe: no.
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
    std::string walker;            // where no parent says which
    SharedState* state = nullptr;  // null: FindState(walker)
    uint8_t* counters = nullptr;   // Feedback::kSize bytes that the engine reads and clears
    bool forget = false;           // each input shows all of its blocks, also known ones
  };

  // The supervisor's state, or one of our own with every scene. Ends the process like Start. Starts
  // no thread.
  static SharedState& FindState(const std::string& walker);

  // Boots the JVM and sets its scenes up. The calling thread is the one that will walk. Ends the
  // process, with one sentence on stderr or in the SharedState, where that cannot be done.
  static FuzzTarget& Start(const Options& options);

  // Walks what `input` (either form of a request) decodes to. A finding is recorded for the parent;
  // without one, a forbidden outcome is told on stderr and the process aborts, as engines expect.
  void Walk(std::span<const uint8_t> input);

  // Before the process ends in good order.
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
