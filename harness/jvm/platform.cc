#include "harness/jvm/platform.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "harness/base/names.h"

namespace walkhammer {
namespace {

namespace fs = std::filesystem;

struct Emulated {
  std::string_view arch;
  std::string_view loader;  // in the root folder of a system
};
constexpr Emulated kEmulated[] = {{"aarch64", "lib/ld-linux-aarch64.so.1"},
                                  {"x86_64", "lib64/ld-linux-x86-64.so.2"}};

std::string MachineArch() {
  utsname names;
  return uname(&names) == 0 ? names.machine : "unknown";
}

bool IsProgram(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

std::string OnPath(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const size_t colon = rest.find(':');
    const fs::path found = fs::path(rest.substr(0, colon)) / program;
    if (IsProgram(found)) return found;
    rest = colon == std::string_view::npos ? "" : rest.substr(colon + 1);
  }
  return "";
}

std::string FindSysroot(const Emulated& emulated, const fs::path& home) {
  std::error_code error;
  std::string topmost;
  for (fs::path folder = home.parent_path(); folder != folder.root_path();
       folder = folder.parent_path())
    if (fs::exists(folder / emulated.loader, error)) topmost = folder;
  return topmost;
}

std::string FindEmulator(const std::string& arch, const fs::path& sysroot) {
  if (const char* named = std::getenv("WALKHAMMER_EMULATOR"); named != nullptr && *named != '\0')
    return named;
  for (const std::string& name : {"qemu-" + arch, "qemu-" + arch + "-static"}) {
    if (std::string found = OnPath(name); !found.empty()) return found;
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

}  // namespace

std::string Platform::File(std::string_view name) const { return fs::path(folder) / name; }

std::vector<std::string> Platform::Command(std::vector<std::string> words,
                                           std::vector<std::string>& environment) const {
  if (!is_emulated()) return words;
  std::vector<std::string> command = emulator;
  for (std::string& variable : environment) {
    // To qemu a comma ends a variable.
    if (variable.find(',') != std::string::npos) continue;
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

Result<Platform> PlatformOf(const std::string& arch, const std::string& home) {
  const std::string machine = MachineArch();
  if (arch == machine) return OwnPlatform();
  const std::string reason = fmt::format("it is for {}, this machine is {}", arch, machine);
  const auto* emulated = std::find_if(std::begin(kEmulated), std::end(kEmulated),
                                      [&](const Emulated& e) { return e.arch == arch; });
  if (emulated == std::end(kEmulated)) return Unable(reason);
  const std::string sysroot = FindSysroot(*emulated, home);
  if (sysroot.empty())
    return Unable(
        fmt::format("{}, and no folder above it holds {} (ci/aarch64_sysroot.sh makes one)", reason,
                    emulated->loader));
  const std::string qemu = FindEmulator(arch, sysroot);
  if (qemu.empty())
    return Unable(
        fmt::format("{}, and there is no qemu-{} (Debian: qemu-user-static)", reason, arch));
  Platform platform{arch, FindPrograms(arch), {qemu, "-L", sysroot}};
  if (platform.folder.empty())
    return Unable(fmt::format("{}, and walkhammer is not cross-built for it: cmake --preset {}",
                              reason, arch));
  return platform;
}

}  // namespace walkhammer
