// SPDX-License-Identifier: Apache-2.0
#include "harness/findings/crash_folder.h"

#include <gtest/gtest.h>

#include <csignal>

#include "harness/base/testing/fails_with.h"
#include "harness/request/scene_table.h"
#include "harness/request/text_form.h"
#include "harness/request/walker_table.h"
#include "harness/store/record_testing.h"

namespace walkhammer {
namespace {

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class CrashFolderTest : public testing::Test {
 protected:
  CrashFolderTest() : symbols_(NewSymbolTable()), symbolizer_(OwnModules()) {
    finding_ = NewFinding("crash", "fault");
    finding_->request = WalkRequest();
    finding_->sequence = 42;
    finding_->time_ms = 1500;
    finding_->presented = {0x7f0000001000, 0x7f0000002000, 0x7f0000003000, 0};
    finding_->fault.address = 0x10;
    SetField(finding_->detail, "signal 11 at 0x10");
    SetChain(*finding_, {0x99});
  }

  CrashCase Case() {
    CrashCase crash;
    crash.record = MakeFindingRecord(*finding_, symbolizer_, *symbols_, "x86_64");
    crash.raw = finding_.get();
    crash.request = &finding_->request;
    crash.symbols = symbols_.get();
    crash.jdk = "jdk (Vendor VM 25)";
    crash.replay_command = "walkhammer replay --jdk jdk run/input.walk";
    return crash;
  }

  uint32_t Named(SymbolKind kind, const char* name) { return symbols_->Intern(kind, name); }

  TemporaryFolder dir_;
  std::unique_ptr<SymbolTable> symbols_;
  Symbolizer symbolizer_;
  std::unique_ptr<RawFinding> finding_;
};

TEST_F(CrashFolderTest, WritesAnInputThatReadsBack) {
  finding_->request.edit_count = 1;
  finding_->request.edits[0].slot = 0x48;
  finding_->request.edits[0].value = {7, Named(SymbolKind::kCodelet, "return entry points")};
  CrashCase crash = Case();
  crash.jdk = "two\nlines";
  const Result<std::string> folder = WriteCrashFolder(dir_.path(), crash);
  ASSERT_TRUE(folder.ok()) << folder.failure().message;
  EXPECT_EQ(folder.value(), "crashes/" + BucketName(crash.record.signature));
  const std::string path = dir_.path() + "/" + folder.value();
  const std::string text = ReadFile(path + "/input.walk");
  EXPECT_TRUE(
      text.starts_with("# crash at unmapped pc\n# JDK: two lines\n"
                       "# replay: walkhammer replay --jdk jdk run/input.walk\nwalk 1\n"))
      << text;
  WalkFile file;
  ASSERT_EQ(ParseText(text, "input.walk", *symbols_, file), "");
  EXPECT_EQ(file.request, finding_->request);
  EXPECT_EQ(file.arch, "x86_64");
  EXPECT_EQ(MatchesExpect(file.expect, crash.record.signature), Match::kExact);
  EXPECT_FALSE(std::filesystem::exists(path + "/hs_err.log"));
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path)) files += entry.exists();
  EXPECT_EQ(files, 2u);  // no temporary files stay
}

TEST_F(CrashFolderTest, ReplacesFilesWhenTheFindingIsConfirmed) {
  CrashCase crash = Case();
  const std::string path = dir_.path() + "/" + WriteCrashFolder(dir_.path(), crash).value();
  EXPECT_TRUE(Contains(ReadFile(path + "/explain.txt"), "Confirmed  not replayed yet\n"));
  crash.confirmed = 2;
  crash.tries = 3;
  crash.hs_err_text = "# a log\n";
  ASSERT_TRUE(WriteCrashFolder(dir_.path(), crash).ok());
  EXPECT_TRUE(Contains(ReadFile(path + "/explain.txt"), "Confirmed  2 of 3 replays\n"));
  EXPECT_EQ(ReadFile(path + "/hs_err.log"), "# a log\n");
}

TEST_F(CrashFolderTest, FailsWhereItCannotWrite) {
  std::ofstream(dir_.Under("crashes")) << "in the way";
  EXPECT_THAT(WriteCrashFolder(dir_.path(), Case()),
              FailsWith(ExitCode::kToolFailed, testing::HasSubstr("cannot be written")));
  EXPECT_FALSE(WriteCrashFolder(dir_.Under("missing"), Case()).ok());
}

