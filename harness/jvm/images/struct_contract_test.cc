// SPDX-License-Identifier: Apache-2.0
// The contract of vmStructs over made tables, and over those of this machine's JDKs.
#include "harness/jvm/images/struct_contract.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/testing/fails_with.h"
#include "harness/jvm/images/jdk.h"

namespace walkhammer {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using What = StructChange::What;

StructTables Before() {
  StructTables tables;
  tables.fields = {{"Method::_code", {"CompiledMethod* volatile", false}},
                   {"nmethod::_entry_point", {"address", false}},
                   {"nmethod::_state", {"volatile signed char", false}},
                   {"CodeBlob::_size", {"int", false}},
                   {"CodeBlob::_complete", {"int", false}},
                   {"CodeCache::_heaps", {"GrowableArray<CodeHeap*>*", true}}};
  tables.sizes = {{"int", 4}, {"short", 2}, {"signed char", 1}, {"size_t", 8}, {"PcDesc", 16}};
  tables.constants = {{"_thread_in_Java", 8}};
  tables.flags = {"UseTLAB", "UseZGC"};
  tables.symbols = {"AsyncGetCallTrace", "_ZN5frame6senderEv"};
  tables.has_local_symbols = true;
  return tables;
}

// The changes for a reader of `kind` and `entries`, from Before() to `after`.
std::vector<StructChange> Changes(const StructTables& after, const std::string& kind,
                                  const std::string& entries, const std::string& need = "needed") {
  const auto needs =
      ParseStructNeeds("reader\t" + need + "\tstacks\t" + kind + "\t" + entries + "\n", "table");
  EXPECT_TRUE(needs.ok());
  return CompareStructs(Before(), after, needs.value()).changes;
}

auto Is(What what, const std::string& details) {
  return ElementsAre(
      AllOf(Field(&StructChange::what, what), Field(&StructChange::details, HasSubstr(details))));
}

constexpr char kAllFields[] =
    "Method::_code nmethod::_entry_point nmethod::_state CodeBlob::_size CodeBlob::_complete";

TEST(StructContractTest, TheSameTablesBreakNothing) {
  EXPECT_THAT(Changes(Before(), "field", kAllFields), IsEmpty());
  EXPECT_THAT(Changes(Before(), "static", "CodeCache::_heaps"), IsEmpty());
  EXPECT_THAT(Changes(Before(), "size=16", "PcDesc"), IsEmpty());
  EXPECT_THAT(Changes(Before(), "constant=8", "_thread_in_Java"), IsEmpty());
  EXPECT_THAT(Changes(Before(), "flag", "UseTLAB UseZGC"), IsEmpty());
  EXPECT_THAT(Changes(Before(), "symbol", "AsyncGetCallTrace _ZN5frame6senderEv"), IsEmpty());
}

TEST(StructContractTest, WhatIsGoneIsLost) {
  StructTables after = Before();
  after.fields.erase("nmethod::_state");
  after.sizes.erase("PcDesc");
  after.constants.clear();
  after.flags.erase("UseZGC");
  after.symbols.erase("AsyncGetCallTrace");
  EXPECT_THAT(Changes(after, "field", kAllFields), Is(What::kLost, ""));
  EXPECT_THAT(Changes(after, "size", "PcDesc"), Is(What::kLost, ""));
  EXPECT_THAT(Changes(after, "constant", "_thread_in_Java"), Is(What::kLost, ""));
  EXPECT_THAT(Changes(after, "flag", "UseZGC UseTLAB"), Is(What::kLost, ""));
  EXPECT_THAT(Changes(after, "symbol", "AsyncGetCallTrace"), Is(What::kLost, ""));
  EXPECT_TRUE(Breaks(Changes(after, "field", "nmethod::_state").at(0)));
  EXPECT_FALSE(Breaks(Changes(after, "field", "nmethod::_state", "optional").at(0)));
}

TEST(StructContractTest, WhatWasNeverThereIsNotLost) {
  const auto needs = ParseStructNeeds("reader\tneeded\tx\tfield\tJavaThread::_none\n", "table");
  const StructComparison compared = CompareStructs(Before(), Before(), needs.value());
  EXPECT_THAT(compared.changes, IsEmpty());
  EXPECT_THAT(compared.absent, ElementsAre("JavaThread::_none"));
  EXPECT_EQ(compared.compared, 0u);
}

TEST(StructContractTest, AnotherPointerOrOffsetIsReadAlike) {
  StructTables after = Before();
  after.fields["Method::_code"].type = "nmethod*";
  after.fields["nmethod::_state"].type = "signed char";
  EXPECT_THAT(Changes(after, "field", kAllFields), IsEmpty());
}

TEST(StructContractTest, AnotherWidthOrPlaceIsMisread) {
  StructTables after = Before();
  after.fields["CodeBlob::_complete"].type = "short";
  EXPECT_THAT(Changes(after, "field", kAllFields), Is(What::kChanged, "4 bytes became short"));
  EXPECT_THAT(Changes(after, "field/2", "CodeBlob::_complete"), IsEmpty());
  EXPECT_THAT(Changes(after, "field/4", "CodeBlob::_complete"), SizeIs(1));
  after = Before();
  after.fields["nmethod::_entry_point"].type = "int";
  EXPECT_THAT(Changes(after, "field", kAllFields), Is(What::kChanged, "address became int"));
  after.fields["nmethod::_entry_point"].type = "size_t";
  EXPECT_THAT(Changes(after, "field", kAllFields), Is(What::kChanged, "address became size_t"));
  after = Before();
  after.fields["CodeCache::_heaps"].is_static = false;
  EXPECT_THAT(Changes(after, "static", "CodeCache::_heaps"), Is(What::kChanged, "not static"));
}

TEST(StructContractTest, OnlyValuesInAReadersOwnCodeMustStay) {
  StructTables after = Before();
  after.sizes["PcDesc"] = 24;
  after.constants["_thread_in_Java"] = 4;
  EXPECT_THAT(Changes(after, "size", "PcDesc"), IsEmpty());
  EXPECT_THAT(Changes(after, "constant", "_thread_in_Java"), IsEmpty());
  EXPECT_THAT(Changes(after, "size=16", "PcDesc"), Is(What::kChanged, "16 became 24"));
  EXPECT_THAT(Changes(after, "constant=8", "_thread_in_Java"), Is(What::kChanged, "8 became 4"));
}

TEST(StructContractTest, AnotherNameThatTheReaderKnowsReplacesTheOld) {
  StructTables after = Before();
  after.fields.erase("nmethod::_entry_point");
  after.fields["nmethod::_entry_offset"] = {"int", false};
  const char* both = "nmethod::_entry_offset@3.10|nmethod::_entry_point";
  const auto changes = Changes(after, "field", both);
  EXPECT_THAT(changes, Is(What::kReplaced, "nmethod::_entry_offset"));
  EXPECT_EQ(changes.at(0).since, "3.10");
  EXPECT_FALSE(Breaks(changes.at(0)));

  // A version that reads the old name alone.
  for (const auto& [version, breaks] : std::map<std::string, bool>{
           {"3.9", true}, {"2.11.4", true}, {"3.10", false}, {"3.10.0", false}, {"4", false}}) {
    auto needs =
        ParseStructNeeds(std::string("reader\tneeded\tx\tfield\t") + both, "table").value();
    ASSERT_TRUE(ChooseReaders({"reader@" + version}, needs).ok());
    const auto found = CompareStructs(Before(), after, needs).changes;
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(Breaks(found[0]), breaks) << version;
  }
}

TEST(StructContractTest, WhatAFileDoesNotTellIsNotCompared) {
  StructTables after = Before();
  after.flags.clear();
  after.symbols = {"AsyncGetCallTrace"};
  after.has_local_symbols = false;
  EXPECT_THAT(Changes(after, "flag", "UseZGC"), IsEmpty());
  EXPECT_THAT(Changes(after, "symbol", "_ZN5frame6senderEv"), IsEmpty());
  EXPECT_THAT(Changes(after, "symbol", "AsyncGetCallTrace"), IsEmpty());
}

TEST(StructContractTest, WhatBreaksComesFirst) {
  StructTables after = Before();
  after.fields.clear();
  after.fields["nmethod::_entry_offset"] = {"int", false};
  const auto needs =
      ParseStructNeeds(
          "# comment\n\na\tneeded\tx\tfield\tnmethod::_entry_offset|nmethod::_entry_point\n"
          "a\toptional\tx\tfield\tnmethod::_state\na\tneeded\tx\tfield\tMethod::_code\n",
          "table")
          .value();
  const auto changes = CompareStructs(Before(), after, needs).changes;
  ASSERT_THAT(changes, SizeIs(3));
  EXPECT_EQ(changes[0].entry, "Method::_code");
  EXPECT_EQ(changes[1].entry, "nmethod::_state");
  EXPECT_EQ(changes[2].what, What::kReplaced);
}

TEST(StructContractTest, DamagedTablesAreRefusedWithTheirLine) {
  for (const char* line :
       {"reader\tneeded\tx\tfield", "reader\tperhaps\tx\tfield\ta", "reader\tneeded\tx\tfeld\ta",
        "reader\tneeded\tx\tfield=4\ta", "reader\tneeded\tx\tsize=\ta", "\tneeded\tx\tfield\ta",
        "reader\tneeded\tx\tsize=4x\ta", "reader\tneeded\tx\tfield/0\ta",
        "reader needed x field a"})
    EXPECT_THAT(ParseStructNeeds(std::string("# head\n") + line, "table"),
                FailsWith(ExitCode::kBadInput, HasSubstr("table:2:")))
        << line;
  EXPECT_THAT(ParseStructNeeds("# head\n", "table"),
              FailsWith(ExitCode::kBadInput, HasSubstr("no line")));
  auto needs = ParseStructNeeds("reader\tneeded\tx\tfield\ta\n", "table").value();
  EXPECT_THAT(ChooseReaders({"other"}, needs), FailsWith(ExitCode::kBadInput, HasSubstr("other")));
}

TEST(StructTablesTest, OfThisMachinesJdks) {
  for (const Jdk& jdk : FindJdks()) {
    if (!jdk.Exports("gHotSpotVMStructs")) continue;
    const auto read = ReadStructTables(jdk.libjvm, jdk.debug_file);
    ASSERT_TRUE(read.ok()) << read.failure().message;
    const StructTables& tables = read.value();
    EXPECT_EQ(tables.fields.at("JavaThread::_anchor").type, "JavaFrameAnchor");
    EXPECT_FALSE(tables.fields.at("JavaThread::_anchor").is_static);
    EXPECT_TRUE(tables.fields.at("StubRoutines::_call_stub_return_address").is_static);
    EXPECT_EQ(tables.sizes.at("int"), 4u);
    EXPECT_TRUE(tables.constants.contains("_thread_in_Java"));
    EXPECT_TRUE(tables.flags.contains("UseTLAB"));
    EXPECT_GT(tables.flags.size(), 300u);
    EXPECT_TRUE(tables.symbols.contains("AsyncGetCallTrace"));
    const auto lost = LostStructs(jdk.home, jdk.home);
    ASSERT_TRUE(lost.ok()) << lost.failure().message;
    EXPECT_THAT(lost.value(), IsEmpty());
    EXPECT_FALSE(LostStructs(jdk.home, "/nowhere").ok());
  }
  EXPECT_FALSE(ReadStructTables("/proc/self/exe").ok());
  EXPECT_FALSE(ReadStructTables("/nowhere").ok());
}

// Names with typing errors would never be missed.
TEST(StructTablesTest, HaveMostOfWhatReadersRead) {
  const auto needs = ReadStructNeeds();
  ASSERT_TRUE(needs.ok()) << needs.failure().message;
  EXPECT_GT(needs.value().size(), 300u);
  for (const Jdk& jdk : FindJdks()) {
    if (!jdk.Exports("gHotSpotVMStructs")) continue;
    const StructTables tables = ReadStructTables(jdk.libjvm, jdk.debug_file).value();
    EXPECT_GT(CompareStructs(tables, tables, needs.value()).compared, needs.value().size() * 4 / 5)
        << jdk.home;
  }
}

}  // namespace
}  // namespace walkhammer
