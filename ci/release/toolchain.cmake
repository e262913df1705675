# SPDX-License-Identifier: Apache-2.0
# Toolchain file of releases: this machine's g++ with the headers, the static libraries and the C
# library of $WALKHAMMER_SYSROOT, which ci/release.sh unpacks.
set(root "$ENV{WALKHAMMER_SYSROOT}")
execute_process(COMMAND g++ -print-multiarch OUTPUT_VARIABLE triplet OUTPUT_STRIP_TRAILING_WHITESPACE)
set(libraries "${root}/usr/lib/${triplet}")
set(CMAKE_C_COMPILER gcc)
set(CMAKE_CXX_COMPILER g++)
set(CMAKE_SYSROOT "${root}")
set(CMAKE_LIBRARY_ARCHITECTURE ${triplet})

# Programs and the JDK are this machine's, all else is the sysroot's.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${root}")
set(ENV{PKG_CONFIG_LIBDIR} "${libraries}/pkgconfig:${root}/usr/share/pkgconfig")

# Debian's g++ looks for libraries beside itself first, whatever the sysroot; -B and -L go before.
# What the static libraries need of the C library comes last.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-B${libraries} -L${libraries}")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-B${libraries} -L${libraries}")
set(CMAKE_MODULE_LINKER_FLAGS_INIT "-B${libraries} -L${libraries}")
set(CMAKE_C_STANDARD_LIBRARIES "${root}/older_glibc.o -lpthread -ldl -lrt -lm")
set(CMAKE_CXX_STANDARD_LIBRARIES "${root}/older_glibc.o -lpthread -ldl -lrt -lm")
