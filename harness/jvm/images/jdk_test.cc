// SPDX-License-Identifier: Apache-2.0
#include "harness/jvm/images/jdk.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "harness/base/testing/fails_with.h"
#include "harness/base/testing/scoped_variable.h"
#include "harness/base/testing/temporary_folder.h"
#include "harness/jvm/images/jdk_choice.h"

namespace walkhammer {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

struct Symbol {
  const char* name;
  bool defined = true;
};

struct FakeElf {
  uint16_t machine = 0;  // e_machine; 0: this machine's
  std::vector<Symbol> dynamic = {{"AsyncGetCallTrace"}, {"JNI_CreateJavaVM"}};
  bool symtab = true;
  std::string build_id = "\x12\x34\xab";
};

uint16_t HostMachine() {
  std::ifstream self("/proc/self/exe", std::ios::binary);
  Elf64_Ehdr header;
  self.read(reinterpret_cast<char*>(&header), sizeof header);
  return header.e_machine;
}

template <typename T>
std::string Bytes(const T& object) {
  return std::string(reinterpret_cast<const char*>(&object), sizeof object);
}

// A shared object that has sections only, enough for a reader of symbols.
std::string Make(const FakeElf& fake) {
  constexpr char kNames[] = "\0.dynstr\0.dynsym\0.note.gnu.build-id\0.symtab\0.shstrtab";
  const std::string names(kNames, sizeof kNames);
  const auto name_at = [&](const char* name) { return static_cast<uint32_t>(names.find(name)); };
  std::string strings(1, '\0');
  std::string symbols = Bytes(Elf64_Sym{});
  for (const Symbol& symbol : fake.dynamic) {
    Elf64_Sym entry = {};
    entry.st_name = static_cast<uint32_t>(strings.size());
    entry.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    entry.st_shndx = symbol.defined ? 1 : static_cast<uint16_t>(SHN_UNDEF);
    strings += symbol.name;
    strings += '\0';
    symbols += Bytes(entry);
  }
  const Elf64_Nhdr note = {4, static_cast<uint32_t>(fake.build_id.size()), NT_GNU_BUILD_ID};
  std::string note_bytes = Bytes(note) + std::string("GNU\0", 4) + fake.build_id;
  note_bytes.resize((note_bytes.size() + 3) / 4 * 4);

  std::string file = Bytes(Elf64_Ehdr{});
  std::string sections = Bytes(Elf64_Shdr{});
  uint16_t count = 1;
  const auto add = [&](const char* name, uint32_t type, const std::string& data, uint32_t link,
                       uint64_t entry_size) {
    Elf64_Shdr header = {};
    header.sh_name = name_at(name);
    header.sh_type = type;
    header.sh_offset = file.size();
    header.sh_size = data.size();
    header.sh_link = link;
    header.sh_entsize = entry_size;
    header.sh_addralign = 4;
    file += data;
    file.resize((file.size() + 7) / 8 * 8);
    sections += Bytes(header);
    count++;
  };
  add(".dynstr", SHT_STRTAB, strings, 0, 0);
  add(".dynsym", SHT_DYNSYM, symbols, 1, sizeof(Elf64_Sym));
  if (!fake.build_id.empty()) add(".note.gnu.build-id", SHT_NOTE, note_bytes, 0, 0);
  if (fake.symtab) add(".symtab", SHT_SYMTAB, symbols, 1, sizeof(Elf64_Sym));
  add(".shstrtab", SHT_STRTAB, names, 0, 0);

  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = fake.machine != 0 ? fake.machine : HostMachine();
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_shoff = file.size();
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = count;
  header.e_shstrndx = static_cast<uint16_t>(count - 1);
  file.replace(0, sizeof header, Bytes(header));
  return file + sections;
}

class JdkTest : public ::testing::Test {
 protected:
  // Makes a JDK tree in the temporary folder. Returns its home.
  fs::path Tree(const std::string& name, const FakeElf& elf, const std::string& release = "") {
    const fs::path home = root_ / name;
    Write(home / "lib/server/libjvm.so", Make(elf));
    Write(home / "bin/java", "");
    fs::permissions(home / "bin/java", fs::perms::owner_all);
    if (!release.empty()) Write(home / "release", release);
    return home;
  }

