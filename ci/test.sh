#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The gate: all checks that a change must pass. Scripts, format, two compilers without warnings,
# unit tests with and without sanitizers, tests of the command, an aarch64 JVM under emulation.
# Prints at the end what failed, and a line in ctest's form that counts every test and every step.
#   --full   compiles each file alone; tests cold libraries without sanitizers, too; runs the long
#            tests on each JDK, not on three of them
# Exit codes: 0 all passed, 1 something failed, 2 usage.
set -eu
[ "${1:-}" != --help ] || exec sed -n '3,/^set/s/^# \{0,1\}//p' "$0"
cd "$(dirname "$0")/.."

case $#$* in
  0)
    unset WALKHAMMER_FULL
    # It has the quick start's units, but for one: the guided engines link only a part of that.
    release='-DCMAKE_UNITY_BUILD=ON -DWALKHAMMER_FEW_UNITS=ON -DWALKHAMMER_COLD_TESTS=OFF'
    quick=CMakeFiles/wh_cold.dir/Unity/unity_crash_cxx.cxx.o
    # Planted bugs are looked for on the newest JDK.
    without='Each/(Puzzle|EnginePuzzle|Afl)Test.*oldest'
    ;;
  1--full)
    export WALKHAMMER_FULL=yes
    release='-DCMAKE_UNITY_BUILD=OFF -DWALKHAMMER_COLD_TESTS=ON'
    quick='walkhammer walkhammer_child asgst'
    without='^$'
    ;;
  *)
    echo "test: expected --full or nothing, got $*" >&2
    exit 2
    ;;
esac
exec 2>&1  # where only one of the two is kept

ctest="ctest -j $(nproc) --output-on-failure --no-tests=error --timeout 300"
logs=$(mktemp -d)
total=0
failed=0
skipped=0
step=start
begin=$(date +%s)
aside=  # the processes that start the steps aside

# Runs at every exit: a step that ended the script counts as failed.
finish() {
  status=$?
  stop_aside
  if [ "$status" -ne 0 ]; then
    total=$((total + 1))
    fails "$step"
  fi
  if [ -s "$logs/failed" ]; then
    echo
    echo '== what failed'
    cat "$logs/failed"
    echo
    echo '== the names of what failed'
    grep -E '^not ok |^ *[0-9]+/[0-9]+ Test |^FAILED: ' "$logs/failed" | cut -c 1-200 || true
  fi
  rm -rf "$logs"
  [ "$skipped" -eq 0 ] || echo "$skipped of the tests were skipped"
  [ "$total" -gt 0 ] || total=1
  echo
  echo "$(((total - failed) * 100 / total))% tests passed, $failed tests failed out of $total"
  [ "$failed" -eq 0 ] || exit 1
}
trap finish EXIT
trap 'exit 130' INT TERM

say() {
  step=$1
  echo
  echo "== $step (after $(($(date +%s) - begin)) s)"
}

# fails WHAT: counts a failure and prints it, here and at the end, which is all that some readers
# see.
fails() {
  failed=$((failed + 1))
  echo "FAILED: $1" | tee -a "$logs/failed"
}

# check NAME COMMAND...: a test that is one command; the script goes on if it fails.
check() {
  say "$1"
  shift
  total=$((total + 1))
  "$@" || fails "$step"
}

# must NAME COMMAND...: a step that later steps need: `set -e` ends the script if it fails.
must() {
  say "$1"
  shift
  "$@"
  total=$((total + 1))
}

# keep COMMAND...: runs COMMAND, prints and keeps its output; its exit code goes to $code.
keep() {
  { "$@" 2>&1 && echo 0 >"$logs/code" || echo $? >"$logs/code"; } | tee "$logs/output"
  code=$(cat "$logs/code")
}

# unit_tests NAME COMMAND...: COMMAND runs ctest. If it does so twice, the second time with what had
# failed, that one tells what fails.
unit_tests() {
  say "$1"
  shift
  keep "$@"
  counts=$(sed -n 's/.* \([0-9]*\) tests failed out of \([0-9]*\)$/\1 \2/p' "$logs/output" |
    awk 'NR == 1 { all = $2 } { failed = $1 } END { print failed, all }')
  skips=$(grep -c '\*\*\*Skipped' "$logs/output") || true
  # A test's output follows the line with its result. Its last lines say why it failed.
  awk 'function tail(  i) {
         for (i = n > 40 ? n - 40 : 0; i < n; i++) lines = lines line[i] "\n"
         n = 0
       }
       /^Test project / { lines = ""; n = 0 }
       /^ *Start / { next }
       /^ *[0-9]+\/[0-9]+ Test / {
         tail()
         on = /\*\*\*(Failed|Timeout|Exception|Not Run)/
         if (on) lines = lines $0 "\n"
         next
       }
       /^[0-9]+% tests passed/ { on = 0 }
       on { line[n++] = $0 }
       END { tail(); printf "%s", lines }' "$logs/output" >>"$logs/failed"
  count "${counts% *}" "${counts#* }" "$skips"
}

