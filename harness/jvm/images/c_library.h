// SPDX-License-Identifier: Apache-2.0
// CLibraryNeed: which C library an ELF file is linked with, and the oldest version that will do.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_JVM_IMAGES_C_LIBRARY_H_
#define WALKHAMMER_HARNESS_JVM_IMAGES_C_LIBRARY_H_

#include <string>
#include <utility>

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

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_IMAGES_C_LIBRARY_H_
