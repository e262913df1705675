// SPDX-License-Identifier: Apache-2.0
// Tests AFL++'s mutator library as afl-fuzz uses it: loads it and calls its three functions.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "harness/base/names.h"
#include "harness/ipc/shared_mapping.h"
#include "harness/request/binary_form.h"

namespace walkhammer {
namespace {

constexpr size_t kMaxSize = 1 << 20;  // bytes; afl-fuzz's limit
constexpr char kMethod[] = "wh.Known.only(I)I";
constexpr int kScene = 3;

// The interface of AFL++ 4.04c.
struct Library {
  void* (*init)(void* afl, unsigned seed);
  size_t (*fuzz)(void* mutator, uint8_t* input, size_t size, uint8_t** out, uint8_t* other,
                 size_t other_size, size_t max_size);
  void (*deinit)(void* mutator);
};

class AflMutatorTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    void* library = dlopen(BesideExecutable("walkhammer_mutator.so").c_str(), RTLD_NOW);
    ASSERT_NE(library, nullptr) << dlerror();
    library_.init = reinterpret_cast<decltype(Library::init)>(dlsym(library, "afl_custom_init"));
    library_.fuzz = reinterpret_cast<decltype(Library::fuzz)>(dlsym(library, "afl_custom_fuzz"));
    library_.deinit =
        reinterpret_cast<decltype(Library::deinit)>(dlsym(library, "afl_custom_deinit"));
    ASSERT_NE(library_.init, nullptr);
    ASSERT_NE(library_.fuzz, nullptr);
    ASSERT_NE(library_.deinit, nullptr);
    EXPECT_EQ(dlsym(library, "JNI_CreateJavaVM"), nullptr);
  }

  void SetUp() override {
    symbols_->Init();
    unsetenv(kStateVariable);
  }
  void TearDown() override { unsetenv(kStateVariable); }

  std::string Seed(uint8_t scene = kScene) const {
    WalkRequest request;
    request.scene = scene;
    return EncodeBinary(request, *symbols_);
  }

  static std::string Once(void* mutator, std::string input, std::string other = "") {
    uint8_t* out = nullptr;
    const size_t size = library_.fuzz(
        mutator, reinterpret_cast<uint8_t*>(input.data()), input.size(), &out,
        other.empty() ? nullptr : reinterpret_cast<uint8_t*>(other.data()), other.size(), kMaxSize);
    EXPECT_NE(out, nullptr);  // afl-fuzz ends if `out` is null
    return {reinterpret_cast<const char*>(out), size};
  }

  // The outputs of a mutator with `seed`, called `times` times with the same input.
  std::vector<std::string> Stream(unsigned seed, int times, const std::string& other = "") const {
    void* mutator = library_.init(nullptr, seed);
    std::vector<std::string> out;
    for (int i = 0; i < times; i++) out.push_back(Once(mutator, Seed(), other));
    library_.deinit(mutator);
    return out;
  }

