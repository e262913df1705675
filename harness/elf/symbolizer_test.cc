// SPDX-License-Identifier: Apache-2.0
#include "harness/elf/symbolizer.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>

#include "harness/base/testing/sanitized.h"
#include "harness/elf/demangle.h"
#include "harness/elf/elf_file.h"
#include "harness/store/record_testing.h"

namespace walkhammer {
namespace {

__attribute__((noinline)) int StaticTarget(int depth, const char* text) {
  asm volatile("");
  return depth + text[0];
}
struct Walker {
  __attribute__((noinline)) int Step(int by) const {
    asm volatile("");
    return by + 1;
  }
};

const uint64_t kTarget = reinterpret_cast<uint64_t>(&StaticTarget);

std::string OwnName() {
  return std::filesystem::read_symlink("/proc/self/exe").filename().string();
}

TEST(Symbolizer, ResolvesAStaticFunction) {
  const std::vector<Module> modules = OwnModules();
  const Symbolizer symbolizer(modules);
  const Site site = symbolizer.Resolve(kTarget + 2);
  EXPECT_EQ(site.module, OwnName());
  EXPECT_EQ(site.function, "walkhammer::(anonymous namespace)::StaticTarget(int, char const*)");
  EXPECT_EQ(site.function_base, "walkhammer::(anonymous namespace)::StaticTarget");
  EXPECT_EQ(site.offset, 2u);
  EXPECT_EQ(site.module_offset, kTarget + 2 - modules[0].bias);
  EXPECT_EQ(site.build_id, std::string(modules[0].build_id));
  EXPECT_EQ(SiteText(site), OwnName() + " " + site.function + "+0x2");
  EXPECT_EQ(SiteTitle(site), site.function_base);
}

TEST(Symbolizer, ResolvesEveryInstructionToTheFunctionThatHoldsIt) {
  const Symbolizer symbolizer(OwnModules());
  int (Walker::*step)(int) const = &Walker::Step;
  uint64_t address;
  std::memcpy(&address, &step, sizeof(address));
  EXPECT_EQ(symbolizer.Resolve(address).offset, 0u);
  EXPECT_EQ(symbolizer.Resolve(address).function_base,
            "walkhammer::(anonymous namespace)::Walker::Step");
  EXPECT_NE(symbolizer.Resolve(address - 1).function, symbolizer.Resolve(address).function);
}

// Reads 8 bytes at +0x10.
#if defined(__x86_64__)
asm(".text\nwh_reads_here: mov 0x10(%rdi), %rax\nret\n");
#else
asm(".text\nwh_reads_here: ldr x0, [x1, #16]\nret\n");
#endif
extern "C" const char wh_reads_here[];

TEST(Symbolizer, TellsWhatAnInstructionDoesToMemory) {
  std::vector<Module> modules = OwnModules();
  const auto pc = reinterpret_cast<uint64_t>(wh_reads_here);
  EXPECT_EQ(Symbolizer(modules).AccessAt(pc), "reading 8 bytes at +0x10");
  for (const uint64_t nowhere : {uint64_t{0}, uint64_t{0x10}, UINT64_MAX})
    EXPECT_EQ(Symbolizer(modules).AccessAt(nowhere), "");
  SetField(modules[0].build_id, "0123456789");  // the file was replaced
  EXPECT_EQ(Symbolizer(modules).AccessAt(pc), "");
}

TEST(Symbolizer, CallerIsTheFunctionBeforeTheReturnAddress) {
  const Symbolizer symbolizer(OwnModules());
  const Site inside = symbolizer.ResolveCaller(kTarget + 2);
  EXPECT_EQ(inside.offset, 2u);
  // A return address that is the first byte of a function belongs to what precedes it.
  EXPECT_EQ(symbolizer.ResolveCaller(kTarget).function.find("StaticTarget"), std::string::npos);
  EXPECT_FALSE(symbolizer.ResolveCaller(0).in_module());
}

TEST(Symbolizer, ResolvesAnExportedFunctionOfALibrary) {
  const Symbolizer symbolizer(OwnModules());
  const auto qsort_address = reinterpret_cast<uint64_t>(dlsym(RTLD_DEFAULT, "qsort"));
  const Site site = symbolizer.Resolve(qsort_address);
  EXPECT_TRUE(site.in_module());
  // A sanitizer's runtime may be found before libc.
  if (site.module.starts_with("libc.so")) {
    EXPECT_EQ(site.function, "qsort");
  }
}

TEST(Symbolizer, DataIsNoFunction) {
  static int data = 1;
  const Site site = Symbolizer(OwnModules()).Resolve(reinterpret_cast<uint64_t>(&data));
  EXPECT_EQ(site.module, OwnName());
  EXPECT_EQ(site.function, "");
}

TEST(Symbolizer, OutsideOfModulesIsNoSite) {
  const Symbolizer symbolizer(OwnModules());
  for (const uint64_t pc : {uint64_t{0}, uint64_t{0x10}, UINT64_MAX}) {
    const Site site = symbolizer.Resolve(pc);
    EXPECT_FALSE(site.in_module());
    EXPECT_EQ(SiteText(site), "");
  }
}

TEST(Symbolizer, FallsBackToModuleAndOffsetWhereTheFileIsGoneOrAnother) {
  std::vector<Module> modules = OwnModules();
  const uint64_t offset = kTarget - modules[0].bias;
  const std::string build_id = modules[0].build_id;
  SetField(modules[0].build_id, "0123456789");
  Site site = Symbolizer(modules).Resolve(kTarget);
  EXPECT_EQ(site.function, "");
  EXPECT_EQ(site.build_id, "0123456789");
  EXPECT_EQ(SiteText(site), fmt::format("{}+{:#x}", OwnName(), offset));
  EXPECT_EQ(SiteTitle(site), SiteText(site));
  SetField(modules[0].build_id, build_id);
  SetField(modules[0].path, "no-such-folder/libgone.so");
  site = Symbolizer(modules).Resolve(kTarget);
  EXPECT_EQ(SiteText(site), fmt::format("libgone.so+{:#x}", offset));
}

TEST(Symbolizer, TextThatIsNoElfFileHasNoSymbols) {
  const TemporaryFolder dir;
  for (const char* text : {"", "no ELF", "\177ELF\2\1\1 cut"}) {
    std::ofstream(dir.Under("x.so")) << text;
    EXPECT_EQ(BuildIdOf(dir.Under("x.so")), "");
    EXPECT_FALSE(ElfFile(dir.Under("x.so")).Has(SHT_SYMTAB));
    Module module = {};
    SetField(module.path, dir.Under("x.so"));
    module.end = 0x1000;
    EXPECT_EQ(SiteText(Symbolizer(std::span(&module, 1)).Resolve(0x123)), "x.so+0x123");
  }
}

TEST(Symbolizer, DamagedElfFilesDoNoHarm) {
  const TemporaryFolder dir;
  const std::string whole = ReadFile("/proc/self/exe");
  ASSERT_GT(whole.size(), 1000u);
  for (int i = 1; i < 20; i += kSanitized ? 4 : 1) {
    std::string damaged = whole.substr(0, whole.size() * static_cast<size_t>(i) / 20);
    std::ofstream(dir.Under("cut"), std::ios::binary) << damaged;
    damaged = whole;
    for (size_t at = static_cast<size_t>(i) * 7; at < damaged.size(); at += 97 * 20)
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << (i % 8)));
    std::ofstream(dir.Under("bent"), std::ios::binary) << damaged;
    for (const char* name : {"cut", "bent"}) {
      Module module = OwnModules()[0];
      SetField(module.path, dir.Under(name));
      SetField(module.build_id, BuildIdOf(dir.Under(name)));
      EXPECT_EQ(Symbolizer(std::span(&module, 1)).Resolve(kTarget).module, name);
    }
  }
}

