// SPDX-License-Identifier: Apache-2.0
// CodeListing: a walker's code as instructions, marked by whether a run reached them. Used by the
// coverage report; needs the file that holds the code. Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_CODE_LISTING_H_
#define WALKHAMMER_REPORTS_CODE_LISTING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/elf/disassembler.h"
#include "harness/elf/elf_image.h"
#include "harness/store/run_reader.h"

namespace walkhammer {

class CodeListing {
 public:
  // `code` must have coverage and outlive the object. Fails with kUnable if code.file is gone or is
  // another build than the run tested.
  static Result<CodeListing> Open(const CoverageRows& code);

  // Lists the blocks of code.functions[function] that were not reached, each with the blocks that
  // lead into it, and the function's reached blocks that are next to an unreached block or lead
  // into one. An instruction is "  + ADDRESS  TEXT" if reached, "  - ADDRESS  TEXT" if not, with
  // its ELF virtual address.
  std::string Unreached(size_t function) const;

 private:
  // A jump, call or fall through into a block from another block.
  struct Entry {
    uint32_t from;  // index of the other block
    bool call;
  };

  CodeListing(const CoverageRows& code, ElfImage image, Disassembler disassembler);
  void FindEntries(size_t function);
  void AddEntry(uint32_t from, uint32_t to, bool call);
  bool Reached(uint32_t block) const { return code_->blocks[block].first_ms.has_value(); }
  std::string EntriesText(uint32_t block) const;
  // "  <CodeCache::find_blob(void*)>" if `insn` leads out of `function`, else "".
  std::string TargetText(const Instruction& insn, uint32_t function) const;
  std::string BlockText(uint32_t block) const;

  const CoverageRows* code_;
  ElfImage image_;
  Disassembler disassembler_;
  std::vector<std::vector<Entry>> entries_;  // by block
};

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_CODE_LISTING_H_
