// SPDX-License-Identifier: Apache-2.0
// The bytecode of a thread that is interrupted at a safepoint poll, on a live JVM.
#include <string>

#include "harness/asgst/testing/ids_testing.h"
#include "harness/asgst/testing/live_jvm.h"
#include "harness/asgst/walk/instruction_x86_64.h"
#include "harness/asgst/walk/prologue.h"
#include "harness/guard/arch.h"

namespace walkhammer::asgst {
namespace {

using PollApi = LiveTest;

// The bytecode at which JVMTI stops the thread that runs `method`; -1: no thread does.
jint BciByJvmti(const std::string& method) {
  jvmtiStackInfo* threads = nullptr;
  jint count = 0, bci = -1;
  if (TestJvmti()->GetAllStackTraces(1, &threads, &count) != JVMTI_ERROR_NONE) return -1;
  for (jint i = 0; i < count; i++)
    if (threads[i].frame_count == 1 && NameOf(threads[i].frame_buffer[0].method) == method)
      bci = static_cast<jint>(threads[i].frame_buffer[0].location);
  TestJvmti()->Deallocate(reinterpret_cast<unsigned char*>(threads));
  return bci;
}

// The poll that code at `pc` comes to before it branches; 0: it comes to none. x86_64 only.
uint64_t PollAfter(uint64_t pc) {
  constexpr int kMost = 40;
  InstructionX86 i;
  for (int n = 0; n < kMost; n++, pc += static_cast<uint64_t>(i.length)) {
    const auto* code = reinterpret_cast<const uint8_t*>(pc);
    if (kOwnRules.is_poll(kOwnMemory, pc)) return pc;
    if (!DecodeX86(code, InstructionX86::kMostBytes, i)) return 0;
    const int kind = i.opcode & 0xf0;
    if ((i.map == 0 && (kind == 0x70 || kind == 0xe0 || i.opcode == 0xc3)) ||
        (i.map == 1 && kind == 0x80))
      return 0;
  }
  return 0;
}

// The loop has one poll, where JVMTI stops the thread.
TEST_F(PollApi, AtAPollTheByteCodeIsThatOfThePoll) {
  if (kHasLinkRegister) GTEST_SKIP() << "instructions of x86_64 alone are decoded";
  RunningMethod running("c2Spin");
  Answer walked;
  const auto walk = [&](ucontext_t* context) {
    AsyncGetStackTrace(&walked.trace, Answer::kDepth, context, 0);
  };
  const auto is_compiled = [&] {
    return walked.count() > 0 && walked.frames[0].java_frame.comp_level == 4;
  };
  bool at_poll = false;
  const auto walk_at_poll = [&](ucontext_t* context) {
    walk(context);
    Registers at = ReadContext(*context);
    if (!is_compiled() || (at.pc = PollAfter(at.pc)) == 0) return;
    ucontext_t changed = *context;
    WriteContext(at, changed);
    walk(&changed);
    at_poll = is_compiled();
  };
  ASSERT_TRUE(WaitFor([&] { return running.Raise(walk_at_poll) && at_poll; }));
  EXPECT_EQ(walked.frames[0].java_frame.bci, BciByJvmti("wh.Api.c2Spin()V"));
}

}  // namespace
}  // namespace walkhammer::asgst
