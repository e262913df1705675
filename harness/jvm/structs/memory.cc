// SPDX-License-Identifier: Apache-2.0
#include "harness/jvm/structs/memory.h"

#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

namespace walkhammer {
namespace {

// Read once: getpid is a system call, and a walk may read a thousand words. A forked process that
// does not exec would read its parent's memory.
const pid_t this_process = getpid();

}  // namespace

bool KernelMemory::ReadWord(uint64_t address, uint64_t& word) const {
  const int error_number = errno;
  const iovec to{&word, sizeof word}, from{reinterpret_cast<void*>(address), sizeof word};
  const bool read = process_vm_readv(this_process, &to, 1, &from, 1, 0) == sizeof word;
  errno = error_number;
  return read;
}

std::string ReadText(const MemoryReader& memory, uint64_t address) {
  constexpr int kMost = 1024;
  std::string text;
  uint8_t byte = 0;
  while (address != 0 && text.size() < kMost && memory.ReadBytes(address++, &byte, 1) && byte != 0)
    text += static_cast<char>(byte);
  return text;
}

}  // namespace walkhammer
