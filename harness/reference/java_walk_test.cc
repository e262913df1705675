// The whole reference walk on a JVM that a test made up, for both architectures on any host: code
// heap, compiled code with debug information, methods, a stack.
#include "harness/reference/java_walk.h"

#include <gtest/gtest.h>

#include <random>

#include "harness/reference/made_up_memory.h"

namespace walkhammer {
namespace {

constexpr uint64_t kHeap = 0x100000, kCache = 0x200000, kCacheEnd = 0x204000, kMap = 0x300000,
                   kNames = 0x310000, kMethods = 0x400000, kThread = 0x500000, kBounds = 0x600000,
                   kStack = 0x7000000, kStackEnd = 0x7001000;
constexpr int kSegment = 7;  // log2 of its bytes
constexpr uint64_t kInterpreter = kCacheEnd - 0x100;

struct Seen {
  uint64_t method;
  int bci, level;
  FrameType type;
  bool operator==(const Seen&) const = default;
};

void PrintTo(const Seen& seen, std::ostream* out) {
  *out << "method " << seen.method << " @ " << seen.bci << " level " << seen.level << " type "
       << static_cast<int>(seen.type);
}

class JavaWalkTest : public testing::TestWithParam<const CodeRules*> {
 protected:
  void SetUp() override {
    layout_ = {};
    layout_.feature = 17;
    layout_.rules = GetParam();
    CodeLayout& code = layout_.code;
    code.cache_low = kBounds;
    code.cache_high = kBounds + 8;
    memory_.Put(kBounds, kCache);
    memory_.Put(kBounds + 8, kCacheEnd);
    code.interpreter_begin = kInterpreter;
    code.interpreter_end = kCacheEnd;
    code.heaps[0] = kHeap;
    code.heap_count = 1;
    code.memory_low = 0;
    code.memory_high = 8;
    code.log2_segment = 16;
    code.map_low = 24;
    code.map_high = 32;
    memory_.Put(kHeap, kCache);
    memory_.Put(kHeap + 8, kCacheEnd);
    memory_.Put(kHeap + 16, kSegment);
    memory_.Put(kHeap + 24, kMap);
    memory_.Put(kHeap + 32, kMap + 0x1000);
    for (uint64_t i = 0; i < (kCacheEnd - kCache) >> kSegment; i++)
      memory_.PutBytes(kMap + i, {0xff});
    code.block_used = 8;
    code.block_size = 16;
    code.blob_name = 0;
    code.frame_size = 8;
    code.frame_complete = 12;
    code.code_begin = 16;
    code.code_end = 24;
    code.level = 32;
    layout_.code.method = 40;
    layout_.code.original_pc = 48;
    layout_.compile_id = 52;
    layout_.pcs_offset = 56;
    layout_.pcs_end_offset = 60;
    layout_.scopes_begin = 64;
    layout_.metadata_offset = 72;
    layout_.code.deopt_begin = 80;
    layout_.code.deopt_offset = layout_.mh_deopt_begin = layout_.mh_deopt_offset = -1;
    layout_.immutable_data = layout_.scopes_offset = layout_.mutable_data = -1;
    layout_.pc_desc_size = 16;
    layout_.scope_offset = 4;
    layout_.jvm.method_const = 8;
    layout_.access_flags = 16;
    layout_.const_pool = 8;
    layout_.const_idnum = 16;
    layout_.jvm.const_code_size = 18;
    layout_.const_bytes = 32;
    layout_.pool_holder = 24;
    layout_.jmethod_ids = 40;
    layout_.jvm.anchor = 8;
    layout_.jvm.last_pc = 8;
    layout_.jvm.last_fp = 16;
    layout_.call_wrapper = -48;
    layout_.wrapper_anchor = 32;
    layout_.sender_sp = -8;
    layout_.interpreter_method = -24;
    layout_.interpreter_bcp = -64;
    memory_.PutText(kNames, "nmethod");
    memory_.PutText(kNames + 0x40, "StubRoutines (1)");
    for (uint64_t i = 0; i < 4; i++) AddMethod(i);
    for (uint64_t at = kStack; at < kStackEnd; at += 8) memory_.Put(at, 0);

    leaf_ = AddCode(0, 4, 16, {{0x20, 1}});
    caller_ = AddCode(1, 6, 16, {{0x30, 8}});
    stub_ = AddBlob(4, kNames + 0x40, -1, 0, 0);
    layout_.call_stub_return = stub_ + 0x10;
    // The leaf's own scope; in the caller, method 2 is inlined into method 1.
    PutScope(leaf_, 1, {0, 1, 8});
    PutScope(caller_, 1, {0, 1, 4});
    PutScope(caller_, 8, {1, 2, 6});

    // The leaf's frame, its caller's, and the entry frame that called that.
    const uint64_t entry_fp = kStack + 0x200, wrapper = kStack + 0x300;
    memory_.Put(kLeafSp + 24, caller_ + 0x30);
    memory_.Put(kLeafSp + 16, 0x1234);
    memory_.Put(kLeafSp + 32 + 40, layout_.call_stub_return);
    memory_.Put(kLeafSp + 32 + 32, entry_fp);
    memory_.Put(entry_fp - 48, wrapper);
    memory_.Put(kThread, 8);  // in_Java
    for (int i = 1; i < 4; i++) memory_.Put(kThread + 8ULL * i, 0);
    start_.thread = kThread;
    start_.stack_high = kStackEnd;
    start_.stack_floor = kStack;
    start_.registers = {leaf_ + 0x20, kLeafSp, 0x1234, 0};
  }

