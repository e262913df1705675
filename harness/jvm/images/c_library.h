// SPDX-License-Identifier: Apache-2.0
// CLibraryNeed: which C library an ELF file was linked with, and how new that must be.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_JVM_IMAGES_C_LIBRARY_H_
#define WALKHAMMER_HARNESS_JVM_IMAGES_C_LIBRARY_H_

#include <string>
#include <utility>

namespace walkhammer {

// Of glibc, e.g. {2, 38}; compares as versions do.
using GlibcVersion = std::pair<int, int>;

struct CLibraryNeed {
  bool is_musl = false;  // it asks for musl's library (DT_NEEDED libc.musl-*)
  GlibcVersion glibc{};  // the newest GLIBC_x.y among its .gnu.version_r; {0, 0}: none
};

// Of a file that cannot be read: nothing.
CLibraryNeed CLibraryNeedOf(const std::string& path);

// Of this process; {0, 0} where its C library is another one.
GlibcVersion OwnGlibc();

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_IMAGES_C_LIBRARY_H_
