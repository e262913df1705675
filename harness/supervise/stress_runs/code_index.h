// SPDX-License-Identifier: Apache-2.0
// CodeIndex: finds code by address: the generated code of a run, and functions of libraries.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_CODE_INDEX_H_
#define WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_CODE_INDEX_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "harness/elf/disassembler.h"
#include "harness/elf/symbolizer.h"
#include "harness/ipc/stress_state.h"

namespace walkhammer {

// A piece of code that was stepped, or may have been.
struct CodePiece {
  uint64_t begin, end;
  std::string kind, name;  // kind empty: compiled, see CodeSection
  int level = -1;
  uint64_t complete = 0;  // address from which its frame is complete
  int frame_words = 0;    // 0: not known, or none
  uint32_t entry = 0;     // offset of an nmethod's verified entry
  bool gone = false;
  uint32_t id = 0;  // see CodeEntry
  uint64_t id_at = 0;
  std::vector<const SteppedPc*> pcs = {};
  std::vector<uint8_t> bytes = {};  // from bytes_begin
  uint64_t bytes_begin = 0;
};

// Reads the bytes of `piece` in [begin, end) from process `pid`; of a process that is gone, none.
// Marks `piece` as gone, without bytes, if its place holds another nmethod by now. The agent's
// events report that later.
void ReadBytes(pid_t pid, uint64_t begin, uint64_t end, CodePiece& piece);

// The instructions of `piece` in [begin, end), one a line; empty without their bytes. Copies of the
// code read the same.
std::string DisassemblyOf(const Disassembler& disassembler, const CodePiece& piece, uint64_t begin,
                          uint64_t end);

class CodeIndex {
 public:
  // Also sorts the stepped instructions of `state` into the pieces of code.
  explicit CodeIndex(const StressState& state);

  // The smallest piece of code that holds `pc`. Code that is gone counts only where no other code
  // is.
  CodePiece& Find(uint64_t pc);
  // The code of the JVM, also what was not stepped.
  std::vector<CodePiece>& generated() { return generated_; }

  template <typename Visit>
  void ForEachStepped(Visit visit) {
    for (CodePiece& code : generated_)
      if (!code.pcs.empty()) visit(code);
    for (auto& [base, code] : native_) visit(code);
  }

 private:
  CodePiece& Native(uint64_t pc);

  std::vector<CodePiece> generated_;
  std::vector<uint64_t> farthest_;  // [i]: highest end in generated_[0 .. i]
  std::map<std::pair<uint64_t, std::string>, CodePiece> native_;
  Symbolizer symbolizer_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_STRESS_RUNS_CODE_INDEX_H_
