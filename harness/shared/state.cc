#include "harness/shared/state.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace walkhammer {

Result<SharedState*> OpenState() {
  const char* path = std::getenv(kStateVariable);
  if (path == nullptr) return nullptr;
  const std::string misfit =
      std::string(path) + " is not the state of a walkhammer of this build: rebuild all of it";
  const int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return ToolFailed(std::string("cannot open ") + path);
  struct stat info {};
  void* memory = MAP_FAILED;
  if (fstat(fd, &info) == 0 && info.st_size == sizeof(SharedState))
    memory = mmap(nullptr, sizeof(SharedState), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (memory == MAP_FAILED) return ToolFailed(misfit);
  auto* state = static_cast<SharedState*>(memory);
  if (state->magic != SharedState::kMagic) return ToolFailed(misfit);
  return state;
}

}  // namespace walkhammer