  void Write(const fs::path& path, const std::string& content) const {
    folder_.Write(path.lexically_relative(root_), content);
  }
  static void ExpectFailure(const Result<Jdk>& jdk, ExitCode code, const std::string& part) {
    EXPECT_THAT(jdk, FailsWith(code, AllOf(HasSubstr(part), Not(HasSubstr("\n")))));
  }

  TemporaryFolder folder_;
  const fs::path root_ = folder_.path();
};

TEST_F(JdkTest, OpensHomeLauncherAndLibraryAlike) {
  const fs::path home = Tree("jdk", {},
                             "IMPLEMENTOR=\"Somebody\"\nJAVA_VERSION=\"21.0.4\"\n"
                             "JAVA_RUNTIME_VERSION=\"21.0.4+7-LTS\"\n");
  fs::create_symlink(home / "bin/java", root_ / "java-link");
  fs::create_directory_symlink(home, root_ / "home-link");
  for (const fs::path& path : {home, home / "bin/java", home / "lib/server/libjvm.so",
                               root_ / "java-link", root_ / "home-link", home / ""}) {
    const Jdk jdk = Must(OpenJdk(path));
    EXPECT_EQ(jdk.home, home);
    EXPECT_EQ(jdk.libjvm, home / "lib/server/libjvm.so");
    EXPECT_EQ(jdk.vendor, "Somebody");
    EXPECT_EQ(jdk.version, "21.0.4+7-LTS");
    EXPECT_EQ(jdk.feature, 21);
    EXPECT_EQ(jdk.build_id, "1234ab");
    EXPECT_TRUE(jdk.has_symtab);
    EXPECT_FALSE(jdk.stripped);
    EXPECT_EQ(jdk.debug_file, "");
  }
}

TEST_F(JdkTest, OnlyAPairOfQuotesIsTakenOffWhatTheReleaseFileSays) {
  const std::pair<const char*, const char*> lines[] = {{"\"Some body\"", "Some body"},
                                                       {"Somebody", "Somebody"},
                                                       {"\"Somebody", "\"Somebody"},
                                                       {"Somebody\"", "Somebody\""},
                                                       {"\"", "\""}};
  int number = 0;
  for (const auto& [value, vendor] : lines) {
    const std::string name = "jdk" + std::to_string(number++);
    EXPECT_EQ(Must(OpenJdk(Tree(name, {}, "IMPLEMENTOR=" + std::string(value) + "\n"))).vendor,
              vendor);
  }
}

TEST_F(JdkTest, ListsOnlyDefinedExportsOfInterest) {
  const fs::path home = Tree("jdk", {.dynamic = {{"JNI_CreateJavaVM"},
                                                 {"AsyncGetCallTrace"},
                                                 {"ASGST_NextFrame"},
                                                 {"JFRLL_Enqueue"},
                                                 {"AsyncGetStackTrace", false},
                                                 {"gHotSpotVMStructs"},
                                                 {"gHotSpotVMStructsOther"},
                                                 {"malloc", false},
                                                 {"JVM_handle_linux_signal"}}});
  const Jdk jdk = Must(OpenJdk(home));
  EXPECT_THAT(jdk.exported,
              ElementsAre("ASGST_NextFrame", "AsyncGetCallTrace", "JFRLL_Enqueue",
                          "JNI_CreateJavaVM", "JVM_handle_linux_signal", "gHotSpotVMStructs"));
  EXPECT_TRUE(jdk.Exports("gHotSpotVMStructs"));
  EXPECT_FALSE(jdk.Exports("AsyncGetStackTrace"));
}

TEST_F(JdkTest, WithoutReleaseFileAsksTheLibrary) {
  const fs::path home = Tree("jdk", {});
  EXPECT_EQ(Must(OpenJdk(home)).version, "unknown");
  EXPECT_EQ(Must(OpenJdk(home)).vendor, "unknown");
  EXPECT_EQ(Must(OpenJdk(home)).feature, 0);
  std::ofstream(home / "lib/server/libjvm.so", std::ios::app)
      << "OpenJDK Server VM (26-internal) for linux-x JRE (26-internal-adhoc), built on";
  EXPECT_EQ(Must(OpenJdk(home)).version, "26-internal-adhoc");
  EXPECT_EQ(Must(OpenJdk(home)).feature, 26);
}

TEST_F(JdkTest, StrippedLibraryAndItsDebugFile) {
  const fs::path home = Tree("jdk", {.symtab = false});
  const fs::path debug = home / "lib/server/libjvm.debuginfo";
  EXPECT_TRUE(Must(OpenJdk(home)).stripped);
  EXPECT_FALSE(Must(OpenJdk(home)).has_symtab);
  Write(debug, Make({.build_id = "other"}));
  EXPECT_FALSE(Must(OpenJdk(home)).has_symtab) << "took symbols of another build";
  Write(debug, Make({}));
  EXPECT_EQ(Must(OpenJdk(home)).debug_file, debug);
  EXPECT_TRUE(Must(OpenJdk(home)).has_symtab);
  EXPECT_TRUE(Must(OpenJdk(home)).stripped);
}

TEST_F(JdkTest, RefusesWhatIsNoJdk) {
  Write(root_ / "file", "text");
  fs::create_directories(root_ / "empty");
  Write(root_ / "bin/java", "");
  ExpectFailure(OpenJdk(root_ / "nowhere"), ExitCode::kBadInput, "No such file");
  ExpectFailure(OpenJdk(""), ExitCode::kBadInput, "cannot open the JDK \"\"");
  ExpectFailure(OpenJdk(root_ / "empty"), ExitCode::kBadInput, "it has no lib/server/libjvm.so");
  ExpectFailure(OpenJdk(root_ / "file"), ExitCode::kBadInput, "neither a JDK home");
  ExpectFailure(OpenJdk(root_ / "bin/java"), ExitCode::kBadInput, "does not belong to a JDK");
  ExpectFailure(OpenJdk("/dev/null"), ExitCode::kBadInput, "neither a JDK home");
}

TEST_F(JdkTest, RefusesDamagedLibraries) {
  const fs::path home = Tree("jdk", {});
  const fs::path libjvm = home / "lib/server/libjvm.so";
  const auto size = fs::file_size(libjvm);
  for (const uintmax_t cut : {size - 1, size / 2, uintmax_t{70}, uintmax_t{64}}) {
    fs::resize_file(libjvm, cut);
    ExpectFailure(OpenJdk(home), ExitCode::kBadInput, "is truncated");
  }
  for (const uintmax_t cut : {uintmax_t{30}, uintmax_t{4}, uintmax_t{1}, uintmax_t{0}}) {
    fs::resize_file(libjvm, cut);
    ExpectFailure(OpenJdk(home), ExitCode::kBadInput, "is not an ELF file");
  }
  Write(libjvm, "#!/bin/sh\n");
  ExpectFailure(OpenJdk(home), ExitCode::kBadInput, "is not an ELF file");
}

TEST_F(JdkTest, SurvivesFlippedBytes) {
  const fs::path home = Tree("jdk", {});
  const std::string good = Make({});
  for (size_t i = 0; i < good.size(); i++) {
    for (const char mask : {'\x01', '\x80', '\xff'}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ mask);
      Write(home / "lib/server/libjvm.so", bad);
      const Result<Jdk> jdk = OpenJdk(home);
      EXPECT_TRUE(jdk.ok() || !jdk.failure().message.empty());
    }
  }
}

