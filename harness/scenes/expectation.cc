// SPDX-License-Identifier: Apache-2.0
#include "harness/scenes/expectation.h"

#include "harness/base/trace.h"

namespace walkhammer {
namespace {

// What the stack shows of one method.
struct Evidence {
  bool c1 = false, c2 = false, osr = false, deopt = false;
  bool invalidated = false;  // compiled code that new calls no longer enter
  bool method_word = false;  // its Method*, as interpreted frames hold it
  int level = 0;             // of the code that was seen last
  bool compiled() const { return c1 || c2 || osr || deopt; }
};

Evidence Collect(uint64_t method, std::span<const uint64_t> stack,
                 const std::vector<CodeBlob>& blobs) {
  Evidence evidence;
  std::vector<const CodeBlob*> own;
  for (const CodeBlob& blob : blobs)
    if (blob.is_nmethod && blob.method == method) own.push_back(&blob);
  for (uint64_t word : stack) {
    if (word == method) evidence.method_word = true;
    for (const CodeBlob* blob : own) {
      if (word <= blob->begin || word >= blob->end) continue;
      if (!blob->installed && blob->entry_bci == -1) evidence.invalidated = true;
      evidence.level = blob->comp_level;
      if (word == blob->deopt_handler)
        evidence.deopt = true;
      else if (blob->entry_bci != -1)
        evidence.osr = true;
      else if (blob->comp_level >= 4)
        evidence.c2 = true;
      else
        evidence.c1 = true;
    }
  }
  return evidence;
}

bool Holds(const std::string& kind, const Evidence& seen) {
  if (kind == "interpreted") return seen.method_word && !seen.compiled();
  if (kind == "c1") return seen.c1;
  if (kind == "c2") return seen.c2;
  if (kind == "c2-inlined") return !seen.compiled();
  if (kind == "osr") return seen.osr;
  if (kind == "deopt") return seen.deopt;
  if (kind == "invalidated") return seen.invalidated && !seen.deopt;
  return false;
}

// KindOfFrame of an activation that is `kind`; 0: not known. The frame of a deoptimised activation
// is still the compiled one on the stack, and walkers may report it either way.
int32_t KindOf(const std::string& kind, const Evidence& seen) {
  constexpr int kJava = 1, kInlined = 2, kC2 = 4;
  if (kind == "interpreted") return KindOfFrame(kJava, 0);
  if (kind == "c1" || kind == "c2" || kind == "osr") return KindOfFrame(kJava, seen.level);
  if (kind == "c2-inlined") return KindOfFrame(kInlined, kC2);
  return 0;
}

}  // namespace

int32_t ExpectedKind(std::span<const Expectation> expectations, uint64_t method,
                     std::span<const uint64_t> stack, const std::vector<CodeBlob>& blobs) {
  int32_t found = 0;
  for (const Expectation& expected : expectations) {
    if (expected.address != method || method == 0) continue;
    const int32_t kind = KindOf(expected.kind, Collect(method, stack, blobs));
    if (kind == 0 || (found != 0 && found != kind)) return 0;
    found = kind;
  }
  return found;
}

std::string Unmet(std::span<const Expectation> expectations, std::span<const uint64_t> stack,
                  const std::vector<CodeBlob>& blobs) {
  for (const Expectation& expected : expectations) {
    Evidence seen = Collect(expected.address, stack, blobs);
    if (Holds(expected.kind, seen)) continue;
    std::string found = seen.deopt         ? "deoptimised"
                        : seen.osr         ? "compiled for on-stack replacement"
                        : seen.c2          ? "compiled by C2"
                        : seen.c1          ? "compiled by C1"
                        : seen.method_word ? "interpreted"
                                           : "not there";
    return "the activation of " + expected.method + " should be " + expected.kind + " and is " +
           found;
  }
  return "";
}

}  // namespace walkhammer
