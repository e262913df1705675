// Hashes for tables in memory: nobody keeps them. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_BASE_HASH_H_
#define WALKHAMMER_HARNESS_BASE_HASH_H_

#include <cstdint>

namespace walkhammer {

// `hash` with one more value in it; begin with any number.
inline uint64_t Mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15;
  return hash ^ (hash >> 29);
}
inline uint64_t Mix(uint64_t hash, const void* value) {
  return Mix(hash, reinterpret_cast<uint64_t>(value));
}

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BASE_HASH_H_
