# SPDX-License-Identifier: Apache-2.0
# Toolchain file for cross-builds to aarch64 by Debian's cross compiler, with the libraries that
# ci/setup/aarch64_sysroot.sh has unpacked into $WALKHAMMER_AARCH64 (default:
# ~/.cache/walkhammer/aarch64).
if(DEFINED ENV{WALKHAMMER_AARCH64})
  set(unpacked "$ENV{WALKHAMMER_AARCH64}")
elseif(DEFINED ENV{XDG_CACHE_HOME})
  set(unpacked "$ENV{XDG_CACHE_HOME}/walkhammer/aarch64")
else()
  set(unpacked "$ENV{HOME}/.cache/walkhammer/aarch64")
endif()
set(root "${unpacked}/sysroot")
set(libraries "${root}/usr/lib/aarch64-linux-gnu")

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

set(CMAKE_FIND_ROOT_PATH "${root}")
include("${CMAKE_CURRENT_LIST_DIR}/sysroot.cmake")

# The cross compiler has a C library of its own, but libraries of the sysroot need libraries of the
# sysroot.
add_link_options("-Wl,-rpath-link,${libraries}:${root}/lib/aarch64-linux-gnu" "-L${libraries}")

# The build itself starts tests to list them, so it needs the emulator.
find_program(emulator NAMES qemu-aarch64 qemu-aarch64-static PATHS "${unpacked}")
if(emulator)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${emulator};-L;${root}")
endif()