  WalkRequest Decode(const std::string& bytes) const {
    return DecodeBinary({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, *symbols_);
  }

  int TimesNamed(const std::vector<std::string>& inputs) const {
    int times = 0;
    for (const std::string& input : inputs) times += input.find(kMethod) != std::string::npos;
    return times;
  }

  // A state as a target fills it: one scene, and one method that requests can name.
  static std::unique_ptr<SharedMapping> MakeState() {
    auto mapping = std::move(SharedMapping::Create().value());
    SharedState& state = mapping->state();
    Vocabulary& words = state.vocabulary;
    const uint32_t symbol = state.symbols.Intern(SymbolKind::kMethod, kMethod);
    const auto kind = static_cast<int>(SymbolKind::kMethod);
    words.places[0].symbol = symbol;
    words.places[0].size = 8;
    words.place_of[symbol] = 1;
    words.place_count = 1;
    words.first[kind] = 0;
    words.count[kind] = 1;
    words.scenes[kScene].available = 1;
    words.scenes[kScene].words = 512;
    state.job.walker = 1;
    setenv(kStateVariable, ("/proc/self/fd/" + std::to_string(mapping->fd())).c_str(), 1);
    return mapping;
  }

  static Library library_;
  std::unique_ptr<SymbolTable> symbols_ = std::make_unique<SymbolTable>();
};

Library AflMutatorTest::library_;

TEST_F(AflMutatorTest, WithoutAStateItMutatesAllTheSame) {
  const std::vector<std::string> inputs = Stream(1, 1000);
  int changed = 0;
  for (const std::string& input : inputs) {
    changed += input != Seed();
    // The output is a whole request in canonical form, not bytes changed at random.
    EXPECT_EQ(EncodeBinary(Decode(input), *symbols_), input);
  }
  EXPECT_GT(changed, 800);
  EXPECT_GT(std::set(inputs.begin(), inputs.end()).size(), 400u);
}

TEST_F(AflMutatorTest, TheSeedDecides) {
  EXPECT_EQ(Stream(7, 200), Stream(7, 200));
  EXPECT_NE(Stream(7, 200), Stream(8, 200));
}

TEST_F(AflMutatorTest, NamesComeFromTheTarget) {
  const auto state = MakeState();
  EXPECT_EQ(TimesNamed(Stream(1, 2000)), 0) << "before the vocabulary was complete";
  state->state().vocabulary_ready.store(1);
  const std::vector<std::string> inputs = Stream(1, 2000);
  EXPECT_GT(TimesNamed(inputs), 20);
  for (const std::string& input : inputs) {
    EXPECT_EQ(Decode(input).walker, 1);
    EXPECT_EQ(Decode(input).scene, kScene);
  }
  EXPECT_EQ(inputs, Stream(1, 2000));
}

// afl-fuzz loads the library before it starts the target.
TEST_F(AflMutatorTest, ItListensUntilTheTargetIsReady) {
  const auto state = MakeState();
  void* mutator = library_.init(nullptr, 1);
  Once(mutator, Seed());
  state->state().vocabulary_ready.store(1);
  std::vector<std::string> inputs;
  for (int i = 0; i < 2000; i++) inputs.push_back(Once(mutator, Seed()));
  library_.deinit(mutator);
  EXPECT_GT(TimesNamed(inputs), 20);
}

TEST_F(AflMutatorTest, AStateThatNobodyMadeIsMadeForTheTarget) {
  void* mutator = library_.init(nullptr, 1);
  ASSERT_NE(getenv(kStateVariable), nullptr);
  auto state = OpenState();  // as the target does
  ASSERT_TRUE(state.ok());
  ASSERT_NE(state.value(), nullptr);
  EXPECT_EQ(state.value()->launch.libjvm[0], 0) << "tells the target that nobody supervises";
  library_.deinit(mutator);
}

TEST_F(AflMutatorTest, AWrongStateDoesNotStopIt) {
  setenv(kStateVariable, "/dev/null", 1);
  EXPECT_EQ(Stream(1, 10).size(), 10u);
}

// Only the other input has the marks.
TEST_F(AflMutatorTest, ItCrossesInputs) {
  WalkRequest other;
  other.scene = kScene;
  for (int i = 0; i < 8; i++)
    other.edits[i] = {64 + 8 * i, EditOp::kXor, {}, {0x5eed0000 + i, 0, 0}};
  other.edit_count = 8;
  const std::string other_bytes = EncodeBinary(other, *symbols_);
  const auto marked = [&](const std::vector<std::string>& inputs) {
    int times = 0;
    for (const std::string& input : inputs) {
      const WalkRequest request = Decode(input);
      for (int i = 0; i < request.edit_count; i++)
        if ((request.edits[i].value.addend & ~7) == 0x5eed0000) {
          times++;
          break;
        }
    }
    return times;
  };
  EXPECT_EQ(marked(Stream(1, 1000)), 0);
  const int times = marked(Stream(1, 1000, other_bytes));
  EXPECT_GT(times, 30);
  EXPECT_LT(times, 400);
}

TEST_F(AflMutatorTest, AnyBytesWillDo) {
  void* mutator = library_.init(nullptr, 1);
  for (const std::string& input :
       {std::string("\0", 1), std::string("walk 1\nscene nonsense\n"), std::string(100000, '\xff')})
    for (int i = 0; i < 50; i++) EXPECT_FALSE(Once(mutator, input, input).empty());
  library_.deinit(mutator);
}

}  // namespace
}  // namespace walkhammer
