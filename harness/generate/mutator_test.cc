// SPDX-License-Identifier: Apache-2.0
#include "harness/generate/mutator.h"

#include <gtest/gtest.h>

#include <ctime>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/base/hash.h"
#include "harness/generate/mutations.h"
#include "harness/generate/random_requests.h"
#include "harness/generate/request_window.h"
#include "harness/generate/values.h"
#include "harness/request/binary_form.h"
#include "harness/request/request_testing.h"
#include "harness/request/text_form.h"

namespace walkhammer {
namespace {

constexpr uint8_t kWalker = 0;

std::unique_ptr<Vocabulary> EmptyVocabulary() { return std::make_unique<Vocabulary>(); }

class VocabularyMaker {
 public:
  explicit VocabularyMaker(SymbolTable& symbols) : symbols_(symbols), out_(EmptyVocabulary()) {}

  std::unique_ptr<Vocabulary> Make() {
    AddPlaces(SymbolKind::kNmethod, {"wh.A.one()V", "wh.A.two(I)V", "wh.B.three()J"}, 512);
    AddPlaces(SymbolKind::kStub, {"call_stub", "cont_returnBarrier", "runtime"}, 256);
    AddPlaces(SymbolKind::kCodelet, {"return entry points", "iadd"}, 2048);
    AddPlaces(SymbolKind::kMethod, {"wh.A.one()V", "wh.A.two(I)V"}, 96);
    AddPlaces(SymbolKind::kLibrary, {"libjvm.so"}, 1 << 20);
    AddPlaces(SymbolKind::kLibraryEnd, {"libjvm.so"}, 4096);
    AddPlaces(SymbolKind::kSceneStack, {"c1", "c2"}, 4096);
    AddScene(0, 6);
    AddScene(2, 20);
    AddScene(5, 40);
    return std::move(out_);
  }

 private:
  void AddPlaces(SymbolKind kind, const std::vector<std::string>& names, uint32_t size) {
    const bool code =
        kind == SymbolKind::kNmethod || kind == SymbolKind::kStub || kind == SymbolKind::kCodelet;
    out_->first[static_cast<int>(kind)] = out_->place_count;
    for (const std::string& name : names) {
      const uint32_t symbol = symbols_.Intern(kind, name);
      Place place{symbol, size, 0, 0, 0, 0, 0, 0};
      if (code) {
        place.first_offset = out_->offset_count;
        for (uint32_t offset : {20U, 44U, 0U, 3U, 8U, size - 1})
          out_->offsets[out_->offset_count++] = offset;
        place.offset_count = 6;
        place.return_count = 2;
        place.frame_words = kind == SymbolKind::kCodelet ? 0 : 6;
        if (kind == SymbolKind::kNmethod) {
          place.deopt_handler = size - 16;
          place.original_pc = 16;
        }
      }
      out_->place_of[symbol] = static_cast<uint16_t>(out_->place_count + 1);
      out_->places[out_->place_count++] = place;
    }
    out_->count[static_cast<int>(kind)] = static_cast<uint32_t>(names.size());
  }

