// SPDX-License-Identifier: Apache-2.0
// What the gate asks of the JDKs of both sides: whether they answer the same requests differently.
// Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_GATE_ANSWERS_H_
#define WALKHAMMER_REPORTS_GATE_ANSWERS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace walkhammer {

// A request that runs of both sides walked, and answered differently.
struct DifferentAnswer {
  std::string walker;
  uint64_t seed = 0;
  uint64_t number = 0;  // of the request
  uint32_t hash = 0;    // Answer::request
};

// How both JDKs answer a request each time that they walk it again. The answers are empty if they
// do not differ, vary, or are unknown. "12 frames" and a line for each frame; "code -5"; the title
// of a crash.
struct AnsweredAgain {
  std::string baseline, candidate;
  int worse = 0;          // 1: the candidate shows a more severe finding; -1: the baseline does
  std::string name = {};  // of the request: a relative path; empty: it could not be made again
  std::string walk = {};  // the request in .walk form
};

// Something that readers of the JVM's structures need, and the candidate's JDK lacks.
struct LostStruct {
  std::string entry;    // "nmethod::_state"
  std::string details;  // who reads it, and what became of it
};

struct GateAnswers {
  // The builds are of one release, such as before and after a patch: no answer should differ.
  bool same_release = true;
  // By place; may be empty, which nothing is known by.
  std::function<std::vector<AnsweredAgain>(const std::vector<DifferentAnswer>&)> again = {};
  // The requests of the corpora that both JDKs answer differently; may be empty.
  std::function<std::vector<AnsweredAgain>()> corpora = {};
  // Keeps a request, and returns the path of its .walk file; may be empty, and may return "".
  std::function<std::string(const AnsweredAgain&)> keep = {};
  // May be empty.
  std::function<std::vector<LostStruct>()> structs = {};
};

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_GATE_ANSWERS_H_
