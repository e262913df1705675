// SPDX-License-Identifier: Apache-2.0
// RecordedWalk: one walk of a real JVM's thread, with every word that it read, so that it can be
// walked again on any host. Text: a line each for registers, layout, words, methods and frames.
// Signal-safe: no.
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

  // What the walk answers, from `words` in place of `memory`. `name` tells what a Method* is
  // called.
  std::vector<RecordedFrame> Walk(
      const MemoryReader& words,
      const std::function<std::string(const JavaFrame& frame)>& name) const;
  // What the walk answers from the record's own words, with the names that it holds.
  std::vector<RecordedFrame> Again() const;
};

void Write(const RecordedWalk& walk, std::ostream& out);
// False if it is none.
bool Read(std::istream& in, RecordedWalk& walk);

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_TESTING_RECORDED_WALK_H_
