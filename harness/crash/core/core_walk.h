// SPDX-License-Identifier: Apache-2.0
// WalkCore: walks the Java threads of a core with the reference walker, which is a pure function of
// registers and memory. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CRASH_CORE_CORE_WALK_H_
#define WALKHAMMER_HARNESS_CRASH_CORE_CORE_WALK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "harness/asgst/walk/java_walk.h"
#include "harness/base/result.h"
#include "harness/base/walk_end.h"
#include "harness/crash/core/core_file.h"
#include "harness/crash/core/core_jvm.h"

namespace walkhammer {

struct CoreFrame {
  asgst::FrameType type{};
  int level = -1;     // as of asgst::JavaFrame
  int32_t bci = -1;   // -1: none, or not known
  int32_t line = -1;  // -1: not known
  bool guessed = false;
  uint64_t pc = 0;
  // On one line, "_" for blanks: "a.B.run(I)V"; of a stub the name of its blob; of C code
  // "libjvm.so+0xed2f94".
  std::string name;
  std::string function;  // of C code, with blanks; may be empty
};

// One walk of a thread.
struct CoreStack {
  int32_t tid = 0;
  // 0: from the registers that the thread had at the end; else from the Nth signal's frame on its
  // stacks, the newest first, and the signal's number.
  int nth_signal = 0, signal = 0;
  uint8_t state = 0;  // with walkhammer's number
  std::vector<CoreFrame> frames;
  WalkEnd end = WalkEnd::kUntold;  // kDepth: there are more frames than are kept
};

struct CoreWalk {
  std::string version;          // of the JVM
  const char* arch = "x86_64";  // or "aarch64"
  size_t threads = 0;           // of the process
  size_t java_threads = 0;      // Java threads among them
  std::vector<CoreStack> stacks;
  size_t left_out = 0;      // threads beyond the most that are walked
  bool is_cut_off = false;  // the file of the core lacks its end
};

struct CoreWalkOptions {
  int32_t tid = 0;      // 0: all threads
  bool native = false;  // also frames of stubs, C and C++
  size_t most_threads = 4096;
  size_t most_frames = 4096;  // of each thread
  size_t most_frames_in_all = 400000;
};

// kUnable: the core is of another architecture, or its JVM's layout is not known.
Result<CoreWalk> WalkCore(const CoreFile& core, const CoreJvm& jvm,
                          const CoreWalkOptions& options = {});

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CRASH_CORE_CORE_WALK_H_
