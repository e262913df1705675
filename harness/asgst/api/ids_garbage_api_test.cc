// SPDX-License-Identifier: Apache-2.0
// The ids functions of asgst_iterator.h with invalid handles: random words, addresses of other
// things, forgeries.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "harness/asgst/testing/ids_testing.h"
#include "harness/base/mappings.h"

namespace walkhammer::asgst {
namespace {

void ExpectNothingAt(uint64_t address) {
  ExpectNothing(reinterpret_cast<ASGST_Method>(address));
  ExpectNothing(reinterpret_cast<ASGST_Class>(address));
}

TEST_F(IdsApi, NothingIsKnownOfGarbage) {
  const auto method = reinterpret_cast<uint64_t>(Method("farLines", "(I)I"));
  const auto klass = reinterpret_cast<uint64_t>(ASGST_JClassToClass(ids_));
  const uint64_t object = *reinterpret_cast<uint64_t*>(ids_);
  const uint64_t const_method =
      *reinterpret_cast<uint64_t*>(method + live_.jvm().layout().method_const);
  std::vector<uint64_t> garbage = {0,
                                   1,
                                   8,
                                   0xff8,
                                   0x1000,
                                   0xdeadbeefdeadbee8,
                                   ~0ULL,
                                   ~7ULL,
                                   1ULL << 47,
                                   object,
                                   object + 8,
                                   const_method,
                                   const_method + 8,
                                   reinterpret_cast<uint64_t>(&garbage),
                                   reinterpret_cast<uint64_t>(&ASGST_GetMethodInfo) & ~7ULL,
                                   reinterpret_cast<uint64_t>(live_.jvm().vm())};
  for (const NamedCode& code : live_.jvm().Stubs()) garbage.push_back(code.begin & ~7ULL);
  for (uint64_t aside = 1; aside < 64; aside++) {
    garbage.push_back(method + aside);
    garbage.push_back(method - aside);
    garbage.push_back(klass + aside);
    garbage.push_back(klass - aside);
  }
  // Random words may by chance be addresses of methods and classes, also of those of a CDS archive
  // that are not loaded.
  std::set<uint64_t> real;
  const std::vector<Mapping> mappings = ReadMappings();
  const auto is_archived = [&](uint64_t word) {
    return std::any_of(mappings.begin(), mappings.end(), [&](const Mapping& mapping) {
      return mapping.begin <= word && word < mapping.end && mapping.path.ends_with(".jsa");
    });
  };
  ForEachMethod([&](jclass mirror, jmethodID id) {
    real.insert(reinterpret_cast<uint64_t>(ASGST_JMethodIDToMethod(id)));
    real.insert(reinterpret_cast<uint64_t>(ASGST_JClassToClass(mirror)));
  });
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; i++) {
    const uint64_t word = random() >> (random() % 64);
    if (real.count(word) == 0 && !is_archived(word)) garbage.push_back(word);
  }
  for (const uint64_t address : garbage) ExpectNothingAt(address);
  // A class as a method, and a method as a class.
  ExpectNothing(reinterpret_cast<ASGST_Method>(klass));
  ExpectNothing(reinterpret_cast<ASGST_Class>(method));
}

// Forgeries that lead to a live class as methods do, or to themselves as classes do.
TEST_F(IdsApi, NothingIsKnownOfForgeries) {
  const VmStructs& structs = live_.jvm().structs();
  const auto pool = *structs.Offset("InstanceKlass", "_constants");
  const auto holder = *structs.Offset("ConstantPool", "_pool_holder");
  const auto const_method = live_.jvm().layout().method_const;
  alignas(8) static char forged[4096];
  const auto copy = [](const void* from, size_t bytes) { memcpy(forged, from, bytes); };
  const auto word = [](int at) { return reinterpret_cast<uint64_t*>(forged + at); };

  const ASGST_Method method = Method("farLines", "(I)I");
  copy(method, 88);
  EXPECT_EQ(Ask(reinterpret_cast<ASGST_Method>(forged)).name, "farLines") << "a true copy";
  *word(0) = 0x1234560;  // its virtual table
  ExpectNothing(reinterpret_cast<ASGST_Method>(forged));
  *word(0) = *reinterpret_cast<const uint64_t*>(method);
  *word(const_method) += 8;
  ExpectNothing(reinterpret_cast<ASGST_Method>(forged));

  const ASGST_Class klass = ASGST_JClassToClass(ids_);
  copy(klass, *structs.SizeOf("InstanceKlass"));
  ExpectNothing(reinterpret_cast<ASGST_Class>(forged));
  // With a constant pool of its own.
  *word(pool) = reinterpret_cast<uint64_t>(forged + 2048);
  *word(2048 + holder) = reinterpret_cast<uint64_t>(forged);
  EXPECT_EQ(Ask(reinterpret_cast<ASGST_Class>(forged)).name, "wh/Ids") << "a true copy";
  EXPECT_EQ(ASGST_GetClassIdNum(reinterpret_cast<ASGST_Class>(forged)), -1);
  *word(0) = 0x1234560;
  ExpectNothing(reinterpret_cast<ASGST_Class>(forged));
}

// Words in the JVM's own structures lead to other structures of the JVM.
TEST_F(IdsApi, NothingIsKnownOfWhatStandsAroundMethods) {
  const auto method = reinterpret_cast<uint64_t>(Method("farLines", "(I)I"));
  const auto klass = reinterpret_cast<uint64_t>(ASGST_JClassToClass(ids_));
  int others = 0;
  for (const uint64_t from : {method, klass})
    for (uint64_t at = from; at < from + 400; at += 8) {
      const uint64_t word = *reinterpret_cast<uint64_t*>(at);
      const MethodAnswer as_method = Ask(reinterpret_cast<ASGST_Method>(word));
      const ClassAnswer as_class = Ask(reinterpret_cast<ASGST_Class>(word));
      EXPECT_EQ(as_method.klass != nullptr, as_method.name.has_value());
      if (as_class.idnum >= 0) others++;
      EXPECT_EQ(as_class.idnum >= 0, as_class.name.has_value());
      EXPECT_FALSE(as_method.klass != nullptr && as_class.idnum >= 0) << "both";
    }
  EXPECT_GE(others, 1) << "its superclass";
}

}  // namespace
}  // namespace walkhammer::asgst
