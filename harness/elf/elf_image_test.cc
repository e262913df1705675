// SPDX-License-Identifier: Apache-2.0
// Functions of this test's own file: their extents, code and data, vtables, pointers.
#include "harness/elf/elf_image.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "harness/base/testing/fails_with.h"

// Assembly, as in HotSpot, states no size; two names at one address.
asm(R"(
  .text
  .balign 16
  .globl wh_image_unsized
  .type wh_image_unsized, %function
wh_image_unsized:
  nop
  nop
  nop
  nop
  .globl wh_image_alias
  .type wh_image_alias, %function
wh_image_alias:
  .globl wh_image_sized
  .type wh_image_sized, %function
wh_image_sized:
  nop
  nop
  nop
  nop
  .size wh_image_sized, . - wh_image_sized
  .globl wh_image_too_long
  .type wh_image_too_long, %function
wh_image_too_long:
  nop
  nop
  .globl wh_image_last
  .type wh_image_last, %function
wh_image_last:
  nop
  nop
  .size wh_image_last, . - wh_image_last
  .size wh_image_too_long, . - wh_image_too_long
)");

extern "C" int wh_image_data;
int wh_image_data = 7;

namespace walkhammer {
namespace {

constexpr uint64_t kNopBytes =
#if defined(__aarch64__)
    4;
#else
    1;
#endif

struct Virtual {
  virtual ~Virtual() = default;
  virtual int One() { return 1; }
};

class ElfImageTest : public testing::Test {
 protected:
  static const ElfImage& Own() {
    static Result<ElfImage>& image = *new auto(ElfImage::Open("/proc/self/exe"));
    EXPECT_TRUE(image.ok());
    return image.value();
  }
  static ElfImage::Symbol Named(const char* name) {
    const ElfImage::Symbol* found = Own().FunctionNamed(name);
    EXPECT_NE(found, nullptr) << name;
    return found == nullptr ? ElfImage::Symbol{} : *found;
  }
};

TEST_F(ElfImageTest, AFunctionWithoutASizeEndsWhereTheNextBegins) {
  const auto unsized = Named("wh_image_unsized"), sized = Named("wh_image_sized");
  EXPECT_EQ(unsized.size, 4 * kNopBytes);
  EXPECT_TRUE(unsized.runs_on);
  EXPECT_EQ(unsized.end(), sized.address);
  EXPECT_EQ(sized.size, 4 * kNopBytes);
  EXPECT_FALSE(sized.runs_on);
}

TEST_F(ElfImageTest, AFunctionDoesNotReachIntoTheNext) {
  const auto too_long = Named("wh_image_too_long");
  EXPECT_EQ(too_long.size, 2 * kNopBytes);
  EXPECT_TRUE(too_long.runs_on);
  EXPECT_EQ(too_long.end(), Named("wh_image_last").address);
}

TEST_F(ElfImageTest, OfSeveralNamesTheLargestFunctionIsKept) {
  EXPECT_EQ(Named("wh_image_alias").name, "wh_image_sized");
}

TEST_F(ElfImageTest, FunctionsAreFoundByTheirAddresses) {
  const auto sized = Named("wh_image_sized");
  EXPECT_EQ(Own().FunctionAt(sized.address)->name, "wh_image_sized");
  EXPECT_EQ(Own().FunctionAt(sized.end() - 1)->name, "wh_image_sized");
  EXPECT_EQ(Own().FunctionAt(sized.end())->name, "wh_image_too_long");
  EXPECT_EQ(Own().FunctionAt(sized.address - 1)->name, "wh_image_unsized");
  EXPECT_EQ(Own().FunctionAt(0), nullptr);
  EXPECT_EQ(Own().FunctionAt(UINT64_MAX), nullptr);
  EXPECT_EQ(Own().FunctionNamed("wh_image_data"), nullptr);
}

TEST_F(ElfImageTest, FunctionsAreInOrderAndApart) {
  uint64_t end = 0;
  for (const ElfImage::Symbol& function : Own().functions()) {
    ASSERT_GE(function.address, end) << function.name;
    ASSERT_GT(function.size, 0u) << function.name;
    ASSERT_TRUE(Own().IsCode(function.address)) << function.name;
    end = function.end();
  }
}

TEST_F(ElfImageTest, CodeIsToldFromOtherBytes) {
  const auto sized = Named("wh_image_sized");
  EXPECT_TRUE(Own().IsCode(sized.address));
  const auto bytes = Own().Bytes(sized.address);
  ASSERT_GE(bytes.size(), sized.size);
  EXPECT_EQ(std::memcmp(bytes.data(), Own().Bytes(sized.address + kNopBytes).data(), kNopBytes), 0)
      << "nops";
  EXPECT_FALSE(Own().IsCode(0));
  EXPECT_FALSE(Own().IsCode(UINT64_MAX));
  EXPECT_TRUE(Own().Bytes(UINT64_MAX).empty());
}

TEST_F(ElfImageTest, VtablesLeadToFunctions) {
  delete new Virtual;
  const ElfImage::Symbol* mine = nullptr;
  for (const ElfImage::Symbol& vtable : Own().vtables())
    if (vtable.name.find("walkhammer") != std::string_view::npos &&
        vtable.name.find("Virtual") != std::string_view::npos)
      mine = &vtable;
  ASSERT_NE(mine, nullptr);
  EXPECT_FALSE(Own().IsCode(mine->address));
  // After offset to top and type information come two destructors and One; sanitizers add bytes.
  ASSERT_GE(mine->size, 40u);
  for (const uint64_t slot : {16, 24, 32})
    EXPECT_NE(Own().FunctionAt(Own().PointerAt(mine->address + slot)), nullptr) << slot;
}

TEST(ElfImage, RefusesWhatIsNoElfFile) {
  for (const char* path : {"/no/such/file", "/proc/self/status", "/"})
    EXPECT_THAT(ElfImage::Open(path), FailsWith(ExitCode::kBadInput)) << path;
}

}  // namespace
}  // namespace walkhammer
