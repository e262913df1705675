// SPDX-License-Identifier: Apache-2.0
#include "harness/jvm/images/jdk.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "harness/base/files.h"
#include "harness/base/text.h"

namespace walkhammer {
namespace {

namespace fs = std::filesystem;

constexpr char kDistributionJdks[] = "/usr/lib/jvm";
constexpr char kDebugRoot[] = "/usr/lib/debug";

class FileDescriptor {
 public:
  explicit FileDescriptor(const std::string& path)
      : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~FileDescriptor() {
    if (fd_ >= 0) close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

struct ElfFacts {
  std::string arch;
  std::string build_id;
  std::string debug_link;  // file name in .gnu_debuglink
  bool has_symtab = false;
  std::vector<std::string> exported;
};

std::string ArchName(int machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86_64";
    case EM_AARCH64:
      return "aarch64";
    case EM_386:
      return "i386";
    case EM_ARM:
      return "arm";
    case EM_PPC64:
      return "ppc64";
    case EM_S390:
      return "s390x";
    case EM_RISCV:
      return "riscv64";
    default:
      return fmt::format("ELF machine {}", machine);
  }
}

constexpr char kVmStructs[] = "gHotSpotVMStructs";

bool IsOfInterest(std::string_view name) {
  constexpr std::string_view kNames[] = {"AsyncGetCallTrace",  "AsyncGetStackTrace",
                                         "AsyncGetCallTrace2", "JVM_handle_linux_signal",
                                         "JNI_CreateJavaVM",   kVmStructs};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames) ||
         name.starts_with("ASGST_") || name.starts_with("JFRLL_");
}

// False when the section's contents cannot be read.
bool ReadDynamicSymbols(Elf* elf, Elf_Scn* section, const GElf_Shdr& header,
                        std::vector<std::string>& exported) {
  Elf_Data* data = elf_getdata(section, nullptr);
  if (data == nullptr || header.sh_entsize == 0) return false;
  const size_t count = data->d_size / header.sh_entsize;
  for (size_t i = 0; i < count; i++) {
    GElf_Sym symbol;
    if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) return false;
    if (symbol.st_shndx == SHN_UNDEF) continue;
    const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
    if (name != nullptr && IsOfInterest(name)) exported.emplace_back(name);
  }
  return true;
}

Failure Truncated(const std::string& path) {
  return BadInput(fmt::format("{} is truncated: its ELF sections end beyond the file", path));
}

// kBadInput when `path` cannot be read or is no whole ELF file.
Result<ElfFacts> ReadElf(const std::string& path) {
  const FileDescriptor file(path);
  struct stat status;
  if (file.get() < 0 || fstat(file.get(), &status) != 0) {
    return BadInput(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  }
  if (!S_ISREG(status.st_mode)) return BadInput(fmt::format("{} is not a regular file", path));
  const auto size = static_cast<uint64_t>(status.st_size);
  elf_version(EV_CURRENT);
  // Not mapped: a file that a build rewrites meanwhile would then raise SIGBUS.
  const std::unique_ptr<Elf, decltype(&elf_end)> elf(elf_begin(file.get(), ELF_C_READ, nullptr),
                                                     &elf_end);
  GElf_Ehdr header;
  if (elf == nullptr || elf_kind(elf.get()) != ELF_K_ELF ||
      gelf_getehdr(elf.get(), &header) == nullptr) {
    return BadInput(fmt::format("{} ({} bytes) is not an ELF file", path, size));
  }
  if (header.e_shoff > size ||
      uint64_t{header.e_shnum} * header.e_shentsize > size - header.e_shoff) {
    return Truncated(path);
  }
  ElfFacts facts;
  facts.arch = ArchName(header.e_machine);
  size_t names = 0;
  if (elf_getshdrstrndx(elf.get(), &names) != 0) names = 0;
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf.get(), section)) != nullptr) {
    GElf_Shdr shdr;
    if (gelf_getshdr(section, &shdr) == nullptr) return Truncated(path);
    if (shdr.sh_type == SHT_NOBITS) continue;
    if (shdr.sh_offset > size || shdr.sh_size > size - shdr.sh_offset) return Truncated(path);
    if (shdr.sh_type == SHT_SYMTAB) facts.has_symtab = true;
    if (shdr.sh_type == SHT_DYNSYM &&
        !ReadDynamicSymbols(elf.get(), section, shdr, facts.exported)) {
      return Truncated(path);
    }
    const char* name = elf_strptr(elf.get(), names, shdr.sh_name);
    if (name == nullptr || std::strcmp(name, ".gnu_debuglink") != 0) continue;
    const Elf_Data* data = elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) continue;
    const char* link = static_cast<const char*>(data->d_buf);
    facts.debug_link.assign(link, strnlen(link, data->d_size));
  }
  const void* id = nullptr;
  const ssize_t id_size = dwelf_elf_gnu_build_id(elf.get(), &id);
  if (id_size > 0) facts.build_id = HexBytes(id, static_cast<size_t>(id_size));
  std::sort(facts.exported.begin(), facts.exported.end());
  facts.exported.erase(std::unique(facts.exported.begin(), facts.exported.end()),
                       facts.exported.end());
  return facts;
}