TEST_F(JdkTest, RefusesOtherArchitectures) {
  const bool on_arm = HostMachine() == EM_AARCH64;
  const uint16_t other = on_arm ? EM_X86_64 : EM_AARCH64;
  ExpectFailure(OpenJdk(Tree("other", {.machine = other})), ExitCode::kUnable,
                on_arm ? "it is for x86_64, this machine is aarch64, and no folder above it"
                       : "it is for aarch64, this machine is x86_64, and no folder above it");
  ExpectFailure(OpenJdk(Tree("odd", {.machine = 0x1234})), ExitCode::kUnable,
                "it is for ELF machine 4660");
}

TEST_F(JdkTest, RefusesLibrariesWithoutTheWalker) {
  ExpectFailure(OpenJdk(Tree("none", {.dynamic = {{"JNI_CreateJavaVM"}}})), ExitCode::kUnable,
                "exports no AsyncGetCallTrace");
  ExpectFailure(OpenJdk(Tree("undefined", {.dynamic = {{"AsyncGetCallTrace", false}}})),
                ExitCode::kUnable, "exports no AsyncGetCallTrace");
  EXPECT_TRUE(OpenAnyJvm(root_ / "none").ok());
}

TEST_F(JdkTest, FindsNamedJdksOnceAndSorted) {
  const fs::path a = Tree("a", {}, "JAVA_VERSION=\"9999.1\"\n");
  const fs::path b = Tree("b", {}, "JAVA_VERSION=\"9998\"\n");
  const fs::path c = Tree("c", {}, "JAVA_VERSION=\"10000\"\n");
  fs::create_directory_symlink(a, root_ / "a-again");
  const ScopedVariable jdk("WALKHAMMER_JDK", a);
  const ScopedVariable java_home("JAVA_HOME", root_ / "a-again");
  const ScopedVariable path("PATH",
                            "/nowhere::" + (b / "bin").string() + ":" + (c / "bin").string());
  std::vector<Failure> unusable;
  const std::vector<Jdk> found = FindJdks(&unusable);
  ASSERT_GE(found.size(), 2u);
  EXPECT_EQ(found[found.size() - 2].home, b) << "the first java on PATH";
  EXPECT_EQ(found[found.size() - 1].home, a);
  for (size_t i = 0; i < found.size(); i++) {
    for (size_t j = i + 1; j < found.size(); j++) {
      EXPECT_NE(found[i].libjvm, found[j].libjvm);
      EXPECT_LE(found[i].feature, found[j].feature);
    }
  }
}