# The result of the sanitized tests. They run beside other steps, which may take the time that a
# test needs: what failed runs again, alone, unless a sanitizer has reported something.
sanitized_tests() {
  if finished sanitized; then
    # Each program is one of ctest's tests.
    awk '/^\[=+\] .* ran/ { programs++; tests += $2 } /^\[  SKIPPED \] [0-9]+ / { skipped += $4 }
      END { print programs + 0 " programs, " tests + 0 " tests, " skipped + 0 " skipped" }' \
      build/asan/Testing/Temporary/LastTest.log
    return
  fi
  ! grep -qE 'Sanitizer: |runtime error: ' "$logs/sanitized" || return 1
  echo "once more, alone: what failed"
  $ctest --test-dir build/asan --rerun-failed
}

# bats_files FILE...: runs as many files at once as there are cores, in this order. Prints what each
# says once it ends, since the output of two would mix.
bats_files() {
  # shellcheck disable=SC2016  # that shell's own arguments
  printf '%s\n' "$@" | xargs -P "$(nproc)" -I FILE sh -c '
    said=$1/$(basename "$2")
    bats --tap --timing "$2" >"$said" 2>&1 || code=$?
    flock "$1" cat "$said"
    exit "${code:-0}"' sh "$logs" FILE
}

bats_tests() {
  say "$1"
  shift
  keep bats_files "$@"
  passes=$(grep -c '^ok ' "$logs/output") || true
  failures=$(grep -c '^not ok ' "$logs/output") || true
  awk '/^(not )?ok / { on = /^not/ } on' "$logs/output" >>"$logs/failed"
  skips=$(grep -c '^ok .* # skip' "$logs/output") || true
  count "$failures" "$((passes + failures))" "$skips"
}

# count FAILED TOTAL SKIPPED: adds these numbers of tests of the command whose exit code is in
# $code.
count() {
  failed=$((failed + ${1:-0}))
  total=$((total + ${2:-0}))
  skipped=$((skipped + $3))
  # A tool that failed without a failed test, or that ran no test, is a failure of its own.
  if [ "${2:-0}" -eq 0 ] || { [ "$code" -ne 0 ] && [ "${1:-0}" -eq 0 ]; }; then
    total=$((total + 1))
    fails "$step (exit code $code)"
  fi
}

# aside NICE NAME COMMAND...: runs COMMAND with this niceness; its output and exit code go to files.
# It is a process group of its own, so that all of it can be killed; so the kernel schedules it as a
# group, too, whose priority is not that of its processes (sched_autogroup).
aside() {
  nice=$1
  name=$2
  shift 2
  # shellcheck disable=SC2016  # that shell's own number
  setsid sh -c 'echo $$ >"$0" || exit
    { echo "$1" >/proc/self/autogroup; } 2>/dev/null || true
    exec nice -n "$@"' "$logs/$name.group" "$nice" "$@" \
    >"$logs/$name" 2>&1 && echo 0 >"$logs/$name.code" || echo $? >"$logs/$name.code"
}

# beside NICE NAME COMMAND...: starts such a step, and goes on.
beside() {
  aside "$@" &
  aside="$aside $!"
}