  static constexpr uint64_t kLeafSp = kStack + 0x100;
  static uint64_t Method(uint64_t number) { return kMethods + 0x1000 * number; }

  void AddMethod(uint64_t number) {
    const uint64_t method = Method(number), const_method = method + 0x100, pool = method + 0x200,
                   holder = method + 0x300, ids = method + 0x400, id = method + 0x500;
    memory_.Put(method, 0x77);
    memory_.Put(method + 8, const_method);
    memory_.Put(method + 16, number == 3 ? 0x100 : 0);  // the last one is native
    memory_.Put(const_method + 8, pool);
    memory_.Put(const_method + 16, 50 << 16);  // number 0, 50 bytes
    memory_.Put(pool + 24, holder);
    memory_.Put(holder + 40, ids);
    memory_.Put(ids, 1);
    memory_.Put(ids + 8, id);
    memory_.Put(id, method);
  }

  // A blob of 0x400 bytes whose code begins at 0x200. Returns where.
  uint64_t AddBlob(uint64_t number, uint64_t name, int level, uint32_t frame_words,
                   uint32_t complete) {
    const uint64_t block = kCache + 0x400 * number, blob = block + 16, begin = block + 0x200;
    for (uint64_t i = 0; i < 0x400 >> kSegment; i++)
      memory_.PutBytes(kMap + ((block - kCache) >> kSegment) + i, {static_cast<uint8_t>(i)});
    for (uint64_t at = block; at < block + 0x400; at += 8) memory_.Put(at, 0);
    memory_.PutBytes(block + 8, {1});
    memory_.Put(blob, name);
    memory_.PutInt(blob + 8, frame_words);
    memory_.PutInt(blob + 12, complete);
    memory_.Put(blob + 16, begin);
    memory_.Put(blob + 24, block + 0x400);
    memory_.PutInt(blob + 32, static_cast<uint32_t>(level));
    return begin;
  }

  struct Described {
    uint32_t offset, scope;
  };
  uint64_t AddCode(uint64_t number, uint32_t frame_words, uint32_t complete,
                   const std::vector<Described>& pcs) {
    const uint64_t begin = AddBlob(number, kNames, 4, frame_words, complete), blob = begin - 0x1f0;
    memory_.Put(blob + 40, Method(number));
    memory_.PutInt(blob + 52, static_cast<uint32_t>(number + 1));
    memory_.PutInt(blob + 56, 0x80);
    memory_.PutInt(blob + 60, static_cast<uint32_t>(0x80 + 16 * (pcs.size() + 2)));
    memory_.Put(blob + 64, blob + 0x160);
    memory_.PutInt(blob + 72, 0x140);
    uint64_t at = blob + 0x80;
    auto describe = [&](uint32_t offset, uint32_t scope) {
      memory_.PutInt(at, offset);
      memory_.PutInt(at + 4, scope);
      at += 16;
    };
    describe(0xffffffff, 0);
    for (const Described& one : pcs) describe(one.offset, one.scope);
    describe(0x7fffffff, 0);
    memory_.Put(blob + 0x140, Method(number));
    memory_.Put(blob + 0x148, Method(2));
    return begin;
  }
  void PutScope(uint64_t code, uint64_t offset, const std::vector<uint8_t>& numbers) {
    memory_.PutBytes(code - 0x1f0 + 0x160 + offset, numbers);
  }

  std::vector<Seen> Walk(bool* broken = nullptr) {
    JavaWalk walk(layout_, memory_, start_);
    std::vector<Seen> seen;
    if (walk.Begin() != WalkStatus::kFound) return seen;
    for (JavaFrame frame; seen.size() < 100 && walk.Next(frame);)
      seen.push_back({(frame.method - kMethods) / 0x1000, frame.bci, frame.level, frame.type});
    if (broken != nullptr) *broken = walk.broken();
    return seen;
  }

