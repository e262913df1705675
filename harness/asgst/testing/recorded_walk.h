// SPDX-License-Identifier: Apache-2.0
// RecordedWalk: one walk of a real JVM's thread, with every word that the walk read, so that the
// walk can be repeated on any host. Text: a line for each register, layout number, word, method and
// frame. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_ASGST_TESTING_RECORDED_WALK_H_
#define WALKHAMMER_HARNESS_ASGST_TESTING_RECORDED_WALK_H_

#include <cstdint>
#include <functional>
#include <istream>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "harness/asgst/testing/made_up_memory.h"
#include "harness/asgst/walk/java_walk.h"

namespace walkhammer::asgst {

struct RecordedFrame {
  std::string method;  // "pkg.Class.method(Sig)Ret"
  int bci, level, type;
  bool operator==(const RecordedFrame&) const = default;
};
void PrintTo(const RecordedFrame& frame, std::ostream* out);

struct RecordedWalk {
  std::string arch;  // "x86_64" or "aarch64"
  WalkLayout layout{};
  WalkStart start{};
  MadeUpMemory memory;
  std::map<uint64_t, std::string> methods;  // by Method*
  std::vector<RecordedFrame> frames;        // newest first

  // Repeats the walk, from `words` instead of `memory`, and returns its frames. `name` returns the
  // name of a frame's method.
  std::vector<RecordedFrame> Walk(
      const MemoryReader& words,
      const std::function<std::string(const JavaFrame& frame)>& name) const;
  // Repeats the walk from the recorded words, with the recorded names.
  std::vector<RecordedFrame> Again() const;
};

void Write(const RecordedWalk& walk, std::ostream& out);
// False if `in` holds no complete record.
bool Read(std::istream& in, RecordedWalk& walk);

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_TESTING_RECORDED_WALK_H_
