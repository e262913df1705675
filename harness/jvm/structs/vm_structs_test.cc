// SPDX-License-Identifier: Apache-2.0
// vmStructs, read out of synthetic tables of this process: through the kernel, since whole words of
// texts are read, beyond their ends.
#include "harness/jvm/structs/vm_structs.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "harness/base/testing/fails_with.h"

namespace walkhammer {
namespace {

using ::testing::HasSubstr;

// As in HotSpot's vmStructs.hpp, with one member more at the begin, since offsets are exported.
struct StructEntry {
  uint64_t unused;
  const char *type, *field, *type_string;
  int32_t is_static;
  uint64_t offset;
  void* address;
};
struct TypeEntry {
  const char *name, *super;
  int32_t is_oop, is_integer, is_unsigned;
  uint64_t size;
};
struct ConstantEntry {
  const char* name;
  int32_t value;
};

int a_static = 0;

class MadeUpTables {
 public:
  // Behind the entry without a name, which ends a table, is something else.
  std::vector<StructEntry> structs = {
      {0, "JavaThread", "_anchor", "JavaFrameAnchor", 0, 0x38, nullptr},
      {0, "Threads", nullptr, nullptr, 0, 0, nullptr},  // an entry without a field
      {0, "Universe", "_heap", "CollectedHeap*", 1, 0, &a_static},
      {0, "Thread", "_stack_base", "address", 0, 0x40, nullptr},
      {},
      {0, "Beyond", "_end", "int", 0, 8, nullptr}};
  std::vector<TypeEntry> types = {
      {"Method", nullptr, 0, 0, 0, 88}, {}, {"Beyond", nullptr, 0, 0, 0, 8}};
  std::vector<ConstantEntry> constants = {
      {"_thread_in_Java", 8}, {"frame::arg", -2}, {}, {"beyond", 1}};

