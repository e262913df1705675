// SPDX-License-Identifier: Apache-2.0
#include "harness/layout_check/layout_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <utility>

#include "harness/base/testing/fails_with.h"
#include "harness/jvm/images/jdk.h"

namespace walkhammer {
namespace {

using ::testing::HasSubstr;

// The one JVM of this process: the newest that this machine runs directly.
Jvm* TheJvm() {
  static Jvm* jvm = []() -> Jvm* {
    const std::vector<Jdk> jdks = FindJdks();
    for (auto jdk = jdks.rbegin(); jdk != jdks.rend(); ++jdk) {
      if (!jdk->platform.is_own()) continue;
      auto booted = Jvm::Boot(jdk->libjvm, {"-Xmx64m", "-Xrs"});
      EXPECT_TRUE(booted.ok()) << booted.failure().message;
      return booted.ok() ? booted.value() : nullptr;
    }
    return nullptr;
  }();
  return jvm;
}

// Runs ProveLayout on a new thread: HotSpot and the C library define the end of the first thread's
// stack differently.
std::vector<LayoutFact> Prove(const VmStructs& structs) {
  std::vector<LayoutFact> facts;
  std::thread([&] {
    void* env = nullptr;
    TheJvm()->vm()->AttachCurrentThread(&env, nullptr);
    facts = ProveLayout(*TheJvm(), structs);
    TheJvm()->vm()->DetachCurrentThread();
  }).join();
  return facts;
}

Proof ProofOf(const std::vector<LayoutFact>& facts, const std::string& name) {
  for (const LayoutFact& fact : facts)
    if (fact.name == name) return fact.proof;
  return Proof::kCount;
}

class LayoutCheckTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (TheJvm() == nullptr) GTEST_SKIP() << "no JDK on this machine runs by itself";
  }
};

TEST_F(LayoutCheckTest, AStockJvmSaysTheSame) {
  std::vector<LayoutFact> facts = Prove(TheJvm()->structs());
  EXPECT_TRUE(CheckLayout(facts).ok()) << CheckLayout(facts).failure().message;
  const auto proven = std::count_if(facts.begin(), facts.end(), [](const LayoutFact& fact) {
    return fact.proof == Proof::kProven;
  });
  EXPECT_GE(proven, 50);
  EXPECT_EQ(ProofOf(facts, "JavaThread::_thread_state"), Proof::kProven);
  EXPECT_EQ(ProofOf(facts, "Method::_code"), Proof::kProven);
  EXPECT_EQ(ProofOf(facts, "JavaThread::_anchor"), Proof::kNone);
  MarkAnchorProven(facts);
  EXPECT_EQ(ProofOf(facts, "JavaThread::_anchor"), Proof::kProven);
  EXPECT_EQ(ProofOf(facts, "JavaFrameAnchor::_last_Java_sp"), Proof::kProven);
}

TEST_F(LayoutCheckTest, WhatIsNotThereIsNotProven) {
  const std::vector<LayoutFact> facts = Prove(TheJvm()->structs());
  int missing = 0;
  for (const LayoutFact& fact : facts) {
    if (fact.present) continue;
    missing++;
    EXPECT_EQ(fact.proof, Proof::kNone) << fact.name;
  }
  EXPECT_GT(missing, 0);  // no JDK has the fields of all others
}

// A build whose vmStructs are wrong.
TEST_F(LayoutCheckTest, AFieldThatHasMovedIsNamed) {
  constexpr std::pair<const char*, int> kMoved[] = {{"JavaThread::_stack_base", 8},
                                                    {"JavaThread::_stack_size", 8},
                                                    {"JavaThread::_thread_state", 4},
                                                    {"OSThread::_thread_id", 4},
                                                    {"Method::_constMethod", 8},
                                                    {"ConstMethod::_code_size", 2},
                                                    {"ConstMethod::_name_index", 2},
                                                    {"ConstMethod::_constants", 8},
                                                    {"ConstantPool::_pool_holder", 8},
                                                    {"sizeof(ConstantPool)", 8},
                                                    {"Symbol::_length", 2},
                                                    {"Symbol::_body", 1},
                                                    {"Klass::_name", 8},
                                                    {"InstanceKlass::_methods", 8},
                                                    {"InstanceKlass::_methods_jmethod_ids", 8},
                                                    {"ConstMethod::_method_idnum", 2},
                                                    {"CodeBlob::_data_offset", 4},
                                                    {"CodeHeap::_segmap", 8},
                                                    {"HeapBlock::Header::_used", 1},
                                                    {"Method::_code", 8}};
  // The proofs look up fields that boot alone does not.
  const VmStructs right = TheJvm()->structs();
  Prove(right);
  int planted = 0;
  for (const auto& [name, bytes] : kMoved) {
    VmStructs wrong = right;
    // Only one of the two pairs of fields for a blob's code is used.
    if (!wrong.Asked().contains(name) || !wrong.Asked().at(name)) continue;
    if (std::string(name) == "CodeBlob::_data_offset" && wrong.Offset("CodeBlob", "_code_begin"))
      continue;
    wrong.Shift(name, bytes);
    planted++;
    const std::vector<LayoutFact> facts = Prove(wrong);
    EXPECT_EQ(ProofOf(facts, name), Proof::kContradicted) << name;
    EXPECT_THAT(CheckLayout(facts), FailsWith(ExitCode::kUnable, HasSubstr(name))) << name;
  }
  EXPECT_GE(planted, 15);
}

// The scenes' stacks prove the anchor, and nothing else.
TEST(MarkAnchorProvenTest, MarksThePresentPartsOfTheAnchor) {
  std::vector<LayoutFact> facts = {{"JavaThread::_anchor", true},
                                   {"JavaFrameAnchor::_last_Java_sp", true},
                                   {"JavaFrameAnchor::_last_Java_fp", false},
                                   {"JavaThread::_osthread", true}};
  MarkAnchorProven(facts);
  EXPECT_EQ(facts[0].proof, Proof::kProven);
  EXPECT_EQ(facts[1].proof, Proof::kProven);
  EXPECT_EQ(facts[2].proof, Proof::kNone);
  EXPECT_EQ(facts[3].proof, Proof::kNone);
}

}  // namespace
}  // namespace walkhammer