TEST_F(JdkTest, AFolderOfJdksIsSortedByVersion) {
  const FakeElf elf = {.dynamic = {{"AsyncGetCallTrace"}, {"gHotSpotVMStructs"}}};
  const fs::path newer = Tree("a", elf, "JAVA_VERSION=\"17.0.10\"\n");
  const fs::path older = Tree("b", elf, "JAVA_VERSION=\"17.0.9\"\n");
  const fs::path oldest = Tree("c", elf, "JAVA_VERSION=\"11.0.30\"\n");
  EXPECT_THAT(
      Must(JdksIn(root_, nullptr)),
      ElementsAre(Field(&Jdk::home, oldest), Field(&Jdk::home, older), Field(&Jdk::home, newer)));
}

TEST_F(JdkTest, WhatIsNewerThanAllKnownIsNoDefault) {
  const FakeElf elf = {.dynamic = {{"AsyncGetCallTrace"}, {"gHotSpotVMStructs"}}};
  const std::string newest = std::to_string(kNewestFeature);
  const fs::path unknown = Tree("unknown", elf, "JAVA_VERSION=\"9999\"\n");
  const fs::path known = Tree("known", elf, "JAVA_VERSION=\"" + newest + ".0.1\"\n");
  const ScopedVariable jdk("WALKHAMMER_JDK", unknown);
  const ScopedVariable java_home("JAVA_HOME", known);
  const ScopedVariable path("PATH", "");
  EXPECT_EQ(FindJdks().back().home, unknown);
  EXPECT_EQ(NewestJdk().value().feature, kNewestFeature);
  EXPECT_EQ(DefaultJdk().value().home, unknown);  // WALKHAMMER_JDK names this JDK
}

