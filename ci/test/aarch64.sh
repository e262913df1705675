#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests walkhammer with a real aarch64 HotSpot: natively on an Arm machine, elsewhere cross-built
# and under qemu's user emulation. Builds with warnings as errors; then runs unit tests, scenes, a
# fuzz run, stress and replay on each JDK. Installs the cross compiler; everything else goes to
# $WALKHAMMER_AARCH64 (default: ~/.cache/walkhammer/aarch64). The machine's apt configuration stays
# as it is.
#   --jdks 17,21,25   the JDKs to test (default: 17); an Arm machine tests those that
#                     `walkhammer show jdks` finds
#   --short           one JDK, a few minutes, without qemu's one-instruction-per-block mode and
#                     without pointer authentication
# Exit codes: 0 all passed, 1 something failed, 2 usage, 3 packages cannot be downloaded here.
# What emulation cannot show: docs/howto/aarch64.md.
set -eu
cd "$(dirname "$0")/../.."

short=
features=17
while [ "$#" -gt 0 ]; do
  case $1 in
    --short) short=yes ;;
    --jdks)
      features=${2:?--jdks must be a list such as 17,21,25}
      shift
      ;;
    *)
      echo "aarch64: expected --short or --jdks LIST, got $1" >&2
      exit 2
      ;;
  esac
  shift
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
total=0
failed=0

# check NAME COMMAND...
check() {
  echo "-- $1"
  total=$((total + 1))
  shift
  "$@" && return
  echo "FAILED"
  failed=$((failed + 1))
}

# --- builds ---------------------------------------------------------------------------------------

# With --short, only what runs inside of the JVM is built for aarch64.
parts='walkhammer_child libwalkhammer_agent.so libasgst.so guard_test interpose_test
  trap_coverage_test reference_test'

# A unity build takes less time.
# shellcheck disable=SC2086  # a list of words
build() {
  cmake --preset "$1" -DCMAKE_UNITY_BUILD=ON >"$work/configure" || {
    cat "$work/configure"
    return 1
  }
  if [ -n "$short" ]; then
    cmake --build "build/$1" --target $parts scenes_jar
  else
    cmake --build "build/$1"
  fi
}

if [ "$(uname -m)" = aarch64 ]; then
  ci/setup.sh
  folder=build/release
  check 'native build' build release
  walkhammer=$folder/walkhammer
  jdks=$("$walkhammer" show jdks | sed 's/  .*//')
else
  WALKHAMMER_AARCH64=${WALKHAMMER_AARCH64:-${XDG_CACHE_HOME:-$HOME/.cache}/walkhammer/aarch64}
  export WALKHAMMER_AARCH64
  ci/setup.sh aarch64
  ci/setup/aarch64_sysroot.sh "$WALKHAMMER_AARCH64" "$features"
  folder=build/aarch64
  check 'cross build' build aarch64
  walkhammer=${WALKHAMMER:-build/release/walkhammer} # the parent stays native
  if [ ! -x "$walkhammer" ]; then
    check 'native build' build release
    walkhammer=build/release/walkhammer
  fi
  WALKHAMMER_BUILD_ARCH=$PWD/$folder
  export WALKHAMMER_BUILD_ARCH
  jdks=
  for feature in $(echo "$features" | tr ',' ' '); do
    root=$WALKHAMMER_AARCH64/sysroot-$feature
    [ "$feature" != 17 ] || root=$WALKHAMMER_AARCH64/sysroot
    jdks="$jdks $root/usr/lib/jvm/java-$feature-openjdk-arm64"
  done
fi

# --- the checks -----------------------------------------------------------------------------------

# ask SQL: queries the run.db of the last run.
ask() {
  sqlite3 -readonly "$work/run/run.db" "$1"
}

# verb MOST-CODE ARGUMENTS...: runs walkhammer with ARGUMENTS; fails if its exit code is above
# MOST-CODE.
verb() {
  most=$1
  shift
  rm -rf "$work/run"
  code=0
  "$walkhammer" "$@" --out "$work/run" >"$work/output" 2>&1 || code=$?
  [ "$code" -le "$most" ] && return
  cat "$work/output"
  echo "walkhammer $*: exit code $code, at most $most was expected"
  return 1
}

