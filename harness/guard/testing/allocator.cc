// SPDX-License-Identifier: Apache-2.0
// A complete allocator to preload, which aborts on memory that is not its own. See
// interpose_test.cc.
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

constexpr size_t kRoom = size_t{8} << 30;  // of which only what is used has memory; none is reused
constexpr uint64_t kMine = 0x57484d454d4f5259;

struct Header {
  uint64_t mine;
  size_t size;
};

char* Begin() {
  static char* const begin = static_cast<char*>(mmap(
      nullptr, kRoom, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  return begin;
}

bool Owns(const void* memory) { return memory >= Begin() && memory < Begin() + kRoom; }

Header& HeaderOf(void* memory) {
  if (!Owns(memory)) std::abort();
  Header& header = static_cast<Header*>(memory)[-1];
  if (header.mine != kMine) std::abort();
  return header;
}

void* Allocate(size_t alignment, size_t size) {
  static std::atomic<size_t> used{0};
  if (alignment < 16) alignment = 16;
  if (size > kRoom || alignment > kRoom) return nullptr;
  const size_t from = used.fetch_add(size + alignment + sizeof(Header));
  const auto first = reinterpret_cast<uint64_t>(Begin()) + from + sizeof(Header);
  const uint64_t place = (first + alignment - 1) / alignment * alignment;
  if (place + size > reinterpret_cast<uint64_t>(Begin()) + kRoom) return nullptr;
  reinterpret_cast<Header*>(place)[-1] = {kMine, size};
  return reinterpret_cast<void*>(place);
}

void* OrNoMemory(void* memory) {
  if (memory == nullptr) errno = ENOMEM;
  return memory;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

bool wh_owns(const void* memory) { return Owns(memory); }

void* malloc(size_t size) { return OrNoMemory(Allocate(16, size)); }
void* calloc(size_t count, size_t size) {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) bytes = SIZE_MAX;
  return OrNoMemory(Allocate(16, bytes));
}
void free(void* memory) {
  if (memory != nullptr) HeaderOf(memory).mine = 0;
}
void* realloc(void* memory, size_t size) {
  void* moved = malloc(size);
  if (memory == nullptr || moved == nullptr) return moved;
  const size_t old_size = HeaderOf(memory).size;
  std::memcpy(moved, memory, old_size < size ? old_size : size);
  free(memory);
  return moved;
}
void* memalign(size_t alignment, size_t size) { return OrNoMemory(Allocate(alignment, size)); }
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
void* valloc(size_t size) { return memalign(4096, size); }
void* pvalloc(size_t size) { return memalign(4096, (size + 4095) / 4096 * 4096); }
int posix_memalign(void** out, size_t alignment, size_t size) {
  if (alignment < sizeof(void*) || (alignment & (alignment - 1)) != 0) return EINVAL;
  void* memory = Allocate(alignment, size);
  if (memory == nullptr) return ENOMEM;
  *out = memory;
  return 0;
}
size_t malloc_usable_size(void* memory) { return memory == nullptr ? 0 : HeaderOf(memory).size; }
}
#pragma GCC visibility pop
