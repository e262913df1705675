// SPDX-License-Identifier: Apache-2.0
// Platform: where walkhammer's own programs for a JDK lie, and how this machine runs them and the
// JDK's: by itself, by the program loader of a newer C library, or through an emulator.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_JVM_IMAGES_PLATFORM_H_
#define WALKHAMMER_HARNESS_JVM_IMAGES_PLATFORM_H_

#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/jvm/images/c_library.h"

namespace walkhammer {

struct Platform {
  std::string arch;    // as `uname -m` says it
  std::string folder;  // of walkhammer_child, the agent and the provider; absolute
  // What the path of a program follows: an emulator, or a program loader, with their arguments.
  // Empty: this machine runs it by itself.
  std::vector<std::string> launcher = {};
  bool is_emulated = false;  // the launcher is an emulator
  int feature = 0;           // of the JDK: 8, 17, ...; 0: not known

  bool is_own() const { return launcher.empty(); }
  std::string File(std::string_view name) const;  // of our own; it need not exist
  // A program and its arguments, as they are started. `environment`, NAME=VALUE, is for what an
  // emulator runs and not for the emulator: it is added to the words where there is one, and
  // otherwise left alone.
  std::vector<std::string> Command(std::vector<std::string> words,
                                   std::vector<std::string>& environment) const;
  std::vector<std::string> Command(std::vector<std::string> words) const;
};

// Where this executable runs.
Platform OwnPlatform();

// For a JDK of architecture `arch`, as `uname -m` says it, in the folder `home`, whose libraries
// need what `need` tells.
// For another architecture the emulator is $WALKHAMMER_EMULATOR, or qemu-ARCH or qemu-ARCH-static
// of PATH or beside the sysroot; our own programs are those of $WALKHAMMER_BUILD_ARCH, or of the
// folder ARCH beside or in that of this executable. A C library newer than this machine's is that
// of the sysroot, run by its loader, or by the link to that in the JDK's bin: JDK 8's launcher
// looks for its home around the file that the process runs. The sysroot is the topmost folder above
// `home` that holds the architecture's program loader.
// kUnable, with what is missing, where this machine cannot run it.
Result<Platform> PlatformOf(const std::string& arch, const std::string& home,
                            const CLibraryNeed& need);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_IMAGES_PLATFORM_H_
