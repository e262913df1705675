// SPDX-License-Identifier: Apache-2.0
// The folder of bugs: what is read, refused, written, and who may write.
#include "harness/bugs/bug_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include "harness/base/files.h"
#include "harness/base/testing/fails_with.h"
#include "harness/base/testing/temporary_folder.h"

namespace walkhammer {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kWalk[] = "walk 1\nwalker agct\nscene c2\nstate in_Java\npc 0x5\n";

class BugStoreTest : public ::testing::Test {
 protected:
  void SetUp() override { alarm(60); }  // of a FIFO, that nobody writes to
  void TearDown() override { alarm(0); }

  void Write(const std::string& name, const std::string& text) const {
    temp_.Write("bugs/" + name, text);
  }
  static std::string Open(const std::string& more = "state = 'open'\n") {
    return "title = 't'\nsignatures = ['s']\n" + more;
  }
  void ExpectRefused(const std::string& part) const {
    const auto before = Files();
    for (const auto open : {&BugStore::Read, &BugStore::Change})
      EXPECT_THAT(open(dir()), FailsWith(ExitCode::kBadInput, HasSubstr(part)));
    EXPECT_EQ(Files(), before);
  }
  BugStore Read() const { return Must(BugStore::Read(dir())); }
  BugStore Change() const { return Must(BugStore::Change(dir())); }
  // Content by name.
  std::map<std::string, std::string> Files() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::directory_iterator(dir()))
      files[entry.path().filename()] = entry.is_regular_file() ? ReadFile(entry.path()) : "";
    return files;
  }
  std::string dir() const { return temp_.Under("bugs"); }

 private:
  TemporaryFolder temp_;
};

Bug Small(const std::string& id) {
  Bug bug;
  bug.id = id;
  bug.title = "t";
  bug.signatures = {"s"};
  return bug;
}

TEST_F(BugStoreTest, IsReadAsItWasSaved) {
  {
    BugStore store = Change();
    Bug bug = Small("a");
    bug.walk = kWalk;
    store.Add(bug);
    store.Add(Small("b"));
    EXPECT_EQ(store.Add(Small("a")).id, "a-2");
    EXPECT_EQ(store.Add(Small("a")).id, "a-3");
    ASSERT_TRUE(store.Save().ok());
  }
  Write("README", "no bug");
  const BugStore read = Read();
  ASSERT_EQ(read.bugs().size(), 4U);
  EXPECT_EQ(read.bugs().at("a").walk, kWalk);
  EXPECT_EQ(read.bugs().at("b").walk, "");
  EXPECT_FALSE(Files().contains(".lock"));
  for (const auto& [name, text] : Files()) EXPECT_FALSE(name.ends_with(".tmp")) << name;
}

TEST_F(BugStoreTest, WhatDidNotChangeIsNotWritten) {
  const std::string by_hand = "# mine\n" + Open();
  Write("a.toml", by_hand);
  Write("b.toml", by_hand);
  BugStore store = Change();
  store.Find("b").value()->notes = "new";
  ASSERT_TRUE(store.Save().ok());
  EXPECT_EQ(Files()["a.toml"], by_hand);
  EXPECT_THAT(Files()["b.toml"], HasSubstr("notes = \"new\""));
}

TEST_F(BugStoreTest, ABrokenStoreIsNotRead) {
  Write("a.toml", Open());
  Write("b.toml", Open("state = 'opne'\n"));
  ExpectRefused("/b.toml:3: state must be");
  Write("b.toml", Open("state = 'duplicate'\nduplicate-of = 'c'\n"));
  ExpectRefused("/b.toml:4: there is no bug \"c\"");
  Write("b.toml", Open("state = 'open'\nlike = 'c'\n"));
  ExpectRefused("/b.toml:4: there is no bug \"c\"");
  Write("b.toml", Open("state = 'duplicate'\nduplicate-of = 'a'\n"));
  Write("a.toml", Open("state = 'duplicate'\nduplicate-of = 'b'\n"));
  ExpectRefused("/a.toml:4: a is, over other bugs, a duplicate of itself");
  Write("a.toml", Open());
  EXPECT_TRUE(BugStore::Read(dir()).ok());
  Write("b.walk", "walk 1\nnonsense\n");
  ExpectRefused("/b.walk:2:");
  fs::remove(dir() + "/b.walk");
  Write("-b.toml", Open());
  ExpectRefused("-b.toml: a bug's file must have a name");
}