TEST_F(CrashFolderTest, AtomicWriteKeepsTheOldFileOnFailure) {
  ASSERT_TRUE(WriteFileAtomically(dir_.Under("x"), "old").ok());
  std::filesystem::create_directory(dir_.Under("x.tmp"));
  EXPECT_FALSE(WriteFileAtomically(dir_.Under("x"), "new").ok());
  EXPECT_EQ(ReadFile(dir_.Under("x")), "old");
  std::filesystem::create_directory(dir_.Under("folder"));
  EXPECT_FALSE(WriteFileAtomically(dir_.Under("folder"), "x").ok());
  EXPECT_FALSE(std::filesystem::exists(dir_.Under("folder.tmp")));
  const Status full = WriteFileAtomically("/dev/full/x", "x");
  EXPECT_FALSE(full.ok());
}

TEST_F(CrashFolderTest, ExplainsValuesInWords) {
  const auto words = [&](int64_t addend, uint32_t symbol) {
    return ExplainValue({addend, symbol, 0}, *symbols_);
  };
  EXPECT_EQ(words(16, 0), "the number 0x10");
  EXPECT_EQ(words(-1, 0), "the number 0xffffffffffffffff");
  EXPECT_EQ(words(0, SymbolTable::IdOf(SymbolKind::kPristine)), "the scene's own value");
  EXPECT_EQ(words(-8, SymbolTable::IdOf(SymbolKind::kPristine)),
            "0x8 bytes before the scene's own value");
  EXPECT_EQ(words(INT64_MIN, SymbolTable::IdOf(SymbolKind::kStack)),
            "0x8000000000000000 bytes before the top of the scene's Java stack");
  EXPECT_EQ(words(0x48, SymbolTable::IdOf(SymbolKind::kSlot)),
            "what the unchanged stack holds at stack+0x48");
  EXPECT_EQ(words(0x1c, Named(SymbolKind::kNmethod, "a.B.c()V")),
            "0x1c bytes after the first instruction of the compiled code of a.B.c()V");
  for (int kind = 0; kind < kSymbolKinds; kind++) {
    const uint32_t id = IsNamed(static_cast<SymbolKind>(kind))
                            ? Named(static_cast<SymbolKind>(kind), "some name")
                            : static_cast<uint32_t>(kind);
    EXPECT_FALSE(Contains(words(1, id), "unknown")) << kind;
    EXPECT_EQ(Contains(words(1, id), "some name"), IsNamed(static_cast<SymbolKind>(kind)));
  }
}

// In /tmp, a name that is known beforehand may be a link that somebody else has put there.
TEST_F(CrashFolderTest, AtomicWriteFollowsNoPlantedLink) {
  std::ofstream(dir_.Under("precious")) << "kept";
  std::filesystem::create_symlink(dir_.Under("precious"), dir_.Under("x.tmp"));
  ASSERT_TRUE(WriteFileAtomically(dir_.Under("x"), "new").ok());
  EXPECT_EQ(ReadFile(dir_.Under("precious")), "kept");
  EXPECT_EQ(ReadFile(dir_.Under("x")), "new");
  EXPECT_FALSE(std::filesystem::is_symlink(dir_.Under("x")));
  EXPECT_FALSE(std::filesystem::exists(dir_.Under("x.tmp")));
  // What a run left that was killed while it wrote.
  std::ofstream(dir_.Under("x.tmp")) << "a longer text than the new one";
  ASSERT_TRUE(WriteFileAtomically(dir_.Under("x"), "newer").ok());
  EXPECT_EQ(ReadFile(dir_.Under("x")), "newer");
}

TEST_F(CrashFolderTest, ExplainsRequestsInWords) {
  WalkRequest request;
  std::string text = ExplainRequest(request, *symbols_);
  EXPECT_TRUE(Contains(text, std::string(AllWalkers()[0].name) + ": " + AllWalkers()[0].what));
  EXPECT_TRUE(Contains(text, std::string(AllScenes()[0].name) + ": " + AllScenes()[0].what));
  EXPECT_TRUE(Contains(text, "in_Java: as if it ran Java code\n"));
  EXPECT_TRUE(Contains(text, "stack    unchanged\n"));
  EXPECT_TRUE(Contains(text, "anchor   cleared"));
  request.state = 99;
  request.anchor = AnchorMode::kCustom;
  request.anchor_fp = {3, 0, 0};
  request.options = 4;
  request.edit_count = 3;
  request.edits[0] = {8, EditOp::kSet, {}, {1, 0, 0}};
  request.edits[1] = {16, EditOp::kXor, {}, {2, 0, 0}};
  request.edits[2] = {24, EditOp::kAdd, {}, {3, 0, 0}};
  text = ExplainRequest(request, *symbols_);
  EXPECT_TRUE(Contains(text, "0x63: a thread state that HotSpot does not declare\n"));
  EXPECT_TRUE(Contains(text, "options  0x4\n"));
  EXPECT_TRUE(Contains(text, "  fp     the number 0x3\n"));
  EXPECT_TRUE(Contains(text, "the word at stack+0x8 becomes the number 0x1\n"));
  EXPECT_TRUE(Contains(text, "the word at stack+0x10 is XORed with the number 0x2\n"));
  EXPECT_TRUE(Contains(text, "the word at stack+0x18 is increased by the number 0x3\n"));
  request.edits[2].value.addend = -0x70;
  EXPECT_TRUE(Contains(ExplainRequest(request, *symbols_),
                       "the word at stack+0x18 is decreased by the number 0x70\n"));
}

