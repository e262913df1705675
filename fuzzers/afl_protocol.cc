// SPDX-License-Identifier: Apache-2.0
#include "fuzzers/afl_protocol.h"

#include <poll.h>
#include <sys/shm.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace walkhammer {
namespace {

constexpr int kCommandFd = 198;
constexpr int kAnswerFd = 199;

// Bits of the first word that a target sends, and of afl-fuzz's answer.
constexpr uint32_t kEnabled = 0x80000001;
constexpr uint32_t kHasMapSize = 0x40000000;
constexpr uint32_t kSharedInput = 0x01000000;

// Bits 1 to 23 hold size - 1.
constexpr uint32_t MapSizeBits(size_t size) { return static_cast<uint32_t>(size - 1) << 1; }

constexpr uint32_t kMostInput = 1 << 20;  // bytes; AFL++'s MAX_FILE

// Attaches the shared memory whose id is in `variable`; null on failure. afl-fuzz runs a binary
// only if it finds the name of the first variable, __AFL_SHM_ID, in the file.
void* Shared(const char* variable) {
  const char* id = std::getenv(variable);
  if (id == nullptr) return nullptr;
  const int number = std::atoi(id);
  void* memory = shmat(number, nullptr, 0);
  if (memory == reinterpret_cast<void*>(-1)) return nullptr;
  // Has the memory removed with its last process; a killed afl-fuzz would leave the memory behind.
  shmctl(number, IPC_RMID, nullptr);
  return memory;
}

bool Read(void* to, size_t size) {
  ssize_t got;
  do got = read(kCommandFd, to, size);
  while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(size);
}

bool Write(const void* from, size_t size) {
  ssize_t put;
  do put = write(kAnswerFd, from, size);
  while (put < 0 && errno == EINTR);
  return put == static_cast<ssize_t>(size);
}

}  // namespace

std::optional<AflProtocol> AflProtocol::Attach() {
  AflProtocol afl;
  afl.map_ = static_cast<uint8_t*>(Shared("__AFL_SHM_ID"));
  afl.shared_input_ = static_cast<const uint8_t*>(Shared("__AFL_SHM_FUZZ_ID"));
  if (afl.map_ == nullptr || afl.shared_input_ == nullptr) return std::nullopt;
  return afl;
}

std::span<const uint8_t> AflProtocol::Input() const {
  uint32_t size;
  std::memcpy(&size, shared_input_, sizeof size);
  return {shared_input_ + sizeof size, size < kMostInput ? size : kMostInput};
}

bool AflProtocol::SayHello(size_t map_size) const {
  const uint32_t hello = kEnabled | kHasMapSize | kSharedInput | MapSizeBits(map_size);
  uint32_t answer = 0;
  return Write(&hello, sizeof hello) && Read(&answer, sizeof answer) &&
         (answer & (kEnabled | kSharedInput)) == (kEnabled | kSharedInput);
}

bool AflProtocol::AwaitCommand() const {
  pollfd command{kCommandFd, POLLIN, 0};
  while (poll(&command, 1, -1) < 0 && errno == EINTR) {
  }
  return (command.revents & POLLIN) != 0;
}

bool AflProtocol::TakeCommand() const {
  uint32_t last_timed_out;  // ignored: the process that timed out was killed
  return Read(&last_timed_out, sizeof last_timed_out);
}

bool AflProtocol::Answer(pid_t pid, int wait_status) const {
  const int32_t words[] = {pid, wait_status};
  return Write(words, sizeof words);
}

}  // namespace walkhammer
