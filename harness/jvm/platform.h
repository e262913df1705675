// Platform: where walkhammer's own programs for a JDK's architecture lie, and how this machine runs
// what is built for it: by itself, or through an emulator. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_JVM_PLATFORM_H_
#define WALKHAMMER_HARNESS_JVM_PLATFORM_H_

#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"

namespace walkhammer {

struct Platform {
  std::string arch;    // as `uname -m` says it
  std::string folder;  // of walkhammer_child, the agent and the provider; absolute
  // What the path of a program follows; empty: this machine runs it by itself.
  std::vector<std::string> emulator = {};

  bool is_emulated() const { return !emulator.empty(); }
  std::string File(std::string_view name) const;  // of our own; it need not exist
  // A program and its arguments, as they are started. `environment`, NAME=VALUE, is for what the
  // emulator runs and not for the emulator: it is added to the words where there is one, and
  // otherwise left alone.
  std::vector<std::string> Command(std::vector<std::string> words,
                                   std::vector<std::string>& environment) const;
  std::vector<std::string> Command(std::vector<std::string> words) const;
};

// Where this executable runs.
Platform OwnPlatform();

// For a JDK of architecture `arch`, as `uname -m` says it, in the folder `home`. The emulator is
// $WALKHAMMER_EMULATOR, or qemu-ARCH or qemu-ARCH-static of PATH or beside the sysroot; the sysroot
// is the topmost folder above `home` that holds the architecture's program loader; our own programs
// are those of $WALKHAMMER_BUILD_ARCH, or of the folder ARCH beside or in that of this executable.
// kUnable, with what is missing, where this machine cannot run it.
Result<Platform> PlatformOf(const std::string& arch, const std::string& home);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_PLATFORM_H_
