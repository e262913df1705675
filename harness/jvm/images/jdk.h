// SPDX-License-Identifier: Apache-2.0
// Jdk: what can be told of a JDK image without starting its JVM: where it lies, who built it,
// what its libjvm.so exports. Found and opened by the parent and by doctor.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_JVM_IMAGES_JDK_H_
#define WALKHAMMER_HARNESS_JVM_IMAGES_JDK_H_

#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/jvm/images/platform.h"

namespace walkhammer {

// The JDKs that walkhammer is tested with.
inline constexpr int kOldestFeature = 8, kNewestFeature = 28;

struct Jdk {
  std::string home;         // absolute, without symbolic links
  std::string libjvm;       // likewise
  std::string vendor;       // IMPLEMENTOR of the `release` file, else "unknown"
  std::string version;      // e.g. "17.0.15+6-Debian-1deb12u1", else "unknown"
  int feature = 0;          // 8, 17, ...; 0 where the version is unknown
  std::string arch;         // as `uname -m` says it, from the ELF header
  Platform platform;        // how it runs here
  std::string build_id;     // hex; empty if there is none
  std::string debug_file;   // separate debug file with the same build id; empty if none is found
  bool has_symtab = false;  // local symbols are at hand: in libjvm.so or in debug_file
  bool stripped = false;    // libjvm.so itself carries no .symtab
  // Of the names that matter here, those that libjvm.so defines: AsyncGetCallTrace,
  // AsyncGetStackTrace, AsyncGetCallTrace2, ASGST_*, JFRLL_*, JVM_handle_linux_signal,
  // JNI_CreateJavaVM, gHotSpotVMStructs. Sorted, distinct.
  std::vector<std::string> exported;

  bool Exports(std::string_view name) const;
};

// `path` is a JDK home, its bin/java, or its lib/server/libjvm.so (JDK 8: jre/lib/ARCH/server);
// symbolic links are followed.
// Fails with kBadInput when that is no JDK or a damaged one, and with kUnable when this machine
// cannot run it or it exports no AsyncGetCallTrace.
Result<Jdk> OpenJdk(std::string path);

// The JDKs of $WALKHAMMER_JDK, $JAVA_HOME, /usr/lib/jvm/* and `java` on PATH that open,
// distinct by libjvm, oldest feature first. Why others did not goes to `unusable` if given:
// each failure for the two variables, but only kUnable for what was merely come across.
std::vector<Jdk> FindJdks(std::vector<Failure>* unusable = nullptr);

// The last one of FindJdks that has vmStructs and is no newer than kNewestFeature; else the last
// one. kUnable if there is none.
Result<Jdk> NewestJdk();

// What a user gets who names no JDK: $WALKHAMMER_JDK if that is set (its failure included),
// otherwise NewestJdk.
Result<Jdk> DefaultJdk();

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_IMAGES_JDK_H_
