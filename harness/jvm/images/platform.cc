// SPDX-License-Identifier: Apache-2.0
#include "harness/jvm/images/platform.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gnu/libc-version.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "harness/base/files.h"
#include "harness/base/names.h"
#include "harness/elf/elf_file.h"

namespace walkhammer {
namespace {

namespace fs = std::filesystem;

struct Loader {
  std::string_view arch;
  std::string_view path;  // relative to the root folder of a system
};
constexpr Loader kLoaders[] = {{"aarch64", "lib/ld-linux-aarch64.so.1"},
                               {"x86_64", "lib64/ld-linux-x86-64.so.2"}};

std::string MachineArch() {
  utsname names;
  return uname(&names) == 0 ? names.machine : "unknown";
}

const Loader* LoaderOf(const std::string& arch) {
  const auto* found = std::find_if(std::begin(kLoaders), std::end(kLoaders),
                                   [&](const Loader& loader) { return loader.arch == arch; });
  return found == std::end(kLoaders) ? nullptr : found;
}

// The sysroot (see PlatformOf); empty if there is none. `of_newer`: a folder whose loader is this
// machine's own loader does not count.
std::string FindSysroot(const Loader& loader, const fs::path& home, bool of_newer) {
  std::error_code error;
  std::string topmost;
  for (fs::path folder = home.parent_path(); folder != folder.root_path();
       folder = folder.parent_path())
    if (fs::exists(folder / loader.path, error) &&
        !(of_newer && fs::equivalent(folder / loader.path, fs::path("/") / loader.path, error)))
      topmost = folder;
  return topmost;
}

std::string FindEmulator(const std::string& arch, const fs::path& sysroot) {
  if (const char* named = std::getenv("WALKHAMMER_EMULATOR"); named != nullptr && *named != '\0')
    return named;
  for (const std::string& name : {"qemu-" + arch, "qemu-" + arch + "-static"}) {
    if (std::string found = FindProgram(name); !found.empty()) return found;
    if (const fs::path beside = sysroot.parent_path() / name; IsProgram(beside)) return beside;
  }
  return "";
}

std::string FindPrograms(const std::string& arch) {
  const fs::path own = BesideExecutable("");
  std::vector<fs::path> folders = {own.parent_path().parent_path() / arch, own / arch};
  if (const char* named = std::getenv("WALKHAMMER_BUILD_ARCH"); named != nullptr && *named != '\0')
    folders = {named};
  for (const fs::path& folder : folders)
    if (IsProgram(folder / kChildName)) return fs::absolute(folder);
  return "";
}

// Runs programs with the sysroot's loader, which takes the sysroot's libraries first and this
// machine's for those that the sysroot lacks.
Result<Platform> WithNewerLibrary(const std::string& arch, const std::string& home,
                                  GlibcVersion needed) {
  const std::string reason =
      fmt::format("it needs glibc {}.{}, this machine has {}.{}", needed.first, needed.second,
                  OwnGlibc().first, OwnGlibc().second);
  const Loader* loader = LoaderOf(arch);
  if (loader == nullptr) return Unable(reason);
  const fs::path sysroot = FindSysroot(*loader, home, /*of_newer=*/true);
  if (sysroot.empty())
    return Unable(
        fmt::format("{}, and no folder above it holds {} of a newer one", reason, loader->path));
  std::vector<std::string> folders;
  for (const std::string& folder : {"usr/lib/" + arch + "-linux-gnu", "lib/" + arch + "-linux-gnu",
                                    std::string("usr/lib64"), std::string("lib64")})
    if (fs::is_directory(sysroot / folder)) folders.push_back(sysroot / folder);
  fs::path program = sysroot / loader->path;
  if (const fs::path link = fs::path(home) / "bin" / program.filename(); IsProgram(link))
    program = link;
  Platform platform = OwnPlatform();
  platform.launcher = {program, "--library-path", fmt::format("{}", fmt::join(folders, ":"))};
  return platform;
}

constexpr int kMostEntries = 4096;  // per section: a bound against damaged files

GlibcVersion Parse(const char* text, const char* format) {
  GlibcVersion version{};
  return std::sscanf(text, format, &version.first, &version.second) == 2 ? version : GlibcVersion{};
}

void AddVersions(Elf* elf, Elf_Data* data, size_t strings, CLibraryNeed& need) {
  GElf_Verneed file;
  size_t at = 0;
  for (int i = 0; i < kMostEntries && gelf_getverneed(data, static_cast<int>(at), &file) != nullptr;
       i++) {
    GElf_Vernaux version;
    size_t aux = at + file.vn_aux;
    for (int j = 0; j < file.vn_cnt; j++) {
      if (gelf_getvernaux(data, static_cast<int>(aux), &version) == nullptr) return;
      const char* name = elf_strptr(elf, strings, version.vna_name);
      if (name != nullptr) need.glibc = std::max(need.glibc, Parse(name, "GLIBC_%d.%d"));
      aux += version.vna_next;
    }
    if (file.vn_next == 0) return;
    at += file.vn_next;
  }
}

void AddLibraries(Elf* elf, Elf_Data* data, size_t strings, CLibraryNeed& need) {
  GElf_Dyn entry;
  for (int i = 0; i < kMostEntries && gelf_getdyn(data, i, &entry) != nullptr; i++) {
    if (entry.d_tag != DT_NEEDED) continue;
    const char* name = elf_strptr(elf, strings, entry.d_un.d_val);
    if (name != nullptr && std::string_view(name).starts_with("libc.musl")) need.is_musl = true;
  }
}

}  // namespace

std::string Platform::File(std::string_view name) const { return fs::path(folder) / name; }

std::vector<std::string> Platform::Command(std::vector<std::string> words,
                                           std::vector<std::string>& environment) const {
  std::vector<std::string> command = launcher;
  for (std::string& variable : environment) {
    // qemu ends a variable at a comma.
    if (!is_emulated || variable.find(',') != std::string::npos) continue;
    command.insert(command.end(), {"-E", std::move(variable)});
    variable.clear();
  }
  std::erase(environment, "");
  command.insert(command.end(), words.begin(), words.end());
  return command;
}

std::vector<std::string> Platform::Command(std::vector<std::string> words) const {
  std::vector<std::string> none;
  return Command(std::move(words), none);
}

Platform OwnPlatform() { return {MachineArch(), fs::path(BesideExecutable("x")).parent_path()}; }

Result<Platform> PlatformOf(const std::string& arch, const std::string& home,
                            const CLibraryNeed& need) {
  const std::string machine = MachineArch();
  if (need.is_musl && OwnGlibc() != GlibcVersion{})
    return Unable("it is built for musl, this machine has glibc: choose the vendor's glibc build");
  if (arch == machine && need.glibc > OwnGlibc()) return WithNewerLibrary(arch, home, need.glibc);
  if (arch == machine) return OwnPlatform();
  const std::string reason = fmt::format("it is for {}, this machine is {}", arch, machine);
  const Loader* loader = LoaderOf(arch);
  if (loader == nullptr) return Unable(reason);
  const std::string sysroot = FindSysroot(*loader, home, /*of_newer=*/false);
  if (sysroot.empty())
    return Unable(
        fmt::format("{}, and no folder above it holds {} (ci/setup/aarch64_sysroot.sh makes one)",
                    reason, loader->path));
  const std::string qemu = FindEmulator(arch, sysroot);
  if (qemu.empty())
    return Unable(
        fmt::format("{}, and there is no qemu-{} (Debian: qemu-user-static)", reason, arch));
  Platform platform{arch, FindPrograms(arch), {qemu, "-L", sysroot}, true};
  if (platform.folder.empty())
    return Unable(fmt::format("{}, and walkhammer is not cross-built for it: cmake --preset {}",
                              reason, arch));
  return platform;
}

CLibraryNeed CLibraryNeedOf(const std::string& path) {
  CLibraryNeed need;
  const ElfFile file(path, ElfFile::Access::kRead);
  for (const auto& [section, header] : file.Sections()) {
    if (header.sh_type != SHT_GNU_verneed && header.sh_type != SHT_DYNAMIC) continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr) continue;
    if (header.sh_type == SHT_DYNAMIC)
      AddLibraries(file.get(), data, header.sh_link, need);
    else
      AddVersions(file.get(), data, header.sh_link, need);
  }
  return need;
}

GlibcVersion OwnGlibc() { return Parse(gnu_get_libc_version(), "%d.%d"); }

}  // namespace walkhammer
