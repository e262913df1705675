# SPDX-License-Identifier: Apache-2.0
# The tests that ctest runs. Included by CMakeLists.txt; paths are relative to the project.

# Compiled once for all tests.
add_library(test_headers OBJECT harness/base/test_headers.cc)
target_precompile_headers(test_headers PRIVATE <gmock/gmock.h> <gtest/gtest.h> <functional>
                          <filesystem> <fstream> <map> <memory> <optional> <string> <vector>)
target_link_libraries(test_headers PRIVATE GTest::gmock GTest::gtest_main)
target_compile_options(test_headers PRIVATE -O0)

# A unity build does not optimise the cold libraries, so their tests show there what they show with
# sanitizers.
option(WALKHAMMER_COLD_TESTS "Tests of the cold libraries without sanitizers, too" ON)

# Only what hangs takes so long: machines are busy, and emulation is slow.
set(test_timeout 300)
if(CMAKE_CROSSCOMPILING)
  set(test_timeout 900)
endif()

# wh_test(NAME SOURCE... LIBS LIBRARY... [LABELS LABEL...] [DEFINITIONS NAME=VALUE...]
#         [DEPENDS TARGET...] [BY_BATS] [COLD] [TOGETHER]): one executable, each TEST a ctest test;
# with sanitizers, the executable is one. A SOURCE may be a pattern.
# Label jvm: loads a JVM or starts one. BY_BATS: no ctest tests; a bats test runs it. COLD: tests
# cold libraries only, see WALKHAMMER_COLD_TESTS. TOGETHER: one ctest test under an emulator, too,
# which takes a tenth of a second of CPU time to start a program.
function(wh_test name)
  cmake_parse_arguments(PARSE_ARGV 1 test "BY_BATS;COLD;TOGETHER" ""
                        "LIBS;LABELS;DEFINITIONS;DEPENDS")
  if(test_COLD AND NOT WALKHAMMER_COLD_TESTS AND NOT WALKHAMMER_SANITIZE)
    return()
  endif()
  foreach(pattern ${test_UNPARSED_ARGUMENTS})
    file(GLOB found CONFIGURE_DEPENDS ${pattern})
    if(NOT found)
      message(FATAL_ERROR "${name}: there is no ${pattern}")
    endif()
    list(APPEND sources ${found})
  endforeach()
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE ${test_LIBS} GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE ${test_DEFINITIONS})
  if(test_DEPENDS)
    add_dependencies(${name} ${test_DEPENDS})
  endif()
  # Tests are not optimised, because they take longest to compile.
  target_compile_options(${name} PRIVATE -O0)
  target_precompile_headers(${name} REUSE_FROM test_headers)
  if(test_BY_BATS)
    return()
  endif()
  if(WALKHAMMER_SANITIZE OR (CMAKE_CROSSCOMPILING AND test_TOGETHER))
    # A process for each of two thousand tests takes a quarter of their time.
    add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
    set_tests_properties(${name} PROPERTIES TIMEOUT 1800 LABELS "${test_LABELS}")
    return()
  endif()
  set(properties TIMEOUT ${test_timeout})
  if(test_LABELS)
    list(APPEND properties LABELS "${test_LABELS}")
  endif()
  # The build lists the tests of an executable, maybe beside other work and at a low priority.
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 300 PROPERTIES ${properties})
endfunction()

wh_test(base_test harness/base/[a-s]*_test.cc harness/base/text_test.cc harness/base/ticks_test.cc
        LIBS wh_base)