TEST_F(JdkTest, TheDefaultOfALineIsItsNewest) {
  const FakeElf elf = {.dynamic = {{"AsyncGetCallTrace"}, {"gHotSpotVMStructs"}}};
  const fs::path older = Tree("older", elf, "JAVA_VERSION=\"9997.0.9\"\n");
  const fs::path newer = Tree("newer", elf, "JAVA_VERSION=\"9997.0.10\"\n");
  const FakeElf without = {.dynamic = {{"AsyncGetCallTrace"}}};
  const fs::path unusable = Tree("unusable", without, "JAVA_VERSION=\"9997.0.11\"\n");
  {
    const ScopedVariable jdk("WALKHAMMER_JDK", "");
    const ScopedVariable java_home("JAVA_HOME", newer);
    const ScopedVariable path("PATH", (older / "bin").string());
    EXPECT_EQ(Must(DefaultJdkOfLine(9997)).home, newer);
    EXPECT_EQ(Must(DefaultJdkOfLine(9996)).home, Must(DefaultJdk()).home);
  }
  const ScopedVariable java_home("JAVA_HOME", newer);
  const ScopedVariable named("WALKHAMMER_JDK", older);
  EXPECT_EQ(Must(DefaultJdkOfLine(9997)).home, older);
  const ScopedVariable bad("WALKHAMMER_JDK", unusable);
  ExpectFailure(DefaultJdkOfLine(9997), ExitCode::kUnable, "exports no vmStructs");
}

TEST_F(JdkTest, OpensJdk8AndItsJre) {
  const fs::path home = root_ / "jdk8";
  for (const fs::path& bin : {home / "bin", home / "jre/bin"}) Write(bin / "java", "");
  const fs::path libjvm = home / "jre/lib/amd64/server/libjvm.so";
  Write(libjvm, Make({}));
  Write(home / "release", "JAVA_VERSION=\"1.8.0_504\"\n");
  for (const fs::path& path : {home, home / "bin/java", libjvm}) {
    const Jdk jdk = Must(OpenJdk(path));
    EXPECT_EQ(jdk.home, home);
    EXPECT_EQ(jdk.libjvm, libjvm);
    EXPECT_EQ(jdk.feature, 8);
    EXPECT_EQ(jdk.platform.feature, 8);
  }
  EXPECT_EQ(Must(OpenJdk(home / "jre")).libjvm, libjvm);
  fs::remove(home / "bin/java");
  EXPECT_EQ(Must(OpenJdk(libjvm)).home, home / "jre");
}

TEST_F(JdkTest, SaysWhyANamedJdkIsNotUsed) {
  const fs::path bad = Tree("bad", {.dynamic = {}});
  const ScopedVariable jdk("WALKHAMMER_JDK", root_ / "nowhere");
  const ScopedVariable java_home("JAVA_HOME", bad);
  const ScopedVariable path("PATH", "");
  std::vector<Failure> unusable;
  FindJdks(&unusable);
  ASSERT_GE(unusable.size(), 2u);
  EXPECT_THAT(unusable[0].message, HasSubstr("nowhere"));
  EXPECT_THAT(unusable[1].message, HasSubstr("exports no AsyncGetCallTrace"));
  ExpectFailure(DefaultJdk(), ExitCode::kBadInput, "nowhere");
}

TEST_F(JdkTest, DefaultIsTheNamedOneEvenWhenOlder) {
  const fs::path old = Tree("old", {}, "JAVA_VERSION=\"1\"\n");
  const ScopedVariable jdk("WALKHAMMER_JDK", old);
  EXPECT_EQ(Must(DefaultJdk()).home, old);
}

TEST(RealJdkTest, EachOneAtHandIsDescribed) {
  const std::vector<Jdk> jdks = FindJdks();
  if (jdks.empty()) GTEST_SKIP() << "no JDK on this machine";
  for (const Jdk& jdk : jdks) {
    SCOPED_TRACE(jdk.home);
    EXPECT_GE(jdk.feature, 8);
    EXPECT_NE(jdk.vendor, "");
    EXPECT_NE(jdk.version, "");
    EXPECT_THAT(jdk.exported,
                IsSupersetOf({"AsyncGetCallTrace", "JNI_CreateJavaVM", "gHotSpotVMStructs"}));
    EXPECT_TRUE(jdk.build_id.empty() || jdk.build_id.size() == 40) << jdk.build_id;
    EXPECT_EQ(Must(OpenJdk(jdk.libjvm)).home, jdk.home);
  }
}

}  // namespace
}  // namespace walkhammer
