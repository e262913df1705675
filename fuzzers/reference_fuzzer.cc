// SPDX-License-Identifier: Apache-2.0
// A libFuzzer target for the reference walk itself, built with sanitizers. Inputs choose the
// architecture, the registers and the damage to a synthetic JVM's memory. No JVM is in the process.
// Besides passing the sanitizers, a walk must end, must go up the stack, and must return only
// frames that a profiler can use.
//   build/asan/reference_fuzzer [-runs=N] [CORPUS]
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

#include "harness/asgst/testing/made_up_jvm.h"

namespace walkhammer::asgst {
namespace {

// Reads little-endian numbers from an input; zeros after its end.
class Input {
 public:
  Input(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  bool empty() const { return size_ == 0; }
  uint64_t Take(int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes && size_ > 0; i++, data_++, size_--)
      value |= static_cast<uint64_t>(*data_) << (8 * i);
    return value;
  }

 private:
  const uint8_t* data_;
  size_t size_;
};

// The synthetic JVM's words, by pages, with the changes that an input makes. Counts reads: a walk
// that reads more than kMost words of so little memory is going in circles.
class DamagedMemory final : public MemoryReader {
 public:
  explicit DamagedMemory(const MadeUpMemory& memory) {
    for (const auto& [address, word] : memory.words()) {
      addresses_.push_back(address);
      whole_.push_back(word);
      Page& page = pages_[address / kPageBytes];
      page.words[address % kPageBytes / 8] = word;
      page.there[address % kPageBytes / 8] = true;
    }
  }

  bool ReadWord(uint64_t address, uint64_t& word) const override {
    constexpr int kMost = 200'000;
    if (++reads_ > kMost) Fail("a walk that does not end");
    if (address % 8 != 0) return false;
    const auto page = FindPage(address);
    if (page == nullptr || !page->there[address % kPageBytes / 8]) return false;
    word = page->words[address % kPageBytes / 8];
    return true;
  }

  void Restore() {
    for (const size_t i : changed_) At(i) = whole_[i];
    changed_.clear();
    reads_ = 0;
  }
  void Put(size_t index, uint64_t value) {
    index %= addresses_.size();
    At(index) = value;
    changed_.push_back(index);
  }
  // The address of a word or an undamaged word, chosen by `index`.
  uint64_t Known(size_t index) const {
    return (index & 1) != 0 ? addresses_[index / 2 % addresses_.size()]
                            : whole_[index / 2 % whole_.size()];
  }

  [[noreturn]] static void Fail(const char* why) {
    std::fprintf(stderr, "reference_fuzzer: %s\n", why);
    std::abort();
  }

 private:
  static constexpr uint64_t kPageBytes = 4096;
  struct Page {
    uint64_t words[kPageBytes / 8];
    bool there[kPageBytes / 8];
  };
  // Tries the page that was used last first: there are about a dozen pages.
  const Page* FindPage(uint64_t address) const {
    if (address / kPageBytes == last_) return last_page_;
    const auto found = pages_.find(address / kPageBytes);
    if (found == pages_.end()) return nullptr;
    last_ = found->first;
    return last_page_ = &found->second;
  }
  uint64_t& At(size_t index) {
    return pages_[addresses_[index] / kPageBytes].words[addresses_[index] % kPageBytes / 8];
  }

