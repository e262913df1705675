// SPDX-License-Identifier: Apache-2.0
// AflProtocol: the target's side of the fork-server protocol of AFL++ 4.04c. For each input, the
// target reads a 4-byte command from descriptor 198 and writes two 32-bit words to descriptor 199:
// pid and wait status of the process that ran the input. Inputs and coverage are in shared memory.
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
  // Attaches afl-fuzz's shared memory. nullopt if there is none: AFL++ did not start this process.
  static std::optional<AflProtocol> Attach();

  uint8_t* map() const { return map_; }
  std::span<const uint8_t> Input() const;

  // Sends the size of the map in bytes, asks for inputs in shared memory, and waits for the answer.
  // False if AFL++ refuses or is gone; the next three functions return false if AFL++ is gone.
  bool SayHello(size_t map_size) const;
  // Waits until a command is there, and leaves the command unread for TakeCommand.
  bool AwaitCommand() const;
  bool TakeCommand() const;
  // Writes both words at once, so that afl-fuzz wakes up only once.
  bool Answer(pid_t pid, int wait_status) const;

 private:
  AflProtocol() = default;

  uint8_t* map_ = nullptr;
  const uint8_t* shared_input_ = nullptr;  // 4 bytes of size, then the input
};

}  // namespace walkhammer

#endif  // WALKHAMMER_FUZZERS_AFL_PROTOCOL_H_