TEST_F(CrashFolderTest, ExplainsACrash) {
  const std::string text = ExplainCase(Case());
  EXPECT_TRUE(text.starts_with("crash at unmapped pc\n\n")) << text;
  for (const char* part :
       {"Grade      Forbidden (crash/fault)\n", "Detail     signal 11 at 0x10\n",
        "Realism    genuine: ", "Seen       walk 42, 1.500 s into the run\n",
        "JDK        jdk (Vendor VM 25)\n", "Signature  crash SIGSEGV unmapped pc\n",
        "Replay     walkhammer replay --jdk jdk run/input.walk\n",
        "  pc 0x00007f0000001000  sp 0x00007f0000002000  fp 0x00007f0000003000\n",
        "  SIGSEGV, si_code 1: nothing is mapped at the address\n", "  address 0x10\n",
        "Native call chain, innermost first\n  unmapped pc\n", "  nothing: it crashed\n"})
    EXPECT_TRUE(Contains(text, part)) << part << "\nnot in\n" << text;
}

TEST_F(CrashFolderTest, ExplainsWhatWasReturned) {
  finding_ = NewFinding("truth", "wrong-frames");
  finding_->request = WalkRequest();
  finding_->num_frames = 2;
  finding_->kept_frames = 1;
  SetField(finding_->frame_text, "a.B.c()V @ 3");
  std::string text = ExplainCase(Case());
  EXPECT_TRUE(Contains(text, "  2 frames, of which the first 1 follow\n  a.B.c()V @ 3\n")) << text;
  EXPECT_FALSE(Contains(text, "Where the walker was"));
  finding_->num_frames = -5;
  const char* name = CodeName(AllWalkers()[0], -5);
  ASSERT_NE(name, nullptr);
  EXPECT_TRUE(Contains(ExplainCase(Case()), "  code -5 (" + std::string(name) + ")\n"));
  finding_->num_frames = -999;
  EXPECT_TRUE(Contains(ExplainCase(Case()), "  code -999 (not declared by this walker)\n"));
}

TEST_F(CrashFolderTest, ExplainsWhatIsOfNoWalk) {
  CrashCase crash;
  crash.record.oracle = "trace-request";
  const std::string text = ExplainCase(crash);
  EXPECT_TRUE(Contains(text, "of the whole program and not of one walk: there is no input"))
      << text;
  for (const char* of_a_death : {"is not known", "What the walker returned", "hs_err"})
    EXPECT_FALSE(Contains(text, of_a_death)) << text;
}

TEST_F(CrashFolderTest, ExplainsADeathWithAnUnknownKiller) {
  CrashCase crash;
  crash.record = MakeDeathRecord({SIGABRT, ""}, nullptr, *symbols_, 0, 0, "x86_64");
  const Result<std::string> folder = WriteCrashFolder(dir_.path(), crash);
  ASSERT_TRUE(folder.ok());
  const std::string path = dir_.path() + "/" + folder.value();
  EXPECT_FALSE(std::filesystem::exists(path + "/input.walk"));
  const std::string text = ReadFile(path + "/explain.txt");
  EXPECT_TRUE(Contains(text, "JVM death by signal 6")) << text;
  EXPECT_TRUE(Contains(text, "is not known, so there is no input to replay"));
  EXPECT_TRUE(Contains(text, "The JVM left no hs_err log.\n"));
}

TEST_F(CrashFolderTest, ExplainsADamagedChild) {
  std::memset(static_cast<void*>(finding_.get()), 0xff, sizeof(RawFinding));
  EXPECT_TRUE(WriteCrashFolder(dir_.path(), Case()).ok());
}

}  // namespace
}  // namespace walkhammer