// Where distributions and JDK builds put a libjvm's separate symbols.
std::string FindDebugFile(const fs::path& libjvm, const ElfFacts& facts) {
  if (facts.build_id.size() < 3) return "";
  std::vector<fs::path> places = {fs::path(kDebugRoot) / ".build-id" / facts.build_id.substr(0, 2) /
                                      (facts.build_id.substr(2) + ".debug"),
                                  fs::path(libjvm).replace_extension(".debuginfo")};
  if (!facts.debug_link.empty()) {
    const fs::path folder = libjvm.parent_path();
    places.push_back(folder / facts.debug_link);
    places.push_back(folder / ".debug" / facts.debug_link);
    places.push_back(fs::path(kDebugRoot) / folder.relative_path() / facts.debug_link);
  }
  for (const fs::path& place : places) {
    std::error_code error;
    if (!fs::is_regular_file(place, error)) continue;
    const Result<ElfFacts> found = ReadElf(place);
    if (found.ok() && found.value().has_symtab && found.value().build_id == facts.build_id) {
      return place;
    }
  }
  return "";
}

// KEY="VALUE" lines of the `release` file of a JDK image; empty if there is none.
std::map<std::string, std::string> ReadRelease(const fs::path& home) {
  std::map<std::string, std::string> entries;
  std::ifstream file(home / "release");
  std::string line;
  while (std::getline(file, line)) {
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

// A JDK build's own, not yet imaged tree has no `release` file, but libjvm holds the string of
// Abstract_VM_Version::internal_vm_info_string: "... for linux-amd64 JRE (17.0.15+6), built on".
std::string VersionInside(const std::string& libjvm) {
  const std::string bytes = ReadFile(libjvm);
  constexpr std::string_view kBefore = " JRE (";
  const size_t start = bytes.find(kBefore);
  if (start == std::string::npos) return "";
  const size_t begin = start + kBefore.size();
  const size_t end = bytes.find(')', begin);
  return end == std::string::npos || end - begin > 100 ? "" : bytes.substr(begin, end - begin);
}

// "17.0.15+6" is of 17, "1.8.0_504" of 8.
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
// JDK 8's, and its JRE's by itself.
constexpr std::string_view kOlderArches[] = {"amd64", "aarch64"};

// Where a JDK of that home has its libjvm.so; empty if it has none.
fs::path LibjvmIn(const fs::path& home) {
  if (IsFile(home / kLibjvmInHome)) return home / kLibjvmInHome;
  for (const std::string_view arch : kOlderArches)
    for (const fs::path& lib : {home / "jre/lib" / arch, home / "lib" / arch})
      if (IsFile(lib / "server/libjvm.so")) return lib / "server/libjvm.so";
  return {};
}

// The folder that its libjvm.so makes a JDK of.
fs::path HomeOf(const fs::path& libjvm) {
  fs::path lib = libjvm.parent_path().parent_path();
  if (lib.filename() != "lib") lib = lib.parent_path();
  const fs::path home = lib.parent_path();
  return home.filename() == "jre" && IsFile(home.parent_path() / "bin/java") ? home.parent_path()
                                                                             : home;
}

// `real` has no symbolic links.
Result<fs::path> LibjvmOf(const std::string& path, const fs::path& real) {
  std::error_code error;
  if (fs::is_directory(real, error)) {
    if (const fs::path libjvm = LibjvmIn(real); !libjvm.empty()) return libjvm;
    return BadInput(fmt::format("{} is no JDK: it has no {}", path, kLibjvmInHome));
  }
  const fs::path folder = real.parent_path();
  if (real.filename() == "java" && folder.filename() == "bin") {
    const fs::path home = folder.parent_path();
    if (const fs::path libjvm = LibjvmIn(home); !libjvm.empty()) return libjvm;
    return BadInput(fmt::format("{} does not belong to a JDK: there is no {}", path,
                                (home / kLibjvmInHome).string()));
  }
  if (real.filename() == "libjvm.so" && LibjvmIn(HomeOf(real)) == real) return real;
  return BadInput(fmt::format(
      "{} is no JDK: it is neither a JDK home, nor its bin/java, nor its {}", path, kLibjvmInHome));
}

// What HotSpot's own libraries need together; a program of the JDK needs no more.
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

Result<Jdk> OpenJdk(std::string path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error) {
    return BadInput(fmt::format("cannot open the JDK \"{}\": {}", path, error.message()));
  }
  const Result<fs::path> libjvm = LibjvmOf(path, real);
  if (!libjvm.ok()) return libjvm.failure();
  Jdk jdk;
  jdk.libjvm = fs::canonical(libjvm.value(), error);
  if (error) {
    return BadInput(fmt::format("cannot open {}: {}", libjvm.value().string(), error.message()));
  }
  // From the path in the tree: its libjvm.so may be a link to somewhere else.
  const fs::path home = HomeOf(libjvm.value());
  jdk.home = home;
  ASSIGN_OR_RETURN(auto elf, ReadElf(jdk.libjvm));
  ElfFacts& facts = elf;
  auto platform = PlatformOf(facts.arch, jdk.home, NeedOf(libjvm.value()));
  if (!platform.ok()) {
    return Unable(fmt::format("{} cannot run here: {}", jdk.libjvm, platform.failure().message));
  }
  jdk.platform = std::move(platform.value());
  jdk.arch = facts.arch;
  jdk.build_id = facts.build_id;
  jdk.exported = std::move(facts.exported);
  if (!jdk.Exports("AsyncGetCallTrace")) {
    return Unable(fmt::format(
        "{} exports no AsyncGetCallTrace: choose a HotSpot build of JDK 8 or later", jdk.libjvm));
  }
  jdk.stripped = !facts.has_symtab;
  if (jdk.stripped) jdk.debug_file = FindDebugFile(jdk.libjvm, facts);
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
  // One that is newer than all that are known is what to fuzz only where there is no other.
  const auto known = std::find_if(jdks.rbegin(), jdks.rend(), [](const Jdk& jdk) {
    return jdk.feature <= kNewestFeature && jdk.Exports(kVmStructs);
  });
  if (known != jdks.rend()) return std::move(*known);
  if (!jdks.empty()) return std::move(jdks.back());
  return Unable(fmt::format(
      "no JDK found in $WALKHAMMER_JDK, $JAVA_HOME, {} and on PATH: name one with --jdk DIR or "
      "run: apt-get install openjdk-17-jdk-headless",
      kDistributionJdks));
}

Result<Jdk> DefaultJdk() {
  if (const char* path = NonEmptyVariable("WALKHAMMER_JDK")) return OpenJdk(path);
  return NewestJdk();
}

}  // namespace walkhammer