# scenes JDK WALKER: the walker reports the true stack of every unedited scene, except for the two
# scenes that AsyncGetCallTrace cannot walk.
scenes() {
  verb 1 fuzz --jdk "$1" --walker "$2" --walks 300 --no-coverage --no-confirm --no-minimize ||
    return 1
  others="''"
  [ "$2" != agct ] || others="'monitor-enter-c2', 'deoptimized'"
  untrue=$(ask "SELECT name || ': ' || reason FROM scene
    WHERE available = 1 AND pristine_true = 0 AND name NOT IN ($others)")
  echo "$(ask "SELECT sum(pristine_true) FROM scene") undisturbed walks true, others: ${untrue:-none}"
  [ -z "$untrue" ] && [ "$(ask 'SELECT sum(pristine_true) >= 20 FROM scene')" -eq 1 ]
}

# replays JDK INPUT: the request has the result that its file expects in at least two of three
# processes.
replays() {
  "$walkhammer" replay --jdk "$1" --times 3 "$2" >"$work/replayed" 2>&1 || true
  sed -n 's/^  \(expects\|reproduced\) */    /p' "$work/replayed" | paste -s -d:
  grep -q '^  reproduced  [23] of 3$' "$work/replayed"
}

# crashes JDK WALKS LEAST: at least LEAST of the crash sites that WALKS walks of AsyncGetCallTrace
# find can be replayed.
crashes() {
  verb 1 fuzz --jdk "$1" --walks "$2" --no-confirm --no-minimize || return 1
  echo "  $(ask "SELECT count(*) FROM bucket WHERE title LIKE 'crash in %'") crash sites; the most frequent:"
  sure=0
  for bucket in $(ask "SELECT folder FROM bucket WHERE title LIKE 'crash in %'
      ORDER BY seen DESC LIMIT $(($3 + 2))"); do
    if replays "$1" "$work/run/$bucket/input.walk"; then
      sure=$((sure + 1))
    fi
    [ "$sure" -lt "$3" ] || return 0
  done
  return 1
}

# engines JDK: both guided engines find crashes of AsyncGetCallTrace.
engines() {
  for engine in libfuzzer afl; do
    verb 1 fuzz --jdk "$1" --engine "$engine" --time 20s --no-confirm --no-minimize || return 1
    ask "SELECT '  $engine: ' || count(*) || ' crash sites' FROM bucket WHERE title LIKE 'crash in %'"
    [ "$(ask "SELECT count(*) > 0 FROM bucket WHERE title LIKE 'crash in %'")" -eq 1 ] || return 1
  done
}

# samples JDK WALKERS TIME: samples a real program; more than 100 walks succeed, and there is no
# Forbidden finding.
samples() {
  verb 0 stress --jdk "$1" --workload torture:mixed --walker "$2" --time "$3" --no-confirm ||
    return 1
  ask "SELECT '  ' || walks || ' walks, ' || successful || ' successful' FROM run"
  [ "$(ask 'SELECT successful > 100 FROM run')" -eq 1 ]
}

# profilers JDK: the walkers of released profilers walk as many scenes as AsyncGetCallTrace does,
# or, ddprof-vm, one less, as on x86_64.
profilers() {
  while read -r profiler library; do
    case $profiler in
      asprof-*) walkers='asprof-vm asprof-fp asprof-dwarf' ;;
      *) walkers='ddprof-vm ddprof-fp ddprof-dwarf' ;;
    esac
    for walker in $walkers; do
      verb 1 fuzz --jdk "$1" --walker "$walker" --provider "$library" --walks 300 --no-coverage \
        --no-confirm --no-minimize || return 1
      ask "SELECT '  $walker, $profiler: ' || sum(pristine_true) || ' of ' || sum(available) FROM scene"
      least=20
      [ "$walker" != ddprof-vm ] || least=19
      [ "$(ask "SELECT sum(pristine_true) >= $least FROM scene")" -eq 1 ] || return 1
    done
  done <"$work/profilers"
}

# signatures JDK: signed return addresses crash AsyncGetCallTrace on unedited samples, and at least
# one of the snapshots replays in more than half of its processes.
signatures() {
  verb 1 stress --jdk "$1" --workload torture:mixed --walker agct --time 3m || return 1
  this="title = 'crash in vframeStreamForte::forte_next'
    AND id IN (SELECT bucket FROM finding WHERE realism = 'genuine')"
  ask "SELECT '  seen ' || seen || ' times, replays ' || confirmed || ' of ' || tries
    FROM bucket WHERE $this"
  [ "$(ask "SELECT count(*) FROM bucket WHERE $this AND 2 * confirmed > tries")" -eq 1 ]
}

