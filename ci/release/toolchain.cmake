# SPDX-License-Identifier: Apache-2.0
# Toolchain file of releases: g++ of this machine, for itself or for another architecture, with
# the headers, the static libraries and the C library of $WALKHAMMER_SYSROOT, which ci/release.sh
# unpacks.
set(root "$ENV{WALKHAMMER_SYSROOT}")
file(GLOB libraries "${root}/usr/lib/*-linux-gnu")
cmake_path(GET libraries FILENAME triplet)
execute_process(COMMAND g++ -print-multiarch OUTPUT_VARIABLE here OUTPUT_STRIP_TRAILING_WHITESPACE)
set(CMAKE_C_COMPILER gcc)
set(CMAKE_CXX_COMPILER g++)
if(NOT triplet STREQUAL here)
  set(CMAKE_C_COMPILER ${triplet}-gcc)
  set(CMAKE_CXX_COMPILER ${triplet}-g++)
  set(CMAKE_SYSTEM_NAME Linux)
  string(REGEX REPLACE "-.*" "" CMAKE_SYSTEM_PROCESSOR ${triplet})
  # A cross compiler has headers of another C library, which it prefers to those of a sysroot.
  execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=include OUTPUT_VARIABLE own
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(c_headers "-isystem ${own} -isystem ${root}/usr/include/${triplet} -isystem ${root}/usr/include")
  set(cxx "${root}/usr/include/c++/12")
  set(CMAKE_C_FLAGS_INIT "-nostdinc ${c_headers}")
  set(CMAKE_CXX_FLAGS_INIT "-nostdinc -isystem ${cxx} -isystem ${root}/usr/include/${triplet}/c++/12 ${c_headers}")
endif()
set(CMAKE_SYSROOT "${root}")
set(CMAKE_LIBRARY_ARCHITECTURE ${triplet})
include("${CMAKE_CURRENT_LIST_DIR}/../setup/sysroot.cmake")

# Debian's g++ looks for libraries beside itself first, whatever the sysroot; -B and -L go before.
# What the static libraries need of the C library comes last.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-B${libraries} -L${libraries}")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-B${libraries} -L${libraries}")
set(CMAKE_MODULE_LINKER_FLAGS_INIT "-B${libraries} -L${libraries}")
set(CMAKE_C_STANDARD_LIBRARIES "${root}/older_glibc.o -lpthread -ldl -lrt -lm")
set(CMAKE_CXX_STANDARD_LIBRARIES "${root}/older_glibc.o -lpthread -ldl -lrt -lm")
