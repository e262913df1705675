// SPDX-License-Identifier: Apache-2.0
#include "harness/jvm/images/jdk.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "harness/base/files.h"
#include "harness/base/text.h"
#include "harness/elf/elf_file.h"

namespace walkhammer {
namespace {

namespace fs = std::filesystem;

constexpr char kDistributionJdks[] = "/usr/lib/jvm";

struct ElfFacts {
  std::string arch;
  std::string build_id;
  bool has_symtab = false;
  std::vector<std::string> exported;
};

std::string ArchName(int machine) {
  constexpr std::pair<int, const char*> kNames[] = {
      {EM_X86_64, "x86_64"}, {EM_AARCH64, "aarch64"}, {EM_386, "i386"},     {EM_ARM, "arm"},
      {EM_PPC64, "ppc64"},   {EM_S390, "s390x"},      {EM_RISCV, "riscv64"}};
  for (const auto& [number, name] : kNames)
    if (number == machine) return name;
  return fmt::format("ELF machine {}", machine);
}

constexpr char kVmStructs[] = "gHotSpotVMStructs";

bool IsOfInterest(std::string_view name) {
  constexpr std::string_view kNames[] = {"AsyncGetCallTrace",  "AsyncGetStackTrace",
                                         "AsyncGetCallTrace2", "JVM_handle_linux_signal",
                                         "JNI_CreateJavaVM",   kVmStructs};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames) ||
         name.starts_with("ASGST_") || name.starts_with("JFRLL_");
}

Failure Truncated(const std::string& path) {
  return BadInput(fmt::format("{} is truncated: its ELF sections end beyond the file", path));
}

// kBadInput when `path` cannot be read or is not a whole ELF file.
Result<ElfFacts> ReadElf(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0)
    return BadInput(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  if (!S_ISREG(status.st_mode)) return BadInput(fmt::format("{} is not a regular file", path));
  const ElfFile file(path, ElfFile::Access::kRead);
  if (file.error() != 0)
    return BadInput(fmt::format("cannot read {}: {}", path, std::strerror(file.error())));
  const auto size = static_cast<uint64_t>(status.st_size);
  GElf_Ehdr header;
  if (file.get() == nullptr || gelf_getehdr(file.get(), &header) == nullptr)
    return BadInput(fmt::format("{} ({} bytes) is not an ELF file", path, size));
  if (header.e_shoff > size ||
      uint64_t{header.e_shnum} * header.e_shentsize > size - header.e_shoff)
    return Truncated(path);
  ElfFacts facts;
  facts.arch = ArchName(header.e_machine);
  for (const ElfSection& section : file.Sections()) {
    const GElf_Shdr& s = section.header;
    if (s.sh_type == SHT_NULL) return Truncated(path);
    if (s.sh_type == SHT_NOBITS) continue;
    if (s.sh_offset > size || s.sh_size > size - s.sh_offset) return Truncated(path);
    if (s.sh_type == SHT_SYMTAB) facts.has_symtab = true;
    if (s.sh_type == SHT_DYNSYM &&
        !file.EachSymbol(section, [&](const GElf_Sym& symbol, const char* name) {
          if (symbol.st_shndx != SHN_UNDEF && IsOfInterest(name)) facts.exported.emplace_back(name);
        }))
      return Truncated(path);
  }
  facts.build_id = file.BuildId();
  std::sort(facts.exported.begin(), facts.exported.end());
  facts.exported.erase(std::unique(facts.exported.begin(), facts.exported.end()),
                       facts.exported.end());
  return facts;
}

// KEY="VALUE" lines of the `release` file of a JDK image; empty if there is none.
std::map<std::string, std::string> ReadRelease(const fs::path& home) {
  std::map<std::string, std::string> entries;
  for (const std::string& line : Split(ReadFile(home / "release", 1 << 20), '\n')) {
    const size_t equals = line.find('=');
    if (equals == std::string::npos) continue;
    std::string value = line.substr(equals + 1);
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
      value = value.substr(1, value.size() - 2);
    }
    entries[line.substr(0, equals)] = value;
  }
  return entries;
}