  MadeUpTables() {
    const std::string s = "gHotSpotVMStruct", t = "gHotSpotVMType", c = "gHotSpotVMIntConstant";
    exports = {{s + "EntryArrayStride", sizeof(StructEntry)},
               {s + "EntryTypeNameOffset", offsetof(StructEntry, type)},
               {s + "EntryFieldNameOffset", offsetof(StructEntry, field)},
               {s + "EntryTypeStringOffset", offsetof(StructEntry, type_string)},
               {s + "EntryIsStaticOffset", offsetof(StructEntry, is_static)},
               {s + "EntryOffsetOffset", offsetof(StructEntry, offset)},
               {s + "EntryAddressOffset", offsetof(StructEntry, address)},
               {t + "EntryArrayStride", sizeof(TypeEntry)},
               {t + "EntryTypeNameOffset", offsetof(TypeEntry, name)},
               {t + "EntrySizeOffset", offsetof(TypeEntry, size)},
               {c + "EntryArrayStride", sizeof(ConstantEntry)},
               {c + "EntryNameOffset", offsetof(ConstantEntry, name)},
               {c + "EntryValueOffset", offsetof(ConstantEntry, value)}};
  }
  Result<VmStructs> Read() {
    exports["gHotSpotVMStructs"] = reinterpret_cast<uint64_t>(structs.data());
    exports["gHotSpotVMTypes"] = reinterpret_cast<uint64_t>(types.data());
    exports["gHotSpotVMIntConstants"] = reinterpret_cast<uint64_t>(constants.data());
    return VmStructs::Read(
        [&](const std::string& name) {
          const auto found = exports.find(name);
          return found == exports.end() || name == missing
                     ? 0
                     : reinterpret_cast<uint64_t>(&found->second);
        },
        KernelMemory());
  }
  std::map<std::string, uint64_t> exports;  // the exported variables, by name
  std::string missing;
};

TEST(VmStructsTest, ReadsFieldsTypesAndConstants) {
  const auto read = Must(MadeUpTables().Read());
  const VmStructs& structs = read;
  EXPECT_EQ(structs.Offset("JavaThread", "_anchor"), 0x38);
  EXPECT_EQ(structs.FieldType("JavaThread", "_anchor"), "JavaFrameAnchor");
  EXPECT_EQ(structs.Static("JavaThread", "_anchor"), nullptr) << "is none";
  EXPECT_EQ(structs.Static("Universe", "_heap"), &a_static);
  EXPECT_EQ(structs.Offset("Universe", "_heap"), std::nullopt) << "is static";
  EXPECT_EQ(structs.Offset("JavaThread", "_heap"), std::nullopt);
  EXPECT_EQ(structs.FieldType("JavaThread", "_heap"), "");
  EXPECT_EQ(structs.SizeOf("Method"), 88u);
  EXPECT_EQ(structs.SizeOf("Klass"), std::nullopt);
  EXPECT_EQ(structs.Constant("_thread_in_Java"), 8);
  EXPECT_EQ(structs.Constant("frame::arg"), -2);
  EXPECT_EQ(structs.Constant("frame::other"), std::nullopt);
}

TEST(VmStructsTest, EndsWhereATableDoes) {
  const auto read = MadeUpTables().Read();
  EXPECT_EQ(read.value().Offset("Beyond", "_end"), std::nullopt);
  EXPECT_EQ(read.value().SizeOf("Beyond"), std::nullopt);
  EXPECT_EQ(read.value().Constant("beyond"), std::nullopt);
}

TEST(VmStructsTest, KnowsWhatWasAskedFor) {
  auto read = MadeUpTables().Read();
  VmStructs& structs = read.value();
  (void)structs.Offset("JavaThread", "_anchor");
  (void)structs.Offset("JavaThread", "_none");
  (void)structs.SizeOf("Method");
  EXPECT_EQ(structs.Asked(), (std::map<std::string, bool>{{"JavaThread::_anchor", true},
                                                          {"JavaThread::_none", false},
                                                          {"sizeof(Method)", true}}));
  structs.Shift("JavaThread::_anchor", 8);
  structs.Shift("sizeof(Method)", -8);
  EXPECT_EQ(structs.Offset("JavaThread", "_anchor"), 0x40);
  EXPECT_EQ(structs.SizeOf("Method"), 80u);
}

TEST(VmStructsTest, IsNoHotSpotWithoutEachTable) {
  for (const char* table : {"gHotSpotVMStructs", "gHotSpotVMTypes", "gHotSpotVMIntConstants",
                            "gHotSpotVMStructEntryArrayStride"}) {
    MadeUpTables tables;
    tables.missing = table;
    EXPECT_THAT(tables.Read(), FailsWith(ExitCode::kUnable)) << table;
  }
}

// In a damaged core the entry that ends a table may be missing.
TEST(VmStructsTest, TablesWithoutAnEndAreReadUpToALimit) {
  MadeUpTables tables;
  tables.structs.assign(20001, tables.structs[0]);
  tables.structs[19999].field = "_last";
  tables.structs[20000].field = "_beyond";
  const auto read = Must(tables.Read());
  EXPECT_EQ(read.Offset("JavaThread", "_last"), 0x38);
  EXPECT_EQ(read.Offset("JavaThread", "_beyond"), std::nullopt);
  EXPECT_EQ(read.SizeOf("Method"), 88u);
}

TEST(StructReaderTest, TakesAFieldFromTheOtherType) {
  const auto structs = MadeUpTables().Read();
  StructReader read(structs.value());
  EXPECT_EQ(read.Need("JavaThread", "_stack_base", "Thread"), 0x40);
  EXPECT_EQ(read.Optional("JavaThread", "_anchor"), 0x38);
  EXPECT_EQ(read.Optional("JavaThread", "_none"), -1);
  EXPECT_EQ(read.NeedConstant("_thread_in_Java"), 8);
  EXPECT_EQ(read.NeedSize("Method"), 88);
  EXPECT_EQ(static_cast<void*>(read.NeedStatic("Universe", "_heap")), &a_static);
  EXPECT_TRUE(read.Complete().ok());
  EXPECT_EQ(read.Need("JavaThread", "_stack_base"), 0) << "Thread's, which nobody named";
  EXPECT_THAT(read.Complete(), FailsWith(testing::_, HasSubstr("JavaThread::_stack_base")));
  StructReader none(structs.value()), size(structs.value()), constant(structs.value());
  EXPECT_TRUE(none.Complete().ok());
  EXPECT_EQ(none.NeedStatic("JavaThread", "_anchor"), nullptr);
  EXPECT_FALSE(none.Complete().ok());
  EXPECT_EQ(size.NeedSize("ConstMethod"), 0);
  EXPECT_THAT(size.Complete(), FailsWith(testing::_, HasSubstr("sizeof(ConstMethod)")));
  EXPECT_EQ(constant.NeedConstant("frame::sender"), 0);
  EXPECT_THAT(constant.Complete(), FailsWith(testing::_, HasSubstr("frame::sender")));
}

}  // namespace
}  // namespace walkhammer