# seeds JDK: no seed for aarch64 kills the child, and each can be walked. The answers that the seeds
# name were taken from one build of JDK 17: the number of equal answers is printed and fails
# nothing.
seeds() {
  "$walkhammer" replay --json --jdk "$1" corpora/seeds/aarch64/*.walk >"$work/json" 2>"$work/output" ||
    true
  sqlite3 :memory: "SELECT json_extract(r.value, '\$.file'),
      CASE WHEN json_extract(r.value, '\$.unable') > 0 THEN 'not available'
        ELSE (SELECT group_concat(key, ' and ') FROM json_each(json_extract(r.value, '\$.outcomes'))) END
    FROM json_each(readfile('$work/json'), '\$.replays') r" >"$work/answers" || {
    cat "$work/output"
    return 1
  }
  same=0
  bad=0
  while IFS='|' read -r file answer; do
    case $answer in
      *death* | 'not available' | '')
        echo "  $file: ${answer:-no answer}"
        bad=$((bad + 1))
        ;;
    esac
    ! grep -qxF "# On JDK 17: $answer" "$file" || same=$((same + 1))
  done <"$work/answers"
  all=$(wc -l <"$work/answers")
  echo "  $same of $all answer as they say of JDK 17"
  [ "$bad" -eq 0 ] && [ "$all" -gt 0 ]
}

# Death tests are left out: they execute their own program again, which the kernel of another
# architecture cannot.
unit_tests() {
  ctest --test-dir "$folder" --no-tests=error --timeout 300 -j "$(nproc)" -LE jvm \
    -E 'GuardDeath|_NOT_BUILT' >"$work/tests" 2>&1 && grep 'tests passed' "$work/tests" && return
  grep -A 20 'tests passed' "$work/tests" || cat "$work/tests"
  return 1
}

# api JDK: each function, option and code of the reference's headers does what its contract says.
api() {
  set -- "$1" "$folder/harness/asgst/testing/api_test" '--gtest_filter=-*DeathTest.*'
  if [ "$(uname -m)" = aarch64 ]; then
    WALKHAMMER_JDK=$1 "$2" "$3"
  else
    WALKHAMMER_JDK=$1 "$WALKHAMMER_AARCH64/qemu-aarch64" -L "${1%/usr/lib/jvm/*}" "$2" "$3"
  fi >"$work/api" 2>&1 && grep 'PASSED' "$work/api" && return
  echo "$2: exit code $?"
  grep -A 8 'Failure\|FAILED' "$work/api" || cat "$work/api"
  return 1
}

# The model neoverse-n1 signs no return addresses. `max` does; pauth-impdef selects qemu's own,
# faster signature.
QEMU_CPU=neoverse-n1
export QEMU_CPU
check 'unit tests' unit_tests
# Those that are not available are reported, and left out.
[ -n "$short" ] || ci/setup/profilers.sh --machine aarch64 asprof-4.6 ddprof-1.22.0 >"$work/profilers" || true
for jdk in $jdks; do
  name=$(basename "$jdk")
  check "$name: scenes, agct" scenes "$jdk" agct
  check "$name: scenes, asgst" scenes "$jdk" asgst
  if [ -n "$short" ]; then
    check "$name: a crash" crashes "$jdk" 100000 1
    check "$name: samples" samples "$jdk" agct,asgst 4s
    continue
  fi
  check "$name: scenes, iterator" scenes "$jdk" iterator
  check "$name: API" api "$jdk"
  check "$name: seeds" seeds "$jdk"
  check "$name: crashes" crashes "$jdk" 1000000 2
  check "$name: engines" engines "$jdk"
  check "$name: samples" samples "$jdk" agct,asgst 60s
  check "$name: samples, JFR" samples "$jdk" jfr 20s
  if [ -s "$work/profilers" ]; then
    check "$name: profilers" profilers "$jdk"
  else
    echo "-- $name: profilers: skipped, no library of theirs is available"
  fi
  [ "$(uname -m)" != aarch64 ] || continue
  # With one instruction for each translated block, signals arrive between any two instructions;
  # Java runs hundreds of times slower.
  QEMU_SINGLESTEP=1 QEMU_ONE_INSN_PER_TB=1 check "$name: samples, an instruction a block" \
    samples "$jdk" agct,asgst 120s
  QEMU_CPU=max,pauth-impdef=on
  check "$name: samples, signed, asgst" samples "$jdk" asgst 60s
  case $name in
    *-17-*) check "$name: samples, signed, agct" samples "$jdk" agct 60s ;;
    *) check "$name: the crash of signed samples" signatures "$jdk" ;;
  esac
  QEMU_CPU=neoverse-n1
done

echo
echo "aarch64: $((total - failed)) of $total checks passed"
[ "$failed" -eq 0 ]
