// SPDX-License-Identifier: Apache-2.0
// Fixtures of the reference walk's tests, on a synthetic JVM.
#ifndef WALKHAMMER_HARNESS_ASGST_WALK_JAVA_WALK_TESTING_H_
#define WALKHAMMER_HARNESS_ASGST_WALK_JAVA_WALK_TESTING_H_

#include <gtest/gtest.h>

#include <initializer_list>
#include <ostream>
#include <utility>
#include <vector>

#include "harness/asgst/testing/made_up_jvm.h"
#include "harness/asgst/walk/java_walk.h"

namespace walkhammer::asgst {

inline constexpr uint64_t kLeafSp = MadeUpJvm::kLeafSp, kThread = MadeUpJvm::kThread,
                          kMethods = MadeUpJvm::kMethods;

struct Seen {
  uint64_t method;  // its number; ~0: none
  int bci, level;
  FrameType type;
  bool operator==(const Seen&) const = default;
};

inline void PrintTo(const Seen& seen, std::ostream* out) {
  *out << "method " << seen.method << " @ " << seen.bci << " level " << seen.level << " type "
       << static_cast<int>(seen.type);
}

class JavaWalkTest : public testing::TestWithParam<const CodeRules*> {
 protected:
  JavaWalkTest() : jvm_(*GetParam()) {}

  // Also sets how the walk ended, and which frames were guessed.
  std::vector<Seen> Walk() {
    JavaWalk walk(layout_, memory_, start_);
    std::vector<Seen> seen;
    const bool found = walk.Begin() == WalkStatus::kFound;
    guesses_.clear();
    for (JavaFrame frame; found && seen.size() < 100 && walk.Next(frame);) {
      seen.push_back({frame.method < kMethods ? ~frame.method : (frame.method - kMethods) / 0x1000,
                      frame.bci, frame.level, frame.type});
      guesses_.push_back(frame.guessed);
    }
    broken_ = walk.broken();
    end_ = walk.end();
    return seen;
  }
  WalkEnd End() {
    Walk();
    return end_;
  }

  // Makes the stub a blob with a frame of `words`, complete after `complete` bytes.
  void SizeStub(uint32_t words, uint32_t complete = 0) {
    memory_.PutInt(jvm_.stub - 0x1f0 + 8, words);
    memory_.PutInt(jvm_.stub - 0x1f0 + 12, complete);
  }

  // The thread is in native code; its anchor is at this frame.
  void LeaveJava(uint64_t sp, uint64_t pc) {
    memory_.Put(kThread, 4);
    memory_.Put(kThread + 8, sp);
    memory_.Put(kThread + 16, pc);
  }

  // The jmethodID of the newest frame's method; 0: none.
  uint64_t FirstId() {
    JavaWalk walk(layout_, memory_, start_);
    JavaFrame frame;
    return walk.Begin() == WalkStatus::kFound && walk.Next(frame) ? frame.facts.id : 0;
  }

  // The class of Method(0) has this method and no other.
  void ListInClass(uint64_t method) {
    constexpr int kListed = 0x48;
    const uint64_t holder = MadeUpJvm::Method(0) + 0x300, list = MadeUpJvm::Method(0) + 0x700;
    layout_.table.methods = kListed;
    layout_.table.methods_data = 8;
    memory_.Put(holder + kListed, list);
    memory_.Put(list, 1);
    memory_.Put(list + 8, method);
  }

  const Seen kLeaf{0, 7, 4, FrameType::kJava}, kInlined{2, 5, 4, FrameType::kInlined},
      kOuter{1, 3, 4, FrameType::kJava};
  const std::vector<Seen> kAll = {kLeaf, kInlined, kOuter};
  MadeUpJvm jvm_;
  WalkLayout& layout_ = jvm_.layout;
  MadeUpMemory& memory_ = jvm_.memory;
  WalkStart& start_ = jvm_.start;
  const uint64_t leaf_ = jvm_.leaf, caller_ = jvm_.caller;
  bool broken_ = false;
  WalkEnd end_ = WalkEnd::kUntold;
  std::vector<bool> guesses_;
};

// A compiled method, called by an interpreted one, has called another interpreted method; its
// arguments are between the two frames. fp is still that of the compiled method's caller.
class BetweenFramesTest : public JavaWalkTest {
 protected:
  static constexpr uint64_t kOlderFp = MadeUpJvm::kStack + 0x180, kSp = kLeafSp - 0x40;

