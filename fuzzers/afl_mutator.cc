// SPDX-License-Identifier: Apache-2.0
// walkhammer_mutator.so: a custom mutator for AFL++ (the interface of 4.04c) on top of the shared
// mutator. The library runs in afl-fuzz's process, which has no JVM, so symbols and vocabulary come
// from the SharedState that the target fills. $WALKHAMMER_STATE names the file of the state.
// Without a supervisor, the library makes that file and sets the variable for the target.
#include <fcntl.h>
#include <stdlib.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "fuzzers/engine_input.h"
#include "harness/ipc/shared_mapping.h"

namespace walkhammer {
namespace {

constexpr uint32_t kCrossPercent = 15;
constexpr size_t kMostBytes = 16384;  // more than any request needs, names included

class AflMutator {
 public:
  explicit AflMutator(uint64_t seed) : random_(seed) {
    symbols_->Init();
    mutator_.emplace(InputMutator{Mutator(*words_, 0), *symbols_});
    // A wrong state is not an error here: the target reports it, and mutating needs no vocabulary.
    auto state = OpenState();
    if (state.ok()) state_ = state.value() != nullptr ? state.value() : MakeState();
    Listen();
  }

  ~AflMutator() {
    if (own_ != nullptr) unsetenv(kStateVariable);
  }

  size_t Next(std::span<const uint8_t> input, std::span<const uint8_t> other, size_t max_size,
              uint8_t** out) {
    if (!ready_) Listen();
    const uint64_t seed = random_.Next();
    const size_t most = std::min(max_size, sizeof bytes_);
    *out = bytes_;
    if (!other.empty() && random_.Chance(kCrossPercent))
      return CrossInputs(*mutator_, input, other, bytes_, most, seed);
    const size_t size = std::min(input.size(), most);
    std::memcpy(bytes_, input.data(), size);
    return MutateInput(*mutator_, bytes_, size, most, seed);
  }

 private:
  // Makes a state for the target, which afl-fuzz starts later and which inherits descriptor and
  // variable. Null on failure.
  SharedState* MakeState() {
    auto made = SharedMapping::Create();
    if (!made.ok()) return nullptr;
    own_ = std::move(made.value());
    fcntl(own_->fd(), F_SETFD, 0);
    setenv(kStateVariable, ("/proc/self/fd/" + std::to_string(own_->fd())).c_str(), 1);
    return &own_->state();
  }

  // Copies symbols and vocabulary once they are complete. A copy, because a table has one writer,
  // and the writer of these is the target. The target writes only while it boots or walks;
  // vocabulary_ready is 0 while it boots.
  void Listen() {
    if (state_ == nullptr || state_->vocabulary_ready.load() == 0) return;
    auto symbols = std::make_unique<SymbolTable>();
    auto words = std::make_unique<Vocabulary>();
    std::memcpy(static_cast<void*>(symbols.get()), &state_->symbols, sizeof(SymbolTable));
    std::memcpy(static_cast<void*>(words.get()), &state_->vocabulary, sizeof(Vocabulary));
    if (state_->vocabulary_ready.load() == 0) return;
    symbols_ = std::move(symbols);
    words_ = std::move(words);
    mutator_.emplace(InputMutator{Mutator(*words_, state_->job.walker), *symbols_});
    ready_ = true;
  }

  std::unique_ptr<SharedMapping> own_;  // the state's mapping if this library made the state
  SharedState* state_ = nullptr;
  bool ready_ = false;
  std::unique_ptr<SymbolTable> symbols_ = std::make_unique<SymbolTable>();
  std::unique_ptr<Vocabulary> words_ = std::make_unique<Vocabulary>();
  std::optional<InputMutator> mutator_;
  Random random_;
  uint8_t bytes_[kMostBytes];
};

}  // namespace
}  // namespace walkhammer

extern "C" void* afl_custom_init(void* /*afl*/, unsigned seed) {
  return new walkhammer::AflMutator(seed);
}

extern "C" size_t afl_custom_fuzz(void* mutator, uint8_t* input, size_t size, uint8_t** out,
                                  uint8_t* other, size_t other_size, size_t max_size) {
  return static_cast<walkhammer::AflMutator*>(mutator)->Next(
      {input, size}, {other, other == nullptr ? 0 : other_size}, max_size, out);
}

extern "C" void afl_custom_deinit(void* mutator) {
  delete static_cast<walkhammer::AflMutator*>(mutator);
}