# stop_aside: kills the steps aside that still run.
stop_aside() {
  # shellcheck disable=SC2086  # words
  [ -z "$aside" ] || kill $aside 2>/dev/null || true
  for group in "$logs"/*.group; do
    [ ! -s "$group" ] || [ -s "${group%.group}.code" ] || kill -- "-$(cat "$group")" || true
  done
}

# finished NAME: waits for the step NAME that runs aside, prints its output and returns its exit
# code.
finished() {
  until [ -s "$logs/$1.code" ]; do
    sleep 1
  done
  cat "$logs/$1"
  return "$(cat "$logs/$1.code")"
}

# ours EXPRESSION...: find with EXPRESSION over the files of this repository.
ours() {
  find . \( -path ./.git -o -path './build*' -o -path './out*' \) -prune -o -type f "$@"
}

# skips NAME WHY: counts a step that this machine cannot do.
skips() {
  say "$1"
  echo "skipped: $2"
  total=$((total + 1))
  skipped=$((skipped + 1))
}

# ccache reuses what was compiled in any clone.
export CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros
export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache

must setup ci/setup.sh
asan=  # the preset names Debian 12's clang
command -v clang++-14 >/dev/null || asan='-DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++'
check 'folders: who includes whom' ci/includes.sh
check 'functions: how long they are' ci/test/functions.sh
check 'licence: each source names it' ci/test/spdx.sh
check 'English: words, and lengths of sentences' ci/test/words.sh
check 'links of pages' ci/test/links.sh
# These two use the core that the configuration leaves idle.
ours \( -name '*.sh' -o -name '*.bash' -o -name '*.bats' -o -path ./.ci/run \) -print >"$logs/scripts"
beside 0 shellcheck xargs -a "$logs/scripts" shellcheck
format='format: clang-format-14'  # each version breaks lines in its own way
if command -v clang-format-14 >/dev/null; then
  ours \( -name '*.h' -o -name '*.cc' \) -print >"$logs/sources"
  beside 0 format xargs -a "$logs/sources" clang-format-14 --dry-run -Werror --ferror-limit=20
else
  skips "$format" "this system has another clang-format"
fi
# Unity builds take half of the time. ci/test/tidy.sh and the preset itself compile each file alone.
# shellcheck disable=SC2086  # words
must 'configure: release, g++' cmake --preset ci $release
check 'scripts: shellcheck' finished shellcheck
[ ! -e "$logs/sources" ] || check "$format" finished format
aside=
must 'build: release, g++' cmake --build build/release
mkdir "$logs/crash_logs"
# fuzz TARGET SECONDS ARGUMENT...: at the priority of the tests, which leave it most of a core.
fuzz() {
  target=$1 seconds=$2
  shift 2
  aside 0 "$target" "build/asan/${target}_fuzzer" -max_total_time="$seconds" \
    -artifact_prefix="$logs/" "$@"
}
# These steps use the time in which the following tests wait. A JVM inside a sanitized process
# raises signals that sanitizers take for bugs.
{
  # shellcheck disable=SC2086  # words
  aside 19 asan_configured cmake --preset asan -DCMAKE_UNITY_BUILD=ON $asan
  aside 19 asan cmake --build build/asan
  {
    fuzz reference 20 -max_len=600
    fuzz run_folder 45 -len_control=0 -max_len=2000 -timeout=60
    fuzz crash_log 20 -max_len=40000 -timeout=60 "$logs/crash_logs" harness/hs_err/testdata
  } &
  # Whether it compiles shows without optimising, too.
  aside 19 quick_configured cmake --preset quick -B build/quick \
    -DCMAKE_CXX_FLAGS_RELWITHDEBINFO='-O0 -DNDEBUG'
  # shellcheck disable=SC2086  # words
  aside 19 quick cmake --build build/quick --target $quick
  # shellcheck disable=SC2086  # words
  aside 19 sanitized $ctest --test-dir build/asan -LE jvm
} &
aside=$!
# shellcheck disable=SC2086  # words
unit_tests 'tests: release' $ctest --test-dir build/release -E "$without"
# bats tests start the command of the release build.
WALKHAMMER=$PWD/build/release/walkhammer
export WALKHAMMER
# A long one that began last would have one core wait: so the largest first, and before them small
# ones that take minutes.
long='ci/test/aarch64.bats ci/test/bad_walkers.bats ci/test/reference.bats'
# shellcheck disable=SC2046,SC2086  # no blanks in the names of our files
bats_tests 'tests: the command, the corpora' $long \
  $(ours -name '*.bats' -exec ls -S {} + | grep -vF "$(echo "$long" | tr ' ' '\n')")
must 'configure: clang, sanitizers' finished asan_configured
must 'build: clang, sanitizers' finished asan
check 'fuzzing: the reference walk, with sanitizers' finished reference
check 'fuzzing: what reads run folders, with sanitizers' finished run_folder
check 'fuzzing: what reads crash logs, with sanitizers' finished crash_log
check 'configure: quick start' finished quick_configured
check 'build: quick start' finished quick
unit_tests 'tests: sanitizers' sanitized_tests
aside=
