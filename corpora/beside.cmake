# SPDX-License-Identifier: Apache-2.0
# Included by CMakeLists.txt: data that the command finds beside itself.

# The seeds that guided engines start from.
file(GLOB seed_files CONFIGURE_DEPENDS corpora/seeds/*.walk
     corpora/seeds/${CMAKE_SYSTEM_PROCESSOR}/*.walk)
add_custom_command(
  OUTPUT ${CMAKE_BINARY_DIR}/seeds.stamp
  COMMAND ${CMAKE_COMMAND} -E rm -rf seeds
  COMMAND ${CMAKE_COMMAND} -E make_directory seeds
  COMMAND ${CMAKE_COMMAND} -E copy ${seed_files} seeds
  COMMAND ${CMAKE_COMMAND} -E touch seeds.stamp
  DEPENDS ${seed_files}
  WORKING_DIRECTORY ${CMAKE_BINARY_DIR}
  VERBATIM)
add_custom_target(seeds ALL DEPENDS ${CMAKE_BINARY_DIR}/seeds.stamp)

# What `bugs check` replays, what import compares crashes with, and what readers of vmStructs read.
file(GLOB_RECURSE corpus_files CONFIGURE_DEPENDS corpora/known-issues/* corpora/regressions/*
     corpora/vmstructs/*)
add_custom_command(
  OUTPUT ${CMAKE_BINARY_DIR}/corpora.stamp
  COMMAND ${CMAKE_COMMAND} -E rm -rf known-issues regressions vmstructs
  COMMAND ${CMAKE_COMMAND} -E copy_directory ${CMAKE_SOURCE_DIR}/corpora/known-issues known-issues
  COMMAND ${CMAKE_COMMAND} -E copy_directory ${CMAKE_SOURCE_DIR}/corpora/regressions regressions
  COMMAND ${CMAKE_COMMAND} -E copy_directory ${CMAKE_SOURCE_DIR}/corpora/vmstructs vmstructs
  COMMAND ${CMAKE_COMMAND} -E touch corpora.stamp
  DEPENDS ${corpus_files}
  WORKING_DIRECTORY ${CMAKE_BINARY_DIR}
  VERBATIM)
add_custom_target(corpora ALL DEPENDS ${CMAKE_BINARY_DIR}/corpora.stamp)
add_dependencies(walkhammer corpora)  # without known issues, all that it finds is new

# The catalogues of workloads, and their scripts.
file(GLOB workload_files CONFIGURE_DEPENDS workloads/*.catalogue workloads/*.sh)
list(APPEND workload_files ${CMAKE_SOURCE_DIR}/workloads/distributions)
file(GLOB workload_programs CONFIGURE_DEPENDS workloads/programs/*)
add_custom_command(
  OUTPUT ${CMAKE_BINARY_DIR}/workloads.stamp
  COMMAND ${CMAKE_COMMAND} -E rm -rf workloads
  COMMAND ${CMAKE_COMMAND} -E make_directory workloads/programs
  COMMAND ${CMAKE_COMMAND} -E copy ${workload_files} workloads
  COMMAND ${CMAKE_COMMAND} -E copy ${workload_programs} workloads/programs
  COMMAND ${CMAKE_COMMAND} -E touch workloads.stamp
  DEPENDS ${workload_files} ${workload_programs}
  WORKING_DIRECTORY ${CMAKE_BINARY_DIR}
  VERBATIM)
add_custom_target(workloads ALL DEPENDS ${CMAKE_BINARY_DIR}/workloads.stamp)