// The version in the string of Abstract_VM_Version::internal_vm_info_string in libjvm, for the tree
// of a JDK build without image, which has no `release` file: "... for linux-amd64 JRE (17.0.15+6),
// built on".
std::string VersionInside(const std::string& libjvm) {
  const std::string bytes = ReadFile(libjvm);
  constexpr std::string_view kBefore = " JRE (";
  const size_t start = bytes.find(kBefore);
  if (start == std::string::npos) return "";
  const size_t begin = start + kBefore.size();
  const size_t end = bytes.find(')', begin);
  return end == std::string::npos || end - begin > 100 ? "" : bytes.substr(begin, end - begin);
}

// Feature version: 17 for "17.0.15+6", 8 for "1.8.0_504".
int FeatureOf(std::string_view version) {
  if (version.starts_with("1.")) version.remove_prefix(2);
  int feature = 0;
  std::from_chars(version.data(), version.data() + version.size(), feature);
  return feature;
}

bool IsFile(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

constexpr char kLibjvmInHome[] = "lib/server/libjvm.so";
// Names of the folder ARCH in JDK 8's jre/lib/ARCH, or lib/ARCH of a JRE alone.
constexpr std::string_view kOlderArches[] = {"amd64", "aarch64"};

// The path of libjvm.so in the JDK home `home`; empty if there is none.
fs::path LibjvmIn(const fs::path& home) {
  if (IsFile(home / kLibjvmInHome)) return home / kLibjvmInHome;
  for (const std::string_view arch : kOlderArches)
    for (const fs::path& lib : {home / "jre/lib" / arch, home / "lib" / arch})
      if (IsFile(lib / "server/libjvm.so")) return lib / "server/libjvm.so";
  return {};
}

// The JDK home to which a libjvm.so belongs by its path.
fs::path HomeOf(const fs::path& libjvm) {
  fs::path lib = libjvm.parent_path().parent_path();
  if (lib.filename() != "lib") lib = lib.parent_path();
  const fs::path home = lib.parent_path();
  return home.filename() == "jre" && IsFile(home.parent_path() / "bin/java") ? home.parent_path()
                                                                             : home;
}

// The libjvm.so of the JDK at `real`, which is `path` without symbolic links.
Result<fs::path> LibjvmOf(const std::string& path, const fs::path& real) {
  std::error_code error;
  if (fs::is_directory(real, error)) {
    if (const fs::path libjvm = LibjvmIn(real); !libjvm.empty()) return libjvm;
    return BadInput(fmt::format("{} is not a JDK: it has no {}", path, kLibjvmInHome));
  }
  const fs::path folder = real.parent_path();
  if (real.filename() == "java" && folder.filename() == "bin") {
    const fs::path home = folder.parent_path();
    if (const fs::path libjvm = LibjvmIn(home); !libjvm.empty()) return libjvm;
    return BadInput(fmt::format("{} does not belong to a JDK: there is no {}", path,
                                (home / kLibjvmInHome).string()));
  }
  if (real.filename() == "libjvm.so" && LibjvmIn(HomeOf(real)) == real) return real;
  return BadInput(
      fmt::format("{} is not a JDK: it is neither a JDK home, nor its bin/java, nor its {}", path,
                  kLibjvmInHome));
}

// The C library that satisfies libjvm, libjava and libjli; the JDK's programs need no newer one.
CLibraryNeed NeedOf(const fs::path& libjvm) {
  CLibraryNeed need = CLibraryNeedOf(libjvm);
  const fs::path lib = libjvm.parent_path().parent_path();
  for (const fs::path& library : {lib / "libjava.so", lib / "libjli.so", lib / "jli/libjli.so"})
    need.glibc = std::max(need.glibc, CLibraryNeedOf(library).glibc);
  return need;
}

const char* NonEmptyVariable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? nullptr : value;
}

}  // namespace

bool Jdk::Exports(std::string_view name) const {
  return std::find(exported.begin(), exported.end(), name) != exported.end();
}

