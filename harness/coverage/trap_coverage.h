// SPDX-License-Identifier: Apache-2.0
// TrapCoverage: basic-block coverage of code that was not built for it. One trap instruction stands
// at each block's leader; the first hit restores the instruction. Armed only while the walking
// thread owns the JVM (at a safepoint), so other threads seldom meet a trap; when they do, it is
// restored and counts for nobody until it is armed again.
// A JVM that begins to report its own death meets a trap, too, which lifts all others first: its
// error log walks stacks with the same code, and by then its own handlers own SIGTRAP.
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
  // Where hits of the walking thread are written; one byte a block, in the map's order.
  struct Sinks {
    uint8_t* run;       // set to 1; the fuzz engine clears it before each input. May be null
    uint32_t run_size;  // bytes there; block i has byte i modulo run_size
    uint8_t* covered;   // set to 1 and never cleared: shared memory, read by the parent
  };

  // Makes libjvm's text writable (private pages) and ready; arms nothing. `bias` is the difference
  // between an address in memory and the one in the file. Also takes SIGTRAP out of the masks of
  // all installed signal handlers: a trap met while SIGTRAP is blocked would end the process. So
  // the JVM and the guard come first, and no thread of the process may have SIGTRAP blocked.
  // Fails with kUnable where the kernel forbids it or memory does not hold what the file says.
  // Lives as long as the process: a trap may have been met whose signal is yet to come.
  static Result<std::unique_ptr<TrapCoverage>> Prepare(const BlockMap& map, uint64_t bias,
                                                       const Sinks& sinks);

  // Sets traps at all blocks that the walking thread has not hit since they were last forgotten.
  void Arm();
  // Restores all instructions.
  void Disarm();
  // What was hit may be hit again: for merging, where each input must show its own blocks.
  void Forget();

  // A SIGTRAP that an instruction raised at `context`: if it stands right behind one of our traps,
  // armed or not (any more), restores the instruction, sets the pc back to it, counts it if
  // `walking` (the thread is inside a guarded call) and answers true. Any thread may call it at any
  // time, several at once.
  bool OnTrap(ucontext_t& context, bool walking);

  size_t covered() const;  // blocks hit so far, by this process or whoever shares the sink

 private:
  // A place where a trap may stand. Written by Prepare only.
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
  std::atomic<bool> dying_{false};               // the JVM reports its death: no traps any more
  Sinks sinks_{};
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_COVERAGE_TRAP_COVERAGE_H_
