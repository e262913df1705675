// SPDX-License-Identifier: Apache-2.0
// CoreFile: a Linux core of a 64-bit process: its threads with their registers, the fault, the
// files that it had mapped, and its memory. What the kernel left out of the core, as it does for
// code and constants, is read from those files. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CRASH_CORE_CORE_FILE_H_
#define WALKHAMMER_HARNESS_CRASH_CORE_CORE_FILE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/base/trace.h"
#include "harness/elf/modules.h"
#include "harness/jvm/structs/memory.h"

namespace walkhammer {

struct CoreThread {
  int32_t tid = 0;
  uint64_t pc = 0, sp = 0, fp = 0, lr = 0;
  JavaRegisters java{};
};

// JavaRegisters of a machine, from its registers of general purpose, by their numbers in
// instructions: 16 of x86_64, x0 to x30 of aarch64.
JavaRegisters JavaRegistersOf(uint16_t machine, std::span<const uint64_t> general);

struct CoreMapping {
  uint64_t begin = 0, end = 0;  // end: one past
  uint64_t file_offset = 0;     // bytes
  std::string path;             // as the process saw it
};

struct CoreArea {
  uint64_t begin = 0, end = 0;
  bool readable = false;
  bool executable = false;
};

class CoreFile final : public MemoryReader {
 public:
  // `modules`: folders in which mapped files are looked for by their names, ahead of their own
  // paths. kBadInput: no core of a 64-bit process, or a damaged one.
  static Result<std::unique_ptr<CoreFile>> Open(const std::string& path,
                                                const std::vector<std::string>& modules);
  ~CoreFile();
  CoreFile(const CoreFile&) = delete;
  CoreFile& operator=(const CoreFile&) = delete;

  bool ReadWord(uint64_t address, uint64_t& word) const override;

  uint16_t machine() const { return machine_; }  // e_machine
  // The thread that the kernel ended the process for is the first.
  const std::vector<CoreThread>& threads() const { return threads_; }
  const std::vector<CoreMapping>& mappings() const { return mappings_; }
  const std::vector<CoreArea>& areas() const { return areas_; }
  const CoreArea* AreaOf(uint64_t address) const;
  const CoreMapping* MappingOf(uint64_t address) const;
  int32_t pid() const { return pid_; }
  // The file ends before its last part.
  bool is_cut_off() const { return is_cut_off_; }
  // The mapped file as this machine has it; empty if it is not there.
  std::string FileOf(const CoreMapping& mapping) const;
  // The mapped libraries, by their paths on this machine, at most `most` of them.
  std::vector<Module> Modules(size_t most) const;
  // False if the core has the beginning of the mapped file, and this machine's file begins
  // differently: then nothing is read from it.
  bool IsSameFile(const CoreMapping& mapping) const;

  // True if `path` is an ELF core.
  static bool IsCore(const std::string& path);

 private:
  struct Bytes;  // a mapped file of this machine
  struct Segment {
    uint64_t begin, end;   // addresses whose content the core has
    uint64_t file_offset;  // in the core
  };
  explicit CoreFile(std::vector<std::string> modules);
  Status ReadCore(const std::string& path);
  void ReadNotes(std::span<const char> notes);
  void ReadMappings(std::span<const char> note);
  std::span<const uint8_t> Find(uint64_t address) const;
  std::span<const uint8_t> InCore(uint64_t address) const;
  const Bytes& BytesOf(const CoreMapping& mapping) const;

  std::vector<std::string> modules_;
  std::unique_ptr<Bytes> core_;
  mutable std::vector<std::pair<std::string, std::unique_ptr<Bytes>>> files_;  // by path as mapped
  uint16_t machine_ = 0;
  int32_t pid_ = 0;
  bool is_cut_off_ = false;
  std::vector<Segment> segments_;  // by begin
  std::vector<CoreArea> areas_;    // by begin
  std::vector<CoreMapping> mappings_;
  std::vector<CoreThread> threads_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CRASH_CORE_CORE_FILE_H_
