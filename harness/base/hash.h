// SPDX-License-Identifier: Apache-2.0
// Hashes for tables in memory and for inputs. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_BASE_HASH_H_
#define WALKHAMMER_HARNESS_BASE_HASH_H_

#include <cstdint>

namespace walkhammer {

// 2^64 divided by the golden ratio: its multiples, modulo 2^64, are far apart.
inline constexpr uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;

// Returns `hash` with one more value mixed in; the first `hash` may be any number.
inline uint64_t Mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * kGoldenRatio;
  return hash ^ (hash >> 29);
}
inline uint64_t Mix(uint64_t hash, const void* value) {
  return Mix(hash, reinterpret_cast<uint64_t>(value));
}

// Index of a key in a table of 2^bits entries, with bits from 1 to 63.
inline uint64_t PlaceOf(uint64_t key, int bits) { return (key * kGoldenRatio) >> (64 - bits); }

// 64-bit FNV-1a: adds one byte to the hash, which begins as kFnvBegin.
inline constexpr uint64_t kFnvBegin = 0xcbf29ce484222325;
inline uint64_t Fnv1a(uint64_t hash, uint8_t byte) { return (hash ^ byte) * 0x100000001b3; }
// 32-bit FNV-1a: adds one byte to the hash, which begins as kFnvBegin32.
inline constexpr uint32_t kFnvBegin32 = 0x811c9dc5;
inline uint32_t Fnv1a32(uint32_t hash, uint8_t byte) { return (hash ^ byte) * 0x01000193; }

// The last steps of splitmix64: each bit of `z` changes about half of the result's bits.
inline uint64_t Scramble(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BASE_HASH_H_