Result<Jdk> OpenAnyJvm(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error) {
    return BadInput(fmt::format("cannot open the JDK \"{}\": {}", path, error.message()));
  }
  ASSIGN_OR_RETURN(const auto libjvm, LibjvmOf(path, real));
  Jdk jdk;
  jdk.libjvm = fs::canonical(libjvm, error);
  if (error) {
    return BadInput(fmt::format("cannot open {}: {}", libjvm.string(), error.message()));
  }
  // Derived from the path in the tree, as libjvm.so there may be a link to another folder.
  const fs::path home = HomeOf(libjvm);
  jdk.home = home;
  ASSIGN_OR_RETURN(auto elf, ReadElf(jdk.libjvm));
  ElfFacts& facts = elf;
  auto platform = PlatformOf(facts.arch, jdk.home, NeedOf(libjvm));
  if (!platform.ok()) {
    return Unable(fmt::format("{} cannot run here: {}", jdk.libjvm, platform.failure().message));
  }
  jdk.platform = std::move(platform.value());
  jdk.arch = facts.arch;
  jdk.build_id = facts.build_id;
  jdk.exported = std::move(facts.exported);
  jdk.stripped = !facts.has_symtab;
  if (jdk.stripped) jdk.debug_file = FindDebugFile(jdk.libjvm);
  jdk.has_symtab = facts.has_symtab || !jdk.debug_file.empty();

  std::map<std::string, std::string> release = ReadRelease(home);
  jdk.vendor = release["IMPLEMENTOR"];
  jdk.version = release["JAVA_RUNTIME_VERSION"];
  if (jdk.version.empty()) jdk.version = release["JAVA_VERSION"];
  if (jdk.version.empty()) jdk.version = VersionInside(jdk.libjvm);
  jdk.feature = jdk.platform.feature = FeatureOf(jdk.version);
  if (jdk.vendor.empty()) jdk.vendor = "unknown";
  if (jdk.version.empty()) jdk.version = "unknown";
  return jdk;
}

Result<Jdk> OpenJdk(const std::string& path) {
  ASSIGN_OR_RETURN(Jdk jdk, OpenAnyJvm(path));
  if (jdk.Exports("AsyncGetCallTrace")) return jdk;
  return Unable(fmt::format(
      "{} exports no AsyncGetCallTrace: choose a HotSpot build of JDK 8 or later", jdk.libjvm));
}

std::vector<Jdk> FindJdks(std::vector<Failure>* unusable) {
  std::vector<Jdk> found;
  std::set<std::string> seen;
  const auto add = [&](const std::string& path, bool named) {
    Result<Jdk> jdk = OpenJdk(path);
    if (jdk.ok()) {
      if (seen.insert(jdk.value().libjvm).second) found.push_back(std::move(jdk.value()));
    } else if (unusable != nullptr && (named || jdk.failure().code == ExitCode::kUnable) &&
               seen.insert(jdk.failure().message).second) {
      unusable->push_back(jdk.failure());
    }
  };
  for (const char* variable : {"WALKHAMMER_JDK", "JAVA_HOME"}) {
    if (const char* path = NonEmptyVariable(variable)) add(path, true);
  }
  std::error_code error;
  std::vector<std::string> installed;
  for (fs::directory_iterator entry(kDistributionJdks, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_directory(ignored)) installed.push_back(entry->path());
  }
  std::sort(installed.begin(), installed.end());
  for (const std::string& path : installed) add(path, false);
  if (const std::string java = FindProgram("java"); !java.empty()) add(java, false);
  std::stable_sort(found.begin(), found.end(),
                   [](const Jdk& a, const Jdk& b) { return a.feature < b.feature; });
  return found;
}

Result<Jdk> NewestJdk() {
  std::vector<Jdk> jdks = FindJdks();
  // A JDK that is newer than kNewestFeature is the default only if there is no other.
  const auto known = std::find_if(jdks.rbegin(), jdks.rend(), [](const Jdk& jdk) {
    return jdk.feature <= kNewestFeature && jdk.Exports(kVmStructs);
  });
  if (known != jdks.rend()) return std::move(*known);
  if (!jdks.empty()) return std::move(jdks.back());
  return Unable(fmt::format(
      "no JDK found in $WALKHAMMER_JDK, $JAVA_HOME, {} and on PATH: name one with --jdk DIR or "
      "run: apt-get install default-jdk-headless",
      kDistributionJdks));
}

Result<Jdk> DefaultJdk(Result<Jdk> (*open)(const std::string&)) {
  if (const char* path = NonEmptyVariable("WALKHAMMER_JDK")) return open(path);
  return NewestJdk();
}

}  // namespace walkhammer
