#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the tests that start JVMs or the command and that cover a source file, as the second stage of
# ci/test/mutate.sh: --then 'ci/test/tests_for_file.sh "$MUTANT"'. Takes minutes for a file.
#   ci/test/tests_for_file.sh FILE      builds what the tests use, and runs them
#   ci/test/tests_for_file.sh --list    prints which tests cover which files
# Exit codes: 0 all passed (or no test covers the file), 1 one failed, alone, too, or the build did,
# 2 usage.
set -eu
cd "$(dirname "$0")/../.."
build=build/release

# Columns: files, as a shell pattern; tests, those first that take least. The first row counts.
rows='
harness/walkers/asprof*.cc      puzzles_test profilers.bats
harness/walkers/ddprof*.cc      puzzles_test profilers.bats
harness/walkers/profiler*.cc    puzzles_test profilers.bats
harness/walkers/jvmti_request.cc      requests.bats
harness/walkers/*.cc            puzzles_test providers.bats reference.bats
harness/asgst/*.cc              reference.bats providers.bats puzzles_test stress.bats
harness/layout_check/*.cc              layout_check_test puzzles_test cli.bats
harness/jvm/images/*.cc         cli.bats jdks.bats stress.bats
harness/jvm/*.cc                layout_check_test failed_checks_test puzzles_test cli.bats stress.bats
harness/coverage/*.cc           engines_test puzzles_test cli.bats fuzzers.bats
harness/elf/*.cc                puzzles_test cli.bats stress.bats profilers.bats
harness/guard/*.cc              puzzles_test supervise_test stress.bats undescribed.bats
harness/crash/*.cc              crash_reports.bats redact.bats
harness/hs_err/*.cc             crash_reports.bats redact.bats
harness/bugs/*.cc               bugs.bats gate.bats builds.bats crash_reports.bats corpora.bats
harness/store/*.cc              run_folder.bats archives.bats cli.bats hostile.bats stress.bats
harness/findings/*.cc           puzzles_test supervise_test bugs.bats cli.bats corpora.bats
harness/supervise/stress_runs/*.cc   backends.bats requests.bats stress.bats
harness/supervise/campaign/*.cc supervise_test engines_test shards.bats cli.bats
harness/supervise/builds/*.cc   builds.bats gate.bats
harness/supervise/reproduce/*.cc crash_reports.bats
harness/supervise/*.cc          supervise_test puzzles_test cli.bats stress.bats
harness/cli/stress*.cc          backends.bats stress.bats
harness/cli/*.cc                cli.bats archives.bats bugs.bats builds.bats crash_reports.bats
harness/process/*.cc            supervise_test cli.bats stress.bats
harness/request/*.cc            puzzles_test supervise_test corpora.bats cli.bats
harness/oracles/*.cc            puzzles_test supervise_test cli.bats stress.bats
harness/*.cc                    puzzles_test supervise_test engines_test cli.bats
stress/*.cc                     supervise_test stress.bats torture.bats undescribed.bats
workloads/*.cc                  programs_test workloads.bats
reports/*.cc                    cli.bats gate.bats stress.bats
fuzzers/*.cc                    engines_test afl_test fuzzers.bats
'

case ${1:-} in
  --list)
    printf '%s' "$rows"
    exit 0
    ;;
  *.cc) [ -f "$1" ] || { echo "ci/test/tests_for_file.sh: there is no file $1" >&2 && exit 2; } ;;
  *)
    echo "ci/test/tests_for_file.sh: wants one source file; see its first lines" >&2
    exit 2
    ;;
esac

# tests_of FILE: prints the tests of the first row that fits.
tests_of() {
  printf '%s' "$rows" | while read -r pattern tests; do
    # shellcheck disable=SC2254  # a pattern
    case $1 in $pattern)
      echo "$tests"
      break
      ;;
    esac
  done
}
tests=$(tests_of "$1")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# fails_alone FILE NAME: true if that test of the command fails again, or if no test has that name,
# which is so where the file's set-up failed.
fails_alone() {
  # shellcheck disable=SC2016  # a pattern
  name=$(printf '%s' "$2" | sed 's/[][\.*^$()+?{}|]/\\&/g')
  ! timeout 600 bats --tap "ci/test/$1" -f "^$name\$" >"$work/again" 2>&1 ||
    grep -qx '1\.\.0' "$work/again"
}

# passes_bats FILE: false if one of its tests fails twice, or if the file does not end. All tests
# run.
passes_bats() {
  ! timeout 1500 bats --tap "ci/test/$1" >"$work/tap" 2>&1 || return 0
  sed -n 's/^not ok [0-9]* //p' "$work/tap" >"$work/failed"
  [ -s "$work/failed" ] || {
    echo "$1 did not end"
    return 1
  }
  while read -r name; do
    ! fails_alone "$1" "$name" || {
      echo "$1: $name"
      return 1
    }
  done <"$work/failed"
}

gtests=
for test in $tests; do case $test in *_test) gtests="$gtests $test" ;; esac done
# shellcheck disable=SC2086  # a list of names
timeout 3600 ninja -C $build all $gtests >"$work/said" 2>&1 || {
  tail -n 5 "$work/said"
  exit 1
}
for test in $tests; do
  case $test in
    *.bats) passes_bats "$test" || exit 1 ;;
    *) (cd $build && { GTEST_FAIL_FAST=1 timeout 900 "./$test" || GTEST_FAIL_FAST=1 timeout 900 "./$test"; }) \
      >"$work/said" 2>&1 || {
      echo "$test"
      exit 1
    } ;;
  esac
done
