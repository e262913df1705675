# SPDX-License-Identifier: Apache-2.0
# Included by toolchain files: programs and the JDK are this machine's, all else is of the folder
# `root`, whose libraries are in `libraries`.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${root}")
set(ENV{PKG_CONFIG_LIBDIR} "${libraries}/pkgconfig:${root}/usr/share/pkgconfig")