  // Adds compiled, interpreted and entry frames in turn, each above the previous one.
  void AddScene(int index, uint32_t frames) {
    SceneWords& scene = out_->scenes[index];
    scene.available = 1;
    uint32_t sp = 0;
    for (uint32_t i = 0; i < frames; i++) {
      FrameSample& frame = scene.frames[scene.frame_count++];
      frame.shape = i % 5 == 4   ? SampleShape::kEntry
                    : i % 2 == 0 ? SampleShape::kCompiled
                                 : SampleShape::kInterpreted;
      frame.sp = sp;
      frame.size = frame.shape == SampleShape::kCompiled ? 48 : 120;
      frame.fp = frame.shape == SampleShape::kCompiled ? FrameSample::kNoFp
                                                       : static_cast<int32_t>(frame.size) - 16;
      frame.pc = {44, out_->places[i % 8].symbol, 0};
      auto add = [&](int32_t offset, Value value) {
        frame.words[frame.word_count++] = {offset, value};
      };
      const auto size = static_cast<int32_t>(frame.size);
      add(size - 8, {44, out_->places[(i + 1) % 8].symbol, 0});
      add(size - 16, OnStack(size + 32));
      scene.code[scene.code_count++] = sp + frame.size - 8;
      scene.pointers[scene.pointer_count++] = sp + frame.size - 16;
      if (frame.shape == SampleShape::kInterpreted) {
        for (int word = 1; word <= 9; word++)
          add(frame.fp - 8 * word, word == 3 ? Value{0, out_->Of(SymbolKind::kMethod)[0].symbol, 0}
                                             : ValueOf(SymbolKind::kSlot, frame.fp - 8 * word));
        scene.methods[scene.method_count++] = sp + static_cast<uint32_t>(frame.fp) - 24;
      }
      if (frame.shape == SampleShape::kEntry) {
        add(frame.fp - 48, OnStack(size + 64));
        for (int field = 0; field < 3; field++)
          add(size + 64 + 32 + 8 * field, field == 1 ? frame.pc : OnStack(size + 256));
        sp += 256;  // native frames
      }
      sp += frame.size;
    }
    scene.words = sp / 8;
    for (int32_t near : {-8, -3, 2, 7}) scene.near_pcs[scene.near_pc_count++] = near;
  }

  SymbolTable& symbols_;
  std::unique_ptr<Vocabulary> out_;
};

bool SlotsInside(const WalkRequest& request, const Vocabulary& words) {
  const SceneWords& scene = words.scenes[request.scene];
  for (int i = 0; i < request.edit_count; i++)
    if (scene.available != 0 && request.edits[i].slot >= static_cast<int32_t>(8 * scene.words))
      return false;
  return true;
}

class MutatorTest : public testing::Test {
 protected:
  void CheckValid(const WalkRequest& request, const Vocabulary& words) {
    ASSERT_TRUE(IsValid(request, *symbols_)) << ToText({request, ""}, *symbols_);
    ASSERT_TRUE(SlotsInside(request, words)) << ToText({request, ""}, *symbols_);
    ASSERT_EQ(request.walker, kWalker);
  }

  // Makes step `step` of a series of mutations, which starts anew now and then, e.g. from bytes.
  void Step(const Mutator& mutator, Random& random, int step) {
    if (step % 500 == 0) request_ = DecodeBinary(AsBytes(any_.Bytes()), *symbols_);
    if (step % 500 == 100) request_ = any_.Request(*symbols_);
    if (step % 500 == 200) request_ = WalkRequest();
    mutator.Mutate(random, request_);
  }

