// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/provider.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "harness/base/testing/fails_with.h"
#include "harness/base/testing/temporary_folder.h"
#include "harness/request/walker_table.h"

namespace walkhammer {
namespace {

using ::testing::ElementsAre, ::testing::HasSubstr;

std::string NameOf(const Result<int>& walker) {
  if (!walker.ok()) return walker.failure().message;
  return AllWalkers()[static_cast<size_t>(walker.value())].name;
}

TEST(Provider, ChoosesAmongTheWalkersOfOneName) {
  const ProviderChoice none, jdk{"jdk", ""}, ref{"ref", ""};
  EXPECT_EQ(NameOf(WalkerNamed("asgst", none)), "asgst");
  EXPECT_EQ(NameOf(WalkerNamed("asgst", ref)), "asgst");
  EXPECT_EQ(NameOf(WalkerNamed("asgst", jdk)), "asgst@jdk");
  EXPECT_EQ(NameOf(WalkerNamed("asgst@jdk", jdk)), "asgst@jdk");
  EXPECT_EQ(NameOf(WalkerNamed("agct", jdk)), "agct");
  EXPECT_THAT(NameOf(WalkerNamed("agct", ref)), HasSubstr("comes from provider jdk"));
  EXPECT_THAT(NameOf(WalkerNamed("asgst@ref", jdk)), HasSubstr("comes from provider ref"));
  EXPECT_THAT(NameOf(WalkerNamed("asgst@jdk", ref)), HasSubstr("comes from provider jdk"));
  EXPECT_THAT(NameOf(WalkerNamed("asgts", jdk)), HasSubstr("there is no walker"));
}

TEST(Provider, ALibraryIsProviderJdk) {
  const std::string self = std::filesystem::canonical("/proc/self/exe");
  auto library = ProviderNamed(self);
  ASSERT_TRUE(library.ok()) << library.failure().message;
  EXPECT_EQ(library.value().library, self);
  const int asgst = WalkerNamed("asgst", library.value()).value();
  EXPECT_STREQ(AllWalkers()[static_cast<size_t>(asgst)].name, "asgst@jdk");
  EXPECT_EQ(ProviderOf(asgst, library.value()), self);
  EXPECT_TRUE(CheckUses(asgst, library.value()).ok());
  EXPECT_EQ(NameOf(WalkerNamed("asgst@ref", library.value())), "asgst");
  const int agct = WalkerNamed("agct", library.value()).value();
  EXPECT_EQ(ProviderOf(agct, library.value()), "jdk");
  EXPECT_FALSE(CheckUses(agct, library.value()).ok());
  EXPECT_EQ(ProviderLibraryNamed(self).value(), self);
  EXPECT_EQ(ProviderLibraryNamed("").value(), "");
}

TEST(Provider, APluginNamesItsLibrary) {
  std::vector<std::string> walkers = {"asgst,plugin:./a.so", "agct"};
  EXPECT_EQ(TakePlugin(walkers, "").value(), "./a.so");
  EXPECT_THAT(walkers, ElementsAre("asgst@ref,plugin", "agct@jdk"));
  walkers = {"plugin"};
  EXPECT_EQ(TakePlugin(walkers, "./b.so").value(), "./b.so");
  walkers = {"agct"};
  EXPECT_EQ(TakePlugin(walkers, "ref").value(), "ref");
  EXPECT_THAT(walkers, ElementsAre("agct"));
  walkers = {"plugin:./a.so,plugin:./b.so"};
  EXPECT_THAT(TakePlugin(walkers, ""), FailsWith(ExitCode::kBadInput, HasSubstr("one library")));
  walkers = {"plugin:./a.so"};
  EXPECT_THAT(TakePlugin(walkers, "ref"), FailsWith(ExitCode::kBadInput, HasSubstr("one library")));
  for (const char* name : {"plugin:", "plugin:mine"}) {
    walkers = {name};
    EXPECT_THAT(TakePlugin(walkers, ""),
                FailsWith(ExitCode::kBadInput, HasSubstr("must name a library")));
  }
}

TEST(Provider, RefusesWhatIsNone) {
  const TemporaryFolder folder;
  const std::string text = folder.Write("text.so", "not a library");
  for (const auto& [given, reason] :
       {std::pair<std::string, std::string>{"jkd", "must be jdk, ref"},
        {"./none.so", "there is no library"},
        {"none.so", "there is no library"},
        {"/", "there is no library"},
        {text, "is not a library"}}) {
    EXPECT_THAT(ProviderNamed(given), FailsWith(ExitCode::kBadInput, HasSubstr(reason))) << given;
  }
  EXPECT_THAT(ProviderLibraryNamed("jdk").failure().message,
              HasSubstr("--library must be the path"));
}

}  // namespace
}  // namespace walkhammer
