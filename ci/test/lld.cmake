# SPDX-License-Identifier: Apache-2.0
# CI links its hundred executables with lld, in a sixth of the CPU time that ld takes. gcc looks for
# `ld.lld` in the folder of -B; Debian's has another name outside of it.
option(WALKHAMMER_LLD "Link executables with lld if it is installed" OFF)
if(WALKHAMMER_LLD)
  find_program(lld NAMES ld.lld ld.lld-14)
  file(REAL_PATH "${lld}" lld)
  cmake_path(GET lld PARENT_PATH lld_folder)
  if(EXISTS ${lld_folder}/ld.lld)
    string(APPEND CMAKE_EXE_LINKER_FLAGS " -fuse-ld=lld -B${lld_folder}")
  endif()
endif()
