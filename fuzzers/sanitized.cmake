# SPDX-License-Identifier: Apache-2.0
# Included by CMakeLists.txt for the sanitized build: fuzzers of what reads memory, runs and logs.

# The reference walk under libFuzzer, which comes with clang. Its sources are compiled again, with
# the coverage instrumentation that guides libFuzzer.
get_target_property(reference_sources wh_walk SOURCES)
add_executable(reference_fuzzer fuzzers/reference_fuzzer.cc harness/jvm/structs/code_finder.cc
               harness/jvm/structs/memory.cc harness/jvm/structs/method_table.cc
               harness/jvm/structs/vm_structs.cc harness/base/mappings.cc
               harness/asgst/testing/made_up_jvm.cc
               ${reference_sources})
target_link_libraries(reference_fuzzer PRIVATE jvm_headers PkgConfig::ELF)
target_compile_options(reference_fuzzer PRIVATE -O1 ${engine_to_compile})
target_link_options(reference_fuzzer PRIVATE ${engine_to_link})

# The readers of run folders take longest to compile, so they are not optimised, and this fuzzer
# shares their libraries with the tests.
foreach(library ${run_readers})
  target_compile_options(${library} PRIVATE ${coverage_for_engine})
endforeach()
add_executable(run_folder_fuzzer fuzzers/run_folder_fuzzer.cc)
target_link_libraries(run_folder_fuzzer PRIVATE wh_reports)
target_compile_options(run_folder_fuzzer PRIVATE -O1 ${engine_to_compile})
target_link_options(run_folder_fuzzer PRIVATE ${engine_to_link})

# What reads crash logs, which many tests read to and fro: optimised, and shared in the same way.
target_compile_options(wh_hs_err PRIVATE -O1 ${coverage_for_engine})
add_executable(crash_log_fuzzer fuzzers/crash_log_fuzzer.cc)
target_link_libraries(crash_log_fuzzer PRIVATE wh_hs_err)
target_compile_options(crash_log_fuzzer PRIVATE -O1 ${engine_to_compile})
target_link_options(crash_log_fuzzer PRIVATE ${engine_to_link})
