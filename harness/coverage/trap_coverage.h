// SPDX-License-Identifier: Apache-2.0
// TrapCoverage: basic-block coverage of code that was not built for it. A trap instruction replaces
// the first instruction of each block; the first hit restores the original. Traps are armed only
// while the walking thread owns the JVM (at a safepoint), so other threads seldom hit one. A hit by
// another thread restores the instruction and is not counted; the next Arm sets the trap again.
// A trap also marks where the JVM begins to report its own death. A hit there removes all traps:
// the JVM's error log walks stacks with the same code, and by then the JVM's handlers own SIGTRAP.
// Signal-safe: OnTrap yes; the rest no.
#ifndef WALKHAMMER_HARNESS_COVERAGE_TRAP_COVERAGE_H_
#define WALKHAMMER_HARNESS_COVERAGE_TRAP_COVERAGE_H_

#include <ucontext.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "harness/base/result.h"
#include "harness/coverage/block_map.h"

namespace walkhammer {

class TrapCoverage {
 public:
  // Where hits of the walking thread are recorded; `covered` has one byte per block, in map order.
  struct Sinks {
    uint8_t* run;       // set to 1; the fuzz engine clears it before each input. May be null
    uint32_t run_size;  // bytes of `run`; block i has run[i % run_size]
    uint8_t* covered;   // set to 1 and never cleared: shared memory, read by the parent
  };

  // Makes the code of `map` writable (private pages); arms nothing. `bias` = address in memory
  // minus ELF virtual address. Also removes SIGTRAP from the masks of all installed signal
  // handlers: a trap that is hit while SIGTRAP is blocked would end the process. So the JVM and the
  // guard must be installed first, and no thread of the process may have SIGTRAP blocked.
  // Fails with kUnable if the kernel forbids writing, or if memory and file differ.
  // The result must live as long as the process: the signal of a hit trap may still be to come.
  static Result<std::unique_ptr<TrapCoverage>> Prepare(const BlockMap& map, uint64_t bias,
                                                       const Sinks& sinks);

  // Sets traps at all blocks that the walking thread has not hit since the last Forget.
  void Arm();
  // Restores all instructions.
  void Disarm();
  // Lets hit blocks be hit again: for merging, where each input must show its own blocks.
  void Forget();

  // Handles a SIGTRAP that an instruction raised; `context` is that of its handler. If
  // pc = place + kTrapPcAhead for the place of one of our traps, armed or not, restores the
  // instruction, sets pc to place, counts the hit if `walking` (the thread is inside a guarded
  // call) and returns true. Any number of threads may call OnTrap at the same time.
  bool OnTrap(ucontext_t& context, bool walking);

  size_t covered() const;  // blocks hit so far, by all processes that share Sinks::covered

 private:
  // A place where a trap may be. Written by Prepare only.
  struct Place {
    uint64_t address;
    uint32_t original;  // the instruction's first CodeUnit
  };

  TrapCoverage() = default;
  bool AddPlace(uint64_t address, uint32_t file_code, std::vector<Place>& places);
  static void Plant(const Place& place);
  static void Restore(const Place& place);
  static int FindPlace(const std::vector<Place>& places, uint64_t address);
  void RestoreAll();

  std::vector<Place> blocks_;                    // by address, in the map's order
  std::vector<Place> deaths_;                    // by address
  std::unique_ptr<std::atomic<uint8_t>[]> hit_;  // by the walking thread, since Forget
  std::atomic<bool> dying_{false};               // the JVM reports its death: no more traps
  Sinks sinks_{};
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_COVERAGE_TRAP_COVERAGE_H_
