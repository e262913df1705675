// SPDX-License-Identifier: Apache-2.0
// AflProtocol: the target's end of AFL++'s fork-server protocol, as 4.04c speaks it: descriptor 198
// brings a command of four bytes for each input, 199 takes two words for each, the pid of the
// process that ran it and its wait status. Inputs and coverage lie in shared memory.
// Used by walk_afl. Signal-safe: yes, except Attach.
#ifndef WALKHAMMER_FUZZERS_AFL_PROTOCOL_H_
#define WALKHAMMER_FUZZERS_AFL_PROTOCOL_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace walkhammer {

class AflProtocol {
 public:
  // Maps what afl-fuzz shares. Empty where AFL++ did not start this process.
  static std::optional<AflProtocol> Attach();

  uint8_t* map() const { return map_; }
  std::span<const uint8_t> Input() const;

  // "Here I am": the size of the map, and that inputs are wanted in shared memory. Waits for the
  // answer. All of these are false when AFL++ is gone or speaks otherwise.
  bool SayHello(size_t map_size) const;
  // Until there is a command, and leaves it to whoever takes it.
  bool AwaitCommand() const;
  bool TakeCommand() const;
  // In one go, so that afl-fuzz wakes up only once.
  bool Answer(pid_t pid, int wait_status) const;

 private:
  AflProtocol() = default;

  uint8_t* map_ = nullptr;
  const uint8_t* shared_input_ = nullptr;  // its size in four bytes, then the bytes
};

}  // namespace walkhammer

#endif  // WALKHAMMER_FUZZERS_AFL_PROTOCOL_H_