  BetweenFramesTest() {
    jvm_.InterpretCaller();
    memory_.PutBytes(leaf_ + 0x1b, {0xe8});  // a call
    start_.java.sender_sp = kLeafSp;
    start_.registers = {MadeUpJvm::kInterpreter + 0x20, kSp, kOlderFp, 0};
  }

  // Writes instructions, then nops, so that the code does not end there.
  void PutCode(uint64_t pc, std::vector<uint8_t> code) {
    code.resize(code.size() + 16, 0x90);
    memory_.PutBytes(pc, code);
  }

  // Interrupts at `pc` with these registers, by their numbers in instructions, and 0 in all others.
  enum { kRax = 0, kRdx = 2, kRbx = 3, kRdi = 7, kR13 = 13 };
  void Interrupt(uint64_t pc, uint64_t sp, uint64_t fp,
                 std::initializer_list<std::pair<int, uint64_t>> others = {}) {
    start_.registers = {pc, sp, fp, 0};
    start_.java = {};
    start_.java.general[4] = sp;
    start_.java.general[5] = fp;
    for (const auto& [number, word] : others) start_.java.general[number] = word;
    const uint64_t* general = start_.java.general;
    start_.java.byte_code = start_.java.sender_sp = general[kR13];
    start_.java.return_pc = general[kRax];
    start_.java.exception_pc = general[kRdx];
    start_.java.first_argument = general[kRdi];
  }
  // Walks from there.
  std::vector<Seen> WalkAt(uint64_t pc, uint64_t sp, uint64_t fp,
                           std::initializer_list<std::pair<int, uint64_t>> others = {}) {
    Interrupt(pc, sp, fp, others);
    return Walk();
  }
  // Puts an interpreted frame, which returns to `back` in the leaf.
  void PutInterpreted(uint64_t fp, uint64_t back, uint64_t method = 2, uint64_t bci = 4) {
    memory_.PutRecord(fp, kOlderFp, back);
    memory_.Put(fp + layout_.sender_sp, kLeafSp);
    memory_.Put(fp + layout_.interpreter_method, MadeUpJvm::Method(method));
    memory_.Put(fp + layout_.interpreter_bcp, MadeUpJvm::Method(method) + 0x100 + 32 + bci);
  }
  // C has called the stub, with this wrapper, which holds an anchor at the leaf.
  void PutWrapper(uint64_t wrapper) {
    const uint64_t anchor = wrapper + layout_.wrapper_anchor;
    layout_.call_stub_return = jvm_.stub + 0x60;
    memory_.Put(wrapper, start_.thread);
    memory_.Put(anchor + layout_.jvm.last_sp, kLeafSp);
    memory_.Put(anchor + layout_.jvm.last_pc, leaf_ + 0x20);
    memory_.Put(anchor + layout_.jvm.last_fp, kOlderFp);
  }
  // The thread carries a virtual thread, which was entered at `entry`, called by the caller.
  static constexpr uint64_t kContinuation = kThread + 0x108;
  void Enter(uint64_t entry) {
    layout_.cont_entry = 0x108;
    layout_.cont_entry_size = 32;
    layout_.cont_return_at = kThread + 0x100;
    memory_.Put(layout_.cont_return_at, caller_ + 0x30);
    memory_.Put(kContinuation, entry);
  }
  // The newest frame's caller, if it is the only one.
  Seen OnlyCaller() {
    const auto walked = Walk();
    return walked.size() == 2 ? walked[1] : Seen{};
  }
  const std::vector<Seen> wanted_ = {kLeaf, {1, 9, 0, FrameType::kJava}};
  const std::vector<Seen> interpreted_ = {{2, 4, 0, FrameType::kJava}, wanted_[0], wanted_[1]};
};

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_WALK_JAVA_WALK_TESTING_H_