  std::unique_ptr<SymbolTable> symbols_ = NewSymbolTable();
  std::unique_ptr<Vocabulary> words_ = VocabularyMaker(*symbols_).Make();
  const Mutator mutator_{*words_, kWalker};
  AnyRequests any_{1};
  WalkRequest request_;
};

TEST_F(MutatorTest, WhateverIsMutatedIsValid) {
  Random random(1);
  for (int i = 0; i < 300000; i++) {
    Step(mutator_, random, i);
    CheckValid(request_, *words_);
    if (HasFatalFailure()) return;
    ASSERT_NE(words_->scenes[request_.scene].available, 0U);
  }
}

TEST_F(MutatorTest, AnEmptyVocabularyWillDo) {
  auto empty = EmptyVocabulary();
  Random random(2);
  const Mutator mutator(*empty, kWalker);
  WalkRequest child;
  for (int i = 0; i < 100000; i++) {
    Step(mutator, random, i);
    CheckValid(request_, *empty);
    mutator.CrossOver(random, request_, WalkRequest(), child);
    CheckValid(child, *empty);
    if (HasFatalFailure()) return;
  }
}

TEST_F(MutatorTest, CountsThatACrashWroteOverLeadNowhere) {
  for (uint32_t& count : words_->count) count = UINT32_MAX;
  for (uint32_t& first : words_->first) first = UINT32_MAX - 5;
  for (SceneWords& scene : words_->scenes) {
    scene.code_count = scene.pointer_count = scene.method_count = UINT32_MAX;
    scene.frame_count = scene.near_pc_count = UINT32_MAX;
    for (FrameSample& frame : scene.frames) frame.word_count = 255;
  }
  for (Place& place : words_->places) place.offset_count = place.return_count = UINT16_MAX;
  for (Place& place : words_->places) place.first_offset = Vocabulary::kMaxOffsets - 2;
  Random random(3);
  for (int i = 0; i < 50000; i++) Step(mutator_, random, i);
}

TEST_F(MutatorTest, EveryMutationAppliesAndChanges) {
  std::map<std::string, int> applied, changed;
  Random random(4);
  for (int i = 0; i < 20000; i++) {
    mutator_.Mutate(random, request_);
    for (const Mutation& mutation : AllMutations()) {
      WalkRequest copy = request_;
      RequestBuilder builder(random, *words_, kWalker, copy);
      const bool did = mutation.apply(builder);
      applied[mutation.name] += did;
      changed[mutation.name] += !(copy == request_);
      ASSERT_TRUE(did || copy == request_) << mutation.name;
      ASSERT_LE(copy.edit_count, WalkRequest::kMaxEdits) << mutation.name;
    }
  }
  for (const Mutation& mutation : AllMutations()) {
    EXPECT_GT(mutation.weight, 0U) << mutation.name;
    EXPECT_GT(applied[mutation.name], 2000) << mutation.name;
    EXPECT_GT(changed[mutation.name], 2000) << mutation.name;
  }
}

TEST_F(MutatorTest, MutationsHaveNamesOfTheirOwn) {
  std::map<std::string, int> names;
  for (const Mutation& mutation : AllMutations()) EXPECT_EQ(names[mutation.name]++, 0);
}

TEST_F(MutatorTest, TextAndBinaryFormKeepMutatedRequests) {
  Random random(5);
  for (int i = 0; i < 5000; i++) {
    Step(mutator_, random, i);
    const std::string bytes = EncodeBinary(request_, *symbols_);
    ASSERT_EQ(DecodeBinary(AsBytes(bytes), *symbols_), request_);
    const std::string text = ToText({request_, ""}, *symbols_);
    WalkFile file;
    ASSERT_EQ(ParseText(text, "t.walk", *symbols_, file), "") << text;
    ASSERT_EQ(file.request, request_) << text;
  }
}

TEST_F(MutatorTest, TheSameChanceGivesTheSameRequests) {
  auto run = [&](uint64_t seed) {
    Random random(seed);
    std::string all;
    any_ = AnyRequests(6);
    request_ = {};
    WalkRequest other, child;
    for (int i = 0; i < 2000; i++) {
      Step(mutator_, random, i);
      mutator_.CrossOver(random, request_, other, child);
      other = child;
      all += EncodeBinary(child, *symbols_);
    }
    return all;
  };
  EXPECT_EQ(run(7), run(7));
  EXPECT_NE(run(7), run(8));
}

TEST_F(MutatorTest, AWindowIsMadeAgainByItsNumber) {
  const std::vector<uint64_t> names = NameHashes(*symbols_);
  const WindowSource source{*words_, names, 7, kWalker, UINT32_MAX},
      other_seed{*words_, names, 8, kWalker, UINT32_MAX};
  RequestWindow first(source, 2, 3), again(source, 2, 3), next(source, 2, 4),
      seed(other_seed, 2, 3);
  for (int i = 0; i < 100; i++) {
    EXPECT_EQ(EncodeBinary(first.Next(), *symbols_), EncodeBinary(again.Next(), *symbols_));
    EXPECT_EQ(first.hash(), again.hash());
    next.Next();
    seed.Next();
    EXPECT_NE(first.hash(), next.hash());
    EXPECT_NE(first.hash(), seed.hash());
  }
}

TEST_F(MutatorTest, AWindowLeavesOutOptionsThatNotAllWalkersKnow) {
  const std::vector<uint64_t> names = NameHashes(*symbols_);
  const WindowSource source{*words_, names, 7, kWalker, 0};
  RequestWindow window(source, 2, 3);
  for (int i = 0; i < 1000; i++) EXPECT_EQ(window.Next().options, 0U);
}

// Reports quote seeds: a seed means the same in each build, until somebody changes a generator on
// purpose, and these numbers with it.
TEST_F(MutatorTest, ASeedMeansTheSameInEachBuild) {
  uint64_t randoms = kFnvBegin, mutants = kFnvBegin, children = kFnvBegin, pieces = kFnvBegin;
  const auto add = [&](uint64_t& digest, const WalkRequest& made) {
    for (const char c : EncodeBinary(made, *symbols_))
      digest = Fnv1a(digest, static_cast<uint8_t>(c));
  };
  WalkRequest other, child;
  for (const uint8_t scene : {0, 2, 5}) {
    Random random(scene);
    const RandomRequests requests(*words_, kWalker, scene);
    for (int i = 0; i < 1000; i++) {
      requests.Next(random, request_);
      add(randoms, request_);
    }
  }
  Random random(9);
  request_ = {};
  for (int i = 0; i < 1000; i++) {
    mutator_.Mutate(random, request_);
    add(mutants, request_);
    mutator_.CrossOver(random, request_, other, child);
    add(children, child);
    other = child;
    for (const Mutation& mutation : AllMutations()) {
      WalkRequest copy = request_;
      RequestBuilder builder(random, *words_, kWalker, copy);
      mutation.apply(builder);
      add(pieces, copy);
    }
  }
  EXPECT_EQ(randoms, 0x72bc04667884ac57);
  EXPECT_EQ(mutants, 0x447a8b8865cf1777);
  EXPECT_EQ(children, 0x2c13e842f7a66b56);
  EXPECT_EQ(pieces, 0x1b91accfcbf5ffee);
}

TEST_F(MutatorTest, CrossOverTakesFromBoth) {
  Random random(8);
  int mixed = 0, scene_of_b = 0;
  for (int i = 0; i < 50000; i++) {
    WalkRequest a, b, child;
    for (int k = 0; k < 6; k++) {
      mutator_.Mutate(random, a);
      mutator_.Mutate(random, b);
    }
    mutator_.CrossOver(random, a, b, child);
    CheckValid(child, *words_);
    if (HasFatalFailure()) return;
    for (int k = 0; k < child.edit_count; k++) {
      auto has = [&](const WalkRequest& r) {
        // Only values are compared: slots may have been moved into a smaller stack.
        for (int e = 0; e < r.edit_count; e++)
          if (r.edits[e].value == child.edits[k].value) return true;
        return false;
      };
      ASSERT_TRUE(has(a) || has(b));
    }
    const bool registers_of_a = child.pc == a.pc && child.sp == a.sp && child.fp == a.fp;
    const bool registers_of_b = child.pc == b.pc && child.sp == b.sp && child.fp == b.fp;
    ASSERT_TRUE(registers_of_a || registers_of_b);
    ASSERT_TRUE(child.scene == a.scene || child.scene == b.scene);
    mixed += !(child == a) && !(child == b);
    scene_of_b += child.scene == b.scene;
  }
  EXPECT_GT(mixed, 35000);
  EXPECT_GT(scene_of_b, 10000);
}

TEST_F(MutatorTest, IsQuick) {
  Random random(9);
  constexpr int kMutations = 200000;
  const std::clock_t start = std::clock();  // processor time: other tests run beside this one
  for (int i = 0; i < kMutations; i++) mutator_.Mutate(random, request_);
  const double ns = static_cast<double>(std::clock() - start) * 1e9 / CLOCKS_PER_SEC / kMutations;
  RecordProperty("ns_per_mutation", static_cast<int>(ns));
  EXPECT_LT(ns, 20000);  // about 500 without sanitizers
}

}  // namespace
}  // namespace walkhammer
