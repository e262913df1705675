// SPDX-License-Identifier: Apache-2.0
#include "harness/ipc/state.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "harness/base/files.h"

namespace walkhammer {

Result<void*> MapState(const std::string& path, size_t size, uint64_t magic) {
  const int fd = OpenFile(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return ToolFailed("cannot open " + path);
  struct stat info {};
  void* memory = MAP_FAILED;
  if (fstat(fd, &info) == 0 && info.st_size == static_cast<off_t>(size))
    memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (memory == MAP_FAILED || static_cast<LineState*>(memory)->magic != magic)
    return ToolFailed(path + " is not the state of a walkhammer of this build: rebuild all of it");
  return memory;
}

Result<SharedState*> OpenState() {
  const char* path = std::getenv(kStateVariable);
  if (path == nullptr) return nullptr;
  return OpenStateAt<SharedState>(path);
}

}  // namespace walkhammer
