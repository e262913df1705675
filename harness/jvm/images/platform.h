// SPDX-License-Identifier: Apache-2.0
// Platform: where walkhammer's own programs for a JDK are, and how this machine runs these and the
// JDK's programs: directly, with the program loader of a newer C library, or with an emulator.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_JVM_IMAGES_PLATFORM_H_
#define WALKHAMMER_HARNESS_JVM_IMAGES_PLATFORM_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/base/result.h"

namespace walkhammer {

// A glibc version, e.g. {2, 38}; compares as versions do.
using GlibcVersion = std::pair<int, int>;

struct CLibraryNeed {
  bool is_musl = false;  // the file needs musl's library (DT_NEEDED libc.musl-*)
  GlibcVersion glibc{};  // the newest GLIBC_x.y in the file's .gnu.version_r; {0, 0}: none
};

// What the ELF file at `path` needs; CLibraryNeed{} if the file cannot be read.
CLibraryNeed CLibraryNeedOf(const std::string& path);

// The glibc version of this process; {0, 0} if it runs with another C library.
GlibcVersion OwnGlibc();

struct Platform {
  std::string arch;    // as in `uname -m`
  std::string folder;  // of walkhammer_child, the agent and the provider; absolute
  // The words ahead of a program's path: an emulator or a program loader, with its arguments.
  // Empty: this machine runs programs directly.
  std::vector<std::string> launcher = {};
  bool is_emulated = false;  // the launcher is an emulator
  int feature = 0;           // feature version of the JDK: 8, 17, ...; 0: not known

  bool is_own() const { return launcher.empty(); }
  std::string File(std::string_view name) const;  // path of `name` in `folder`; need not exist
  // The command line that starts a program with its arguments, `words`. `environment` holds
  // NAME=VALUE for the program. With an emulator, which must not see these variables, they move
  // from `environment` to emulator options; a variable with a comma stays, as qemu ends variables
  // at commas.
  std::vector<std::string> Command(std::vector<std::string> words,
                                   std::vector<std::string>& environment) const;
  std::vector<std::string> Command(std::vector<std::string> words) const;
};

// The platform of this executable.
Platform OwnPlatform();

// The platform for a JDK of architecture `arch` (as in `uname -m`) in the folder `home`, whose
// libraries need `need`.
// The sysroot is the topmost folder above `home` that holds the architecture's program loader.
// Another architecture: the emulator is $WALKHAMMER_EMULATOR, or else qemu-ARCH or
// qemu-ARCH-static, on PATH or beside the sysroot. Our own programs are in $WALKHAMMER_BUILD_ARCH,
// or else in a folder ARCH, which is beside or in this executable's folder.
// A newer C library than this machine's: the sysroot has it, and the sysroot's program loader
// starts the programs. A link to that loader in the JDK's bin is preferred: JDK 8's launcher
// locates its home by the path of the file that the process executes.
// kUnable, with what is missing, if this machine cannot run the JDK.
Result<Platform> PlatformOf(const std::string& arch, const std::string& home,
                            const CLibraryNeed& need);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_IMAGES_PLATFORM_H_
