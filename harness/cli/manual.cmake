# SPDX-License-Identifier: Apache-2.0
# Included by CMakeLists.txt: the manual pages.

# The command writes them. One that is built for another architecture runs in the emulator of the
# toolchain file, or in that of $WALKHAMMER_EMULATOR.
set(runs_here ON)
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
  set(runs_here OFF)
  if(DEFINED ENV{WALKHAMMER_EMULATOR})
    set(runs_here ON)
    set_target_properties(walkhammer PROPERTIES
                          CROSSCOMPILING_EMULATOR "$ENV{WALKHAMMER_EMULATOR};-L;${CMAKE_SYSROOT}")
  elseif(WALKHAMMER_RELEASE)
    message(FATAL_ERROR "manual pages need WALKHAMMER_EMULATOR=qemu-${CMAKE_SYSTEM_PROCESSOR}")
  endif()
endif()
if(runs_here AND NOT WALKHAMMER_SANITIZE)
  add_custom_command(
    OUTPUT ${CMAKE_BINARY_DIR}/manual.stamp
    COMMAND ${CMAKE_COMMAND} -E rm -rf manual
    COMMAND ${CMAKE_COMMAND} -E make_directory manual
    COMMAND walkhammer manual manual
    COMMAND sh -c "gzip -9n manual/*.1"
    COMMAND ${CMAKE_COMMAND} -E touch manual.stamp
    DEPENDS walkhammer
    WORKING_DIRECTORY ${CMAKE_BINARY_DIR}
    VERBATIM)
  add_custom_target(manual ALL DEPENDS ${CMAKE_BINARY_DIR}/manual.stamp)
endif()