TEST_F(BugStoreTest, ReadsTheRequestsThatABugNames) {
  Write("x.walk", kWalk);
  Write("a.toml", Open("state = 'open'\nrequests = ['x.walk']\n"));
  const BugStore read = Read();
  EXPECT_THAT(read.bugs().at("a").texts, ElementsAre(kWalk));
  Write("a.toml", Open("state = 'open'\nrequests = ['x.walk', '../y.walk']\n"));
  ExpectRefused("/a.toml:4: there is no request \"../y.walk\"");
  Write("x.walk", "walk 1\nnonsense\n");
  ExpectRefused("/x.walk:2:");
}

TEST_F(BugStoreTest, HarmfulFilesAreRefused) {
  Write("a.toml", Open() + std::string((1 << 20) + 1, '\n'));
  ExpectRefused("a.toml is larger than 1 MiB");
  fs::remove(dir() + "/a.toml");
  ASSERT_EQ(mkfifo((dir() + "/a.toml").c_str(), 0600), 0);
  ExpectRefused("a.toml as part of a store of bugs: it is not a regular file");
  fs::remove(dir() + "/a.toml");
  Write("a.toml", Open());
  ASSERT_EQ(mkfifo((dir() + "/a.walk").c_str(), 0600), 0);
  ExpectRefused("a.walk as part of a store of bugs: it is not a regular file");
  fs::remove(dir() + "/a.walk");
  Write("a.toml", "title = 'x\xff'\n");
  ExpectRefused("/a.toml:1:");
}

TEST_F(BugStoreTest, AFolderThatIsNotThereIsMadeOnlyToChangeIt) {
  EXPECT_THAT(BugStore::Read(dir()), FailsWith(testing::_, HasSubstr("cannot be read")));
  EXPECT_FALSE(fs::exists(dir()));
  EXPECT_TRUE(BugStore::Change(dir()).ok());
  EXPECT_TRUE(fs::exists(dir()));
  EXPECT_FALSE(BugStore::Change(dir() + "/of/many").ok());
}

TEST_F(BugStoreTest, OneAtATimeMayChangeIt) {
  {
    const auto one = Must(BugStore::Change(dir()));
    EXPECT_THAT(BugStore::Change(dir()),
                FailsWith(ExitCode::kBadInput, HasSubstr("another process is changing it")));
    EXPECT_TRUE(BugStore::Read(dir()).ok());
  }
  EXPECT_TRUE(BugStore::Change(dir()).ok());
}

TEST_F(BugStoreTest, TheLockOfAKilledProcessDoesNotLast) {
  const pid_t pid = fork();
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    const auto store = BugStore::Change(dir());
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(fs::exists(dir() + "/.lock"));
  EXPECT_TRUE(BugStore::Change(dir()).ok());
}

TEST_F(BugStoreTest, WhatAnEditorSavedMeanwhileIsNotOverwritten) {
  Write("a.toml", Open());
  Write("b.toml", Open());
  BugStore store = Change();
  for (const char* id : {"a", "b"}) store.Find(id).value()->notes = "new";
  Write("b.toml", Open("state = 'fixed'\nfixed-in = '17'\n"));
  store.Add(Small("c"));
  EXPECT_THAT(store.Save(),
              FailsWith(testing::_, HasSubstr("/b.toml: was changed by somebody else")));
  EXPECT_EQ(Files()["a.toml"], Open());
  EXPECT_FALSE(Files().contains("c.toml"));
}

TEST_F(BugStoreTest, BrokenLinksAreNotSaved) {
  Write("a.toml", Open());
  BugStore store = Change();
  Bug& bug = *store.Find("a").value();
  bug.state = BugState::kDuplicate;
  bug.duplicate_of = "b";
  EXPECT_FALSE(store.Save().ok());
  EXPECT_EQ(Files()["a.toml"], Open());
  EXPECT_THAT(store.Find("aa").failure().message, HasSubstr("did you mean a?"));
}

TEST_F(BugStoreTest, ADuplicateOfADuplicateHasOneRoot) {
  Write("a.toml", Open());
  Write("b.toml", Open("state = 'duplicate'\nduplicate-of = 'a'\n"));
  Write("c.toml", Open("state = 'duplicate'\nduplicate-of = 'b'\n"));
  const BugStore store = Read();
  for (const char* id : {"a", "b", "c"}) EXPECT_EQ(store.Root(store.bugs().at(id)).id, "a");
}

}  // namespace
}  // namespace walkhammer
