// SPDX-License-Identifier: Apache-2.0
// Planted bugs for the engines. puzzle-maze and puzzle-slots crash after conditions that no engine
// fulfils by chance. Guidance fulfils the conditions one after the other, since each of them is a
// block of its own. Expected, on one worker and any JDK: `--engine libfuzzer` and `--engine afl`
// find the crash in MazeEnd, or SlotsEnd, within a minute; `--engine random` does not.
// engines_test.cc checks that, and shows with puzzle-strand that inputs which end each child do not
// hold up other inputs.
#include <cstdint>
#include <cstdlib>

#include "harness/guard/arch.h"
#include "harness/guard/guard.h"
#include "harness/walkers/agct.h"
#include "harness/walkers/puzzles.h"

namespace walkhammer {
namespace {

AgctFunction real_agct = nullptr;
volatile uint64_t no_address = 0x10;  // volatile: the compiler must not see through the crash
volatile int steps = 0;               // writes to it make each condition a block of its own

__attribute__((noinline)) void MazeEnd() { *reinterpret_cast<volatile int*>(no_address) = 3; }
__attribute__((noinline)) void SlotsEnd() { *reinterpret_cast<volatile int*>(no_address) = 4; }

}  // namespace

// Compares low bits only, which survive address randomisation.
extern "C" __attribute__((noinline)) void WalkhammerMaze(const Registers& r, jint depth,
                                                         uint64_t anchor_sp) {
  steps = 0;
  if (depth % 16 != 7) return;
  steps = 1;
  if (r.pc % 16 != 11) return;
  steps = 2;
  if (r.sp % 16 != 13) return;
  steps = 3;
  if (r.fp % 16 != 5) return;
  steps = 4;
  if (anchor_sp % 16 != 3) return;
  steps = 5;
  MazeEnd();
}

// Crashes if five words of the walked stack are zero.
extern "C" __attribute__((noinline)) void WalkhammerSlots(const uint64_t* stack) {
  steps = 0;
  if (stack[3] != 0) return;
  steps = 1;
  if (stack[7] != 0) return;
  steps = 2;
  if (stack[13] != 0) return;
  steps = 3;
  if (stack[19] != 0) return;
  steps = 4;
  if (stack[27] != 0) return;
  steps = 5;
  SlotsEnd();
}

namespace {

void WalkMaze(AgctTrace* trace, jint depth, void* context) {
  real_agct(trace, depth, context);
  const GuardSlot* slot = CurrentGuardSlot();
  const uint64_t anchor_sp = slot == nullptr || slot->anchor == nullptr ? 0 : *slot->anchor;
  WalkhammerMaze(ReadContext(*static_cast<ucontext_t*>(context)), depth, anchor_sp);
}

void WalkSlots(AgctTrace* trace, jint depth, void* context) {
  real_agct(trace, depth, context);
  const GuardSlot* slot = CurrentGuardSlot();
  if (slot == nullptr || slot->walked_stack == 0) return;
  WalkhammerSlots(reinterpret_cast<const uint64_t*>(slot->walked_stack));
}

constexpr jint kStrandingDepth = 1234;

// Crashes inside free(), which strands the allocator: the child is retired.
void WalkStrand(AgctTrace* trace, jint depth, void* context) {
  real_agct(trace, depth, context);
  if (depth == kStrandingDepth) std::free(reinterpret_cast<void*>(no_address));
}

}  // namespace

std::unique_ptr<Walker> MakeMaze() { return MakeAgctWalker(WalkMaze, &real_agct); }
std::unique_ptr<Walker> MakeSlots() { return MakeAgctWalker(WalkSlots, &real_agct); }
std::unique_ptr<Walker> MakeStrand() { return MakeAgctWalker(WalkStrand, &real_agct); }

}  // namespace walkhammer