TEST(Symbolizer, TellsSymtabAndBuildId) {
  EXPECT_TRUE(ElfFile("/proc/self/exe").Has(SHT_SYMTAB));
  EXPECT_FALSE(ElfFile("no-such-file").Has(SHT_SYMTAB));
  EXPECT_EQ(BuildIdOf("no-such-file"), "");
  const std::string id = BuildIdOf("/proc/self/exe");
  EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos);
}

// Symbols are in a file of their own, in turn in each place that builds and distributions use.
TEST(Symbolizer, SeparateSymbolsAreFound) {
  const TemporaryFolder dir;
  const std::string library = dir.Under("lib.so");
  const std::string make = fmt::format(
      "cp '{}' '{}' && cd '{}' && objcopy --only-keep-debug lib.so linked && strip lib.so &&"
      " objcopy --add-gnu-debuglink=linked lib.so && mkdir .debug",
      std::filesystem::read_symlink("/proc/self/exe").string(), library, dir.Under(""));
  ASSERT_EQ(std::system(make.c_str()), 0);
  ASSERT_FALSE(ElfFile(library).Has(SHT_SYMTAB));
  ASSERT_NE(BuildIdOf(library), "");
  Module module = OwnModules()[0];
  SetField(module.path, library);
  SetField(module.build_id, BuildIdOf(library));
  std::string before = dir.Under("linked");
  EXPECT_EQ(FindDebugFile(library), before);
  for (const char* name : {".debug/linked", "lib.so.debug", "lib.debuginfo"}) {
    std::filesystem::rename(before, dir.Under(name));
    before = dir.Under(name);
    EXPECT_EQ(FindDebugFile(library), before);
    EXPECT_NE(Symbolizer(std::span(&module, 1)).Resolve(kTarget).function, "") << name;
  }
  std::filesystem::copy_file("/bin/true", before,
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(FindDebugFile(library), "") << "another build's";
  EXPECT_EQ(Symbolizer(std::span(&module, 1)).Resolve(kTarget).function, "");
}

TEST(Demangle, TakesNoCNameForAType) {
  EXPECT_EQ(Demangle("_ZN5frame6senderEP11RegisterMap"), "frame::sender(RegisterMap*)");
  EXPECT_EQ(Demangle("__ZN5frame6senderEv"), "frame::sender()");
  for (const char* name : {"f", "i", "main", "_Z?", "__Z?", ""}) EXPECT_EQ(Demangle(name), name);
}

TEST(FunctionBase, DropsWhatDiffersBetweenOverloadsAndBuilds) {
  const std::pair<const char*, const char*> kCases[] = {
      {"frame::sender(RegisterMap*) const", "frame::sender"},
      {"Unsafe_PutLong", "Unsafe_PutLong"},
      {"frame::is_first_frame() const [clone .part.0]", "frame::is_first_frame"},
      {"forte_fill.constprop.0", "forte_fill"},
      {"JavaThread::pd_get_top_frame(frame*, void*, bool) [clone .cold]",
       "JavaThread::pd_get_top_frame"},
      {"(anonymous namespace)::f(int (*)(char))", "(anonymous namespace)::f"},
      {"void Table::init<Klass, (Kind)2>(Closure*, unsigned long)", "Table::init<Klass, (Kind)2>"},
      {"unsigned long f<int>(int)", "f<int>"},
      {"X::operator()(int) const", "X::operator()"},
      {"X::operator()() const", "X::operator()"},
      {"bool operator< <int>(A<int> const&, A<int> const&)", "operator< <int>"},
      {"X::operator unsigned long() const", "X::operator unsigned long"},
      {"operator new(unsigned long)", "operator new"},
      {"f(int)::{lambda(int)#1}::operator()(int) const", "f(int)::{lambda(int)#1}::operator()"},
      {"X::f() const::{lambda()#1}::operator()() const", "X::f() const::{lambda()#1}::operator()"},
      {"my_operator(int)", "my_operator"},
      {"libjvm.so", "libjvm.so"},
      {"", ""},
      {")", ")"},
      {"((", "(("},
      {"operator", "operator"},
  };
  for (const auto& [full, base] : kCases) EXPECT_EQ(FunctionBase(full), base) << full;
}

}  // namespace
}  // namespace walkhammer
