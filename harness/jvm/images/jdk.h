// SPDX-License-Identifier: Apache-2.0
// Jdk: what is known of a JDK image without starting its JVM: its location, its vendor, the exports
// of its libjvm.so. The parent and doctor find and open JDKs.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_JVM_IMAGES_JDK_H_
#define WALKHAMMER_HARNESS_JVM_IMAGES_JDK_H_

#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/jvm/images/platform.h"

namespace walkhammer {

// The oldest and the newest JDK that walkhammer is tested with.
inline constexpr int kOldestFeature = 8, kNewestFeature = 28;

struct Jdk {
  std::string home;         // absolute, without symbolic links
  std::string libjvm;       // path of libjvm.so: absolute, without symbolic links
  std::string vendor;       // IMPLEMENTOR of the `release` file, else "unknown"
  std::string version;      // e.g. "17.0.15+6-Debian-1deb12u1", else "unknown"
  int feature = 0;          // 8, 17, ...; 0 where the version is unknown
  std::string arch;         // from the ELF header, spelled as in `uname -m`
  Platform platform;        // how the JDK runs on this machine
  std::string build_id;     // hex; empty if there is none
  std::string debug_file;   // separate debug file with the same build id; empty if not found
  bool has_symtab = false;  // local symbols are available, in libjvm.so or in debug_file
  bool stripped = false;    // libjvm.so itself has no .symtab
  // The names that libjvm.so defines, out of AsyncGetCallTrace, AsyncGetStackTrace,
  // AsyncGetCallTrace2, ASGST_*, JFRLL_*, JVM_handle_linux_signal, JNI_CreateJavaVM,
  // gHotSpotVMStructs. Sorted, distinct.
  std::vector<std::string> exported;

  bool Exports(std::string_view name) const;
};

// Opens the JDK at `path`: a JDK home, its bin/java, or its lib/server/libjvm.so (JDK 8:
// jre/lib/ARCH/server). Symbolic links are followed.
// kBadInput if `path` is not a JDK or a damaged one; kUnable if this machine cannot run the JDK, or
// if its libjvm.so exports no AsyncGetCallTrace.
Result<Jdk> OpenJdk(const std::string& path);
// The same, also of a JVM that exports no AsyncGetCallTrace, such as OpenJ9.
Result<Jdk> OpenAnyJvm(const std::string& path);

// Opens the JDKs of $WALKHAMMER_JDK, $JAVA_HOME, /usr/lib/jvm/* and `java` on PATH. Returns those
// that open, distinct by libjvm, oldest feature first. `unusable`, if given, gets the failures of
// the others: each failure of a JDK that a variable names, but only kUnable of other JDKs.
std::vector<Jdk> FindJdks(std::vector<Failure>* unusable = nullptr);

// The newest JDK of FindJdks that has vmStructs and is not newer than kNewestFeature; if there is
// none, the newest JDK of all. kUnable if FindJdks finds none.
Result<Jdk> NewestJdk();

// The JDK for a user who names none: that of $WALKHAMMER_JDK if the variable is set, even if it
// fails to open with `open`; otherwise NewestJdk.
Result<Jdk> DefaultJdk(Result<Jdk> (*open)(const std::string&) = OpenJdk);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_IMAGES_JDK_H_