  std::map<uint64_t, Page> pages_;
  std::vector<uint64_t> addresses_, whole_;
  std::vector<size_t> changed_;
  mutable uint64_t last_ = ~uint64_t{0};
  mutable const Page* last_page_ = nullptr;
  mutable int reads_ = 0;
};

// Takes a word from the input: a known value plus -128 .. 127, or any 64 bits.
uint64_t TakeWord(Input& input, const DamagedMemory& memory) {
  const uint64_t kind = input.Take(1);
  if (kind % 4 == 0) return input.Take(8);
  const uint64_t known = memory.Known(input.Take(2));
  return known + static_cast<uint64_t>(static_cast<int8_t>(input.Take(1)));
}

constexpr UnwindRow kRows[] = {
    {0x0, 8, UnwindRow::kSame, -8, UnwindRow::kSp},
    {0x10, 32, -16, -8, UnwindRow::kSp},
    {0x20, 16, -16, -8, UnwindRow::kFp},
    {0x30, 0, 0, 0, UnwindRow::kUnknown},
    {0x40, 0, UnwindRow::kSame, UnwindRow::kSame, UnwindRow::kSp},
    {0x50, -1000, 30000, -30000, UnwindRow::kFp},
    {0x60, 16, UnwindRow::kSame, UnwindRow::kGone, UnwindRow::kSp},
};

// The synthetic JVM of one architecture, and C code with unwind rows.
struct World {
  World(const CodeRules& rules, bool interpreted)
      : jvm(Made(rules, interpreted)), memory(jvm.memory) {
    modules = {{0x900000, 0x900070, kRows}};
    known = modules;
    tables.Publish(&known);
  }
  static MadeUpJvm Made(const CodeRules& rules, bool interpreted) {
    MadeUpJvm made(rules);
    if (interpreted) made.InterpretCaller();
    return made;
  }
  const MadeUpJvm jvm;
  DamagedMemory memory;
  std::vector<UnwindModule> modules;
  std::span<const UnwindModule> known;
  UnwindTables tables;
};

void Check(const JavaFrame& frame, const JavaFrame& before, const WalkStart& start) {
  const bool is_java = frame.type == FrameType::kJava || frame.type == FrameType::kInlined;
  if (is_java && frame.bci >= frame.facts.code_size) DamagedMemory::Fail("a bci behind the code");
  if (frame.bci < -1 || (!is_java && frame.bci != -1)) DamagedMemory::Fail("a bci that is none");
  if (is_java && frame.method == 0) DamagedMemory::Fail("a Java frame without a method");
  if (frame.sp < before.sp) DamagedMemory::Fail("a caller below its callee");
  if (frame.sp > start.stack_high) DamagedMemory::Fail("a frame outside of the stack");
}

void WalkOnce(World& world, Input& input) {
  const uint64_t bits = input.Take(1);
  WalkStart start = world.jvm.start;
  WalkLayout layout = world.jvm.layout;
  start.non_java = (bits & 64) != 0;
  start.unwind = (bits & 4) != 0 ? &world.tables : nullptr;
  layout.null_free_numbers = (bits & 8) != 0;
  if ((bits & 32) != 0) {
    start.registers = {TakeWord(input, world.memory), TakeWord(input, world.memory),
                       TakeWord(input, world.memory), TakeWord(input, world.memory)};
    start.java.byte_code = TakeWord(input, world.memory);
    start.java.sender_sp = TakeWord(input, world.memory);
    start.java.return_pc = TakeWord(input, world.memory);
    start.java.exception_pc = TakeWord(input, world.memory);
  }
  for (int edits = 0; edits < 64 && !input.empty(); edits++) {
    const size_t index = input.Take(2);
    world.memory.Put(index, TakeWord(input, world.memory));
  }
  JavaWalk walk(layout, world.memory, start);
  const WalkStatus status = (bits & 16) != 0 ? walk.BeginAtRegisters() : walk.Begin();
  if (status != WalkStatus::kFound) return;
  // Each physical frame takes at least one word of the stack; inlined frames are far fewer.
  constexpr int kMostFrames = 100'000;
  JavaFrame frame{}, before{};
  int count = 0;
  for (; walk.Next(frame); before = frame) {
    Check(frame, before, start);
    if (++count > kMostFrames) DamagedMemory::Fail("frames without end");
  }
}

}  // namespace
}  // namespace walkhammer::asgst

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace walkhammer::asgst;  // NOLINT(google-build-using-namespace)
  static World worlds[] = {
      {kX86_64Rules, false}, {kAarch64Rules, false}, {kX86_64Rules, true}, {kAarch64Rules, true}};
  if (size == 0) return 0;
  Input input(data, size);
  World& world = worlds[data[0] & 3];
  WalkOnce(world, input);
  world.memory.Restore();
  return 0;
}