  const Seen kLeaf{0, 7, 4, FrameType::kJava}, kInlined{2, 5, 4, FrameType::kInlined},
      kOuter{1, 3, 4, FrameType::kJava};
  WalkLayout layout_{};
  MadeUpMemory memory_;
  WalkStart start_;
  uint64_t leaf_ = 0, caller_ = 0, stub_ = 0;
};

TEST_P(JavaWalkTest, CompiledInlinedAndTheEndOfTheStack) {
  bool broken = true;
  EXPECT_EQ(Walk(&broken), (std::vector<Seen>{kLeaf, kInlined, kOuter}));
  EXPECT_FALSE(broken);
}

TEST_P(JavaWalkTest, AtItsEntryAMethodHasNoFrame) {
  start_.registers = {leaf_, kLeafSp + 24, 0x1234, 0};
  if (layout_.rules->has_link_register) {
    // Signed, as pointer authentication leaves it.
    start_.registers.lr = (caller_ + 0x30) | 0x00a5000000000000;
    start_.registers.sp = kLeafSp + 32;
  }
  EXPECT_EQ(Walk(), (std::vector<Seen>{{0, 0, 4, FrameType::kJava}, kInlined, kOuter}));
}

TEST_P(JavaWalkTest, InNativeCodeTheAnchorTells) {
  memory_.Put(kThread, 4);  // in_native
  memory_.Put(kThread + 8, kLeafSp);
  memory_.Put(kThread + 16, leaf_ + 0x20);
  start_.registers = {0x9999, 0x10, 0x20, 0};
  EXPECT_EQ(Walk(), (std::vector<Seen>{kLeaf, kInlined, kOuter}));
  memory_.Put(kThread + 8, 0);
  EXPECT_EQ(Walk(), std::vector<Seen>{});
}

TEST_P(JavaWalkTest, AnInterpretedCaller) {
  // The leaf returns to the interpreter, whose frame is that of method 1 at byte code 9.
  const uint64_t fp = kStack + 0x180;
  memory_.Put(kLeafSp + 24, kInterpreter + 0x10);
  memory_.Put(kLeafSp + 16, fp);
  memory_.Put(fp - 24, Method(1));
  memory_.Put(fp - 64, Method(1) + 0x100 + 32 + 9);
  memory_.Put(fp - 8, fp + 16);
  memory_.Put(fp + 8, layout_.call_stub_return);
  memory_.Put(fp, kStack + 0x200);
  EXPECT_EQ(Walk(), (std::vector<Seen>{kLeaf, {1, 9, 0, FrameType::kJava}}));
}

TEST_P(JavaWalkTest, AFrameToBeDeoptimisedHasItsPcElsewhere) {
  memory_.Put(caller_ - 0x1f0 + 80, caller_ + 0x100);
  memory_.PutInt(caller_ - 0x1f0 + 48, 8);
  memory_.Put(kLeafSp + 24, caller_ + 0x100);
  memory_.Put(kLeafSp + 32 + 8, caller_ + 0x30);
  EXPECT_EQ(Walk(), (std::vector<Seen>{kLeaf, kInlined, kOuter}));
}

TEST_P(JavaWalkTest, ABrokenStackEndsTheWalkAndSaysSo) {
  bool broken = false;
  memory_.Put(kLeafSp + 24, 0x4242);
  EXPECT_EQ(Walk(&broken), std::vector<Seen>{kLeaf});
  EXPECT_TRUE(broken);
}

// Whatever words change, a walk ends, and reads nothing but through its MemoryReader.
TEST_P(JavaWalkTest, DamageOfAnyKindEnds) {
  std::mt19937_64 random(1);
  std::vector<uint64_t> addresses, values;
  for (const auto& [address, word] : memory_.words()) {
    addresses.push_back(address);
    values.push_back(word);
  }
  int frames = 0;
  for (int round = 0; round < 20000; round++) {
    std::vector<size_t> changed;
    for (int changes = 1 + round % 4; changes > 0; changes--) {
      changed.push_back(random() % addresses.size());
      const uint64_t value = random() % 2 == 0 ? values[random() % values.size()] : random();
      memory_.Put(addresses[changed.back()], value);
    }
    frames += static_cast<int>(Walk().size());
    for (const size_t i : changed) memory_.Put(addresses[i], values[i]);
  }
  EXPECT_GT(frames, 20000);
}

INSTANTIATE_TEST_SUITE_P(Each, JavaWalkTest, testing::Values(&kX86_64Rules, &kAarch64Rules),
                         [](const auto& info) {
                           return info.param == &kX86_64Rules ? "x86_64" : "aarch64";
                         });

}  // namespace
}  // namespace walkhammer