wh_test(hs_err_test harness/hs_err/*_test.cc harness/hs_err/testing/*.cc LIBS wh_hs_err COLD
        DEFINITIONS WALKHAMMER_CRASH_LOGS="${CMAKE_SOURCE_DIR}/harness/hs_err/testdata")
wh_test(workloads_test workloads/catalogue_test.cc workloads/prepare_test.cc LIBS wh_workloads COLD
        DEFINITIONS WALKHAMMER_WORKLOADS="${CMAKE_SOURCE_DIR}/workloads")
wh_test(request_test harness/request/*_test.cc LIBS wh_request
        DEFINITIONS WALKHAMMER_PAGES="${CMAKE_SOURCE_DIR}/docs/reference/")
wh_test(record_test harness/findings/*_test.cc harness/store/*_test.cc LIBS wh_store COLD
        DEFINITIONS WALKHAMMER_PAGES="${CMAKE_SOURCE_DIR}/docs/reference/")
wh_test(elf_test harness/elf/*_test.cc harness/ipc/*_test.cc LIBS wh_ipc)
wh_test(bugs_test harness/base/toml_test.cc harness/bugs/*_test.cc harness/bugs/runs/*_test.cc LIBS wh_bug_runs COLD
        DEFINITIONS WALKHAMMER_CORPORA="${CMAKE_SOURCE_DIR}/corpora")
wh_test(crash_test
        harness/crash/*_test.cc harness/crash/core/*_test.cc harness/hs_err/testing/crash_log.cc
        harness/hs_err/testing/planted_secrets.cc harness/hs_err/testing/wrappings.cc
        harness/supervise/reproduce/*_test.cc
        LIBS wh_core wh_reproduce COLD
        DEFINITIONS WALKHAMMER_CRASH_LOGS="${CMAKE_SOURCE_DIR}/harness/hs_err/testdata"
                    WALKHAMMER_CORPORA="${CMAKE_SOURCE_DIR}/corpora")
# A library whose code is listed. Its functions call each other without the PLT.
add_library(listed_code MODULE reports/testing/listed_code.cc)
target_compile_options(listed_code PRIVATE -O0 -g0 -fno-sanitize=all -fvisibility=hidden)
wh_test(reports_test
        reports/code_listing_test.cc reports/coverage_report_test.cc
        reports/first_screen_test.cc reports/flame_graph_test.cc reports/reports_test.cc
        reports/stress_report_test.cc reports/stress_verdict_test.cc
        LIBS wh_reports wh_campaign COLD DEPENDS listed_code
        DEFINITIONS WALKHAMMER_LISTED_CODE="$<TARGET_FILE:listed_code>")
wh_test(report_output_test
        reports/history_test.cc reports/json_schema_test.cc reports/report_output_test.cc
        LIBS wh_reports COLD
        DEFINITIONS WALKHAMMER_REPORT_SCHEMA="${CMAKE_SOURCE_DIR}/docs/reference/report.schema.json"
                    WALKHAMMER_REPORT_TESTING="${CMAKE_SOURCE_DIR}/reports/testing")
wh_test(gate_test reports/gate_*test.cc LIBS wh_reports COLD)
wh_test(night_test
        reports/change_points_test.cc reports/night_test.cc reports/series_test.cc
        LIBS wh_reports COLD)
wh_test(oracles_test harness/oracles/*_test.cc LIBS wh_store)
wh_test(line_test harness/line/line_test.cc LIBS wh_line)
wh_test(line_notes_test harness/supervise/campaign/line_notes_test.cc LIBS wh_campaign COLD)
wh_test(frame_rows_test harness/frame_rows/*_test.cc LIBS wh_frame_rows)
wh_test(expectation_test harness/scenes/expectation_test.cc LIBS wh_scenes)
wh_test(reference_test
        harness/asgst/process/class_table_test.cc harness/asgst/walk/activations_test.cc
        harness/asgst/walk/java_walk*_test.cc harness/asgst/walk/metadata_test.cc
        harness/asgst/walk/prologue_aarch64_test.cc
        harness/asgst/walk/prologue_x86_64_test.cc harness/asgst/walk/recorded_walk_test.cc
        harness/asgst/walk/reference_test.cc harness/asgst/walk/stub_exit_test.cc
        harness/asgst/process/class_table.cc harness/asgst/queue/sample_ring.cc
        harness/asgst/queue/sample_ring_test.cc harness/asgst/testing/made_up_jvm.cc
        harness/asgst/testing/recorded_walk.cc
        harness/asgst/walk/unwind_table_test.cc
        LIBS wh_unwind PkgConfig::CAPSTONE TOGETHER
        DEFINITIONS WALKHAMMER_RECORDS="${CMAKE_SOURCE_DIR}/harness/asgst/testing/recorded")
wh_test(walkers_test
        harness/walkers/asgst_layout_test.cc harness/walkers/engine_puzzles_test.cc
        harness/walkers/iterator_drift_test.cc harness/walkers/profiler_frames_test.cc
        harness/walkers/jvmti_request_test.cc harness/walkers/stderr_watch_test.cc
        harness/walkers/makers_test.cc
        LIBS wh_walkers)
wh_test(mutator_test harness/generate/mutator_test.cc LIBS wh_generate)
wh_test(block_credits_test fuzzers/block_credits_test.cc fuzzers/block_credits.cc LIBS wh_base)
wh_test(afl_mutator_test fuzzers/afl_mutator_test.cc LIBS wh_cli
        DEPENDS walkhammer_mutator)
wh_test(jdk_test harness/jvm/images/*_test.cc harness/jvm/structs/*_test.cc LIBS wh_cli)
wh_test(program_test harness/supervise/child_process_test.cc harness/process/*_test.cc LIBS wh_cli)
# A stand-in for the child, without a JVM, that behaves as a test tells it to.
add_executable(fake_child harness/supervise/testing/fake_child.cc)
target_link_libraries(fake_child PRIVATE wh_ipc)
# scenes_jar: the JVM flags beside it.
wh_test(worker_test
        harness/supervise/campaign/campaign_test.cc harness/supervise/confirmer_test.cc
        harness/supervise/minimize_input_test.cc harness/supervise/worker_test.cc
        LIBS wh_campaign COLD
        DEPENDS fake_child scenes_jar)
wh_test(builds_test harness/supervise/builds/*_test.cc LIBS wh_builds COLD
        DEPENDS fake_child scenes_jar)
wh_test(faults_test
        harness/process/testing/faults.cc harness/supervise/campaign/faults_test.cc
        LIBS wh_campaign COLD
        DEPENDS fake_child scenes_jar)
# The same faults for whole runs of the command: ci/soak.sh chaos preloads it.
add_library(faults SHARED harness/process/testing/faults.cc)
wh_test(cli_test harness/cli/*_test.cc LIBS wh_cli COLD)
wh_test(stress_tables_test
        stress/answer_hash*.cc stress/code_recorder.cc stress/described_code.cc stress/stack_table.cc
        stress/tables_test.cc
        LIBS wh_cli)
wh_test(sampled_threads_test stress/sampled_threads.cc stress/sampled_threads_test.cc
        LIBS wh_ipc wh_guard)
wh_test(sampler_test stress/*sampler.cc stress/sampled_threads.cc stress/sampler_test.cc
        LIBS wh_ipc wh_guard)
wh_test(minimizer_test harness/supervise/minimizer_test.cc LIBS wh_cli COLD)
wh_test(step_map_test harness/supervise/stress_runs/cell_records_test.cc
        harness/supervise/stress_runs/frame_map_test.cc
        harness/supervise/stress_runs/ptrace_stepper_test.cc harness/supervise/stress_runs/step_map_test.cc
        harness/supervise/stress_runs/timer_signals_test.cc
        LIBS wh_cli)
wh_test(step_truth_test stress/step_evidence*.cc stress/step_truth*.cc LIBS wh_ipc)
wh_test(backend_test
        harness/supervise/stress_runs/cell_status_text_test.cc harness/supervise/stress_runs/sampling_backend_test.cc
        harness/supervise/stress_runs/request_answers_test.cc
        harness/supervise/stress_runs/stress_plan_test.cc harness/supervise/stress_runs/stress_run_test.cc
        LIBS wh_cli COLD)
wh_test(stepped_stack_test
        stress/known_callers*.cc stress/seen_place*.cc stress/step_instruction*.cc
        stress/stepped_stack*.cc
        LIBS wh_elf wh_ipc)

# fake_provider(NAME SOURCE DEFINITION...): a library that stands for the libjvm.so of a JDK that
# exports the APIs of provider jdk.
function(fake_provider name source)
  add_library(${name} MODULE harness/walkers/testing/${source})
  target_compile_definitions(${name} PRIVATE ${ARGN})
  target_compile_options(${name} PRIVATE -fvisibility=hidden -fno-sanitize=all)
  target_link_libraries(${name} PRIVATE jvm_headers ${CMAKE_DL_LIBS})
  set_target_properties(${name} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY providers)
endfunction()
if(NOT WALKHAMMER_SANITIZE)
  fake_provider(fake_profiler fake_profiler.cc)
  fake_provider(fake_profiler_registers fake_profiler.cc FAKE_REGISTERS)
  fake_provider(fake_profiler_faults fake_profiler.cc FAKE_FAULTS)
  fake_provider(fake_profiler_escapes fake_profiler.cc FAKE_ESCAPES)
  fake_provider(fake_profiler_wrong fake_profiler.cc FAKE_WRONG)
  fake_provider(fake_profiler_form fake_profiler.cc FAKE_FORM)
  fake_provider(fake_profiler_refuses fake_profiler.cc FAKE_REFUSES)
  fake_provider(fake_profiler_profiles fake_profiler.cc FAKE_PROFILES)
  fake_provider(fake_ddprof fake_ddprof.cc)
  fake_provider(fake_ddprof_wrong fake_ddprof.cc FAKE_WRONG)
  fake_provider(fake_ddprof_form fake_ddprof.cc FAKE_FORM)
  fake_provider(fake_ddprof_refuses fake_ddprof.cc FAKE_REFUSES)
  fake_provider(fake_draft fake_asgst.cc FAKE_LAYOUT=0)
  fake_provider(fake_early fake_asgst.cc FAKE_LAYOUT=1)
  fake_provider(fake_late fake_asgst.cc FAKE_LAYOUT=2)
  fake_provider(fake_unknown fake_asgst.cc FAKE_LAYOUT=3)
  fake_provider(fake_hiding fake_asgst.cc FAKE_LAYOUT=2 FAKE_HIDES_CRASHES)
  fake_provider(fake_crashing fake_asgst.cc FAKE_LAYOUT=0 FAKE_CRASHES)
  fake_provider(fake_requests fake_requests.cc)
  fake_provider(fake_iterator fake_iterator.cc)
  fake_provider(fake_older_iterator fake_iterator.cc FAKE_OLDER)
  fake_provider(fake_agct fake_agct.cc)
  fake_provider(fake_agct_wrong fake_agct.cc FAKE_WRONG)
  foreach(name plugin plugin_with_bug)
    fake_provider(${name} ../../../docs/examples/plugin.c)
    target_include_directories(${name} PRIVATE harness/walkers/include)
  endforeach()
  target_compile_definitions(plugin_with_bug PRIVATE WITH_BUG)
  fake_provider(loads_walker loads_walker.cc)
  target_include_directories(loads_walker PRIVATE harness/walkers/include)
  foreach(form documents older_documents null_texts without_marks name_bug id_bug lines_bug
          overrun_bug class_bug loses_element_bug twice_bug order_bug other_thread_bug
          other_frame_bug nothing_queued_bug element_bug no_end_bug resize_bug late_mark_bug
          early_mark_bug mark_thread_bug mark_bug no_native_frame_bug)
    string(REPLACE _documents "" definition ${form})
    string(TOUPPER FAKE_${definition} definition)
    fake_provider(fake_${form} fake_documents.cc ${definition}
                  WALKHAMMER_LIBASGST="$<TARGET_FILE_NAME:asgst>")
    set_target_properties(fake_${form} PROPERTIES BUILD_RPATH "\$ORIGIN/..")
  endforeach()
  fake_provider(bad_walkers bad_walkers.cc WALKHAMMER_LIBASGST="$<TARGET_FILE:asgst>")
endif()

# A library with known branches. Always optimised, as libjvm is, so that it has the same code
# shapes.
add_library(branches MODULE harness/coverage/testing/branches.cc)
target_compile_options(branches PRIVATE -O2 -g0 -fno-rtti -fno-exceptions -fno-sanitize=all)
set(branches_path WALKHAMMER_BRANCHES="$<TARGET_FILE:branches>")
# A library whose loads are known.
add_library(reads MODULE harness/coverage/testing/reads.cc)
target_compile_options(reads PRIVATE -O2 -g0 -fno-rtti -fno-exceptions -fno-sanitize=all
                       -fno-builtin)

wh_test(block_map_test harness/coverage/block_map_test.cc LIBS wh_coverage)
target_compile_definitions(block_map_test PRIVATE ${branches_path}
                           WALKHAMMER_STRIP="${CMAKE_STRIP}"
                           WALKHAMMER_TEXT="${CMAKE_SOURCE_DIR}/README.md")
add_dependencies(block_map_test branches)

# These tests take over signals and malloc, which sanitizers need for themselves.
if(NOT WALKHAMMER_SANITIZE)
  wh_test(guard_test harness/guard/guard_test.cc LIBS wh_walkers)
  wh_test(system_calls_test harness/guard/system_calls_test.cc LIBS wh_guard)
  wh_test(entry_hooks_test harness/guard/entry_hooks_test.cc LIBS wh_guard)
  wh_test(walk_line_test harness/child/method_keeper_test.cc harness/child/walk_line_test.cc
          LIBS wh_child)
  wh_test(guard_edges_test harness/guard/guard_edges_test.cc LIBS wh_walkers)
  wh_test(jvm_ends_walks_test harness/guard/jvm_ends_walks_test.cc LIBS wh_walkers)
  wh_test(failed_check_test harness/guard/failed_check_test.cc LIBS wh_walkers)
  # guard_test checks the addresses of faults and callers in its own, optimised code.
  target_compile_options(guard_test PRIVATE -O2)
  set_target_properties(guard_test PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
  wh_test(interpose_test harness/guard/interpose_test.cc harness/guard/interpose.cc
          LIBS wh_walkers)
  set_target_properties(interpose_test PROPERTIES ENABLE_EXPORTS ON)
  # `caller` makes dlopen and dlsym calls whose results depend on the calling library; `beside` is a
  # library in its RUNPATH.
  add_library(beside MODULE harness/guard/testing/beside.cc)
  set_target_properties(beside PROPERTIES LIBRARY_OUTPUT_DIRECTORY caller/beside)
  add_library(caller MODULE harness/guard/testing/caller.cc)
  set_target_properties(caller PROPERTIES LIBRARY_OUTPUT_DIRECTORY caller
                        BUILD_RPATH "$ORIGIN/beside")
  target_link_options(caller PRIVATE -Wl,--enable-new-dtags)
  add_library(allocator MODULE harness/guard/testing/allocator.cc)
  target_compile_options(allocator PRIVATE -fno-builtin)
  add_dependencies(interpose_test caller beside allocator)
  target_compile_definitions(interpose_test PRIVATE
                             WALKHAMMER_ALLOCATOR="$<TARGET_FILE:allocator>"
                             WALKHAMMER_CALLER="$<TARGET_FILE:caller>")
  wh_test(trap_coverage_test harness/coverage/trap_coverage_test.cc LIBS wh_coverage wh_walkers)
  target_compile_definitions(trap_coverage_test PRIVATE ${branches_path})
  add_dependencies(trap_coverage_test branches)
  wh_test(failing_loads_test harness/coverage/failing_loads_test.cc LIBS wh_coverage wh_walkers)
  target_compile_definitions(failing_loads_test PRIVATE WALKHAMMER_READS="$<TARGET_FILE:reads>")
  add_dependencies(failing_loads_test reads)
  wh_test(programs_test workloads/programs_test.cc LIBS wh_cli LABELS jvm)
  add_dependencies(programs_test workloads)
  # These tests start the command of the same build folder.
  wh_test(puzzles_test harness/walkers/puzzles_test.cc LIBS wh_cli LABELS jvm)
  wh_test(supervise_test harness/supervise/differential_test.cc
          harness/supervise/snapshot_replay_test.cc
          harness/supervise/supervise_test.cc LIBS wh_cli LABELS jvm)
  wh_test(layout_check_test harness/layout_check/layout_check_test.cc LIBS wh_child wh_cli LABELS jvm)
  wh_test(failed_checks_test harness/jvm/live/failed_checks_test.cc
          harness/jvm/live/walked_statics_test.cc LIBS wh_child wh_cli LABELS jvm)
  add_subdirectory(harness/asgst/testing)
  wh_test(engines_test fuzzers/engines_test.cc LIBS wh_cli LABELS jvm)
  wh_test(afl_test fuzzers/afl_test.cc LIBS wh_cli LABELS jvm)
  foreach(test puzzles_test supervise_test engines_test afl_test)
    add_dependencies(${test} walkhammer walkhammer_child walk_fuzzer walk_afl asgst
                     walkhammer_mutator scenes_jar)
  endforeach()
endif()

# How often the gate is wrong, on runs that are drawn from real ones:
# docs/explanation/gate-statistics.md. The figures of the build machine will do.
if(WALKHAMMER_COLD_TESTS AND NOT WALKHAMMER_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  add_executable(gate_power reports/testing/gate_power.cc)
  target_link_libraries(gate_power PRIVATE wh_reports)
  add_test(NAME gate_power
           COMMAND gate_power 200 gate_stress_runs.txt gate_noisy_runs.txt gate_quiet_runs.txt
                   gate_fuzz_runs.txt
           WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}/reports/testing)
  set_tests_properties(gate_power PROPERTIES TIMEOUT ${test_timeout})
endif()
