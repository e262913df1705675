#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Mutation testing: measures how many changes of the C++ sources the unit tests notice. Makes
# mutants by the operators of ci/test/mutants.awk, one at a time, in a clone; rebuilds what depends
# on the mutated file and runs the tests that need no JVM. A mutant survives if no test fails: no
# test covers what the line does, or the line could be simpler.
#   ci/test/mutate.sh [--folder F]... [--count N] [--seed S]    N mutants of these folders
#   ci/test/mutate.sh --list ci/test/mutants.txt     those of the list, which must be killed
# --test NAME (may be repeated): runs only these tests.
# --then COMMAND: runs COMMAND by sh in the clone if no test fails, with the mutated file's name in
# $MUTANT; the mutant is killed if it does. Such as: ci/test/tests_for_file.sh "$MUTANT"
# Mutants do not count if they do not compile without warnings, or if their object files equal those
# of the original. MUTANTS=DIR keeps the clone and its build in DIR for the next run.
# Exit codes: 0 done, 1 a mutant of the list survived or its line is gone, 2 usage, 4 no mutant was
# tried, or the tests fail without a mutant.
set -eu
cd "$(dirname "$0")/../.."
root=$PWD

usage() {
  echo "ci/test/mutate.sh: $1; see its first lines" >&2
  exit 2
}

folders=
only=
then=
count=50
seed=1
list=
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || usage "$1 wants a value"
  case $1 in
    --folder)
      [ -d "$2" ] || usage "$2 is no folder"
      folders="$folders ${2%/}"
      ;;
    --test) only="$only $2" ;;
    --then) then=$2 ;;
    --count) count=$2 ;;
    --seed) seed=$2 ;;
    --list)
      [ -f "$2" ] || usage "$2 is no file"
      list=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
      ;;
    *) usage "$1 is unknown" ;;
  esac
  shift 2
done
for number in "$count" "$seed"; do
  case $number in '' | *[!0-9]* | ??????????*) usage "$number is no number" ;; esac
done
[ -n "$folders" ] || folders='harness reports workloads fuzzers stress'

temporary=$(mktemp -d)
clone=${MUTANTS:-$temporary/clone}
trap 'rm -rf "$temporary"' EXIT
trap 'exit 130' INT TERM

tab=$(printf '\t')
chosen=$temporary/chosen  # columns: file, number among equal lines, line, mutated line

# choose: prints all mutants of the folders, shuffled by the seed. Every awk computes this
# generator's numbers exactly (no product exceeds 2^53), so a seed means the same everywhere.
choose() {
  # shellcheck disable=SC2086  # a list of folders
  git ls-files $folders | grep '\.cc$' | grep -v -e '_test\.cc$' -e '_bench\.cc$' -e /testing/ |
    while read -r file; do
      awk -f ci/test/mutants.awk "$file" | cut -f 2- | sed "s|^|$file$tab|"
    done | awk -v seed="$seed" '
      BEGIN { x = seed % 2147483646 + 1; for (i = 0; i < 10; i++) x = x * 16807 % 2147483647 }
      { x = x * 16807 % 2147483647; printf "%010d\t%s\n", x, $0 }' | sort | cut -f 2-
}

if [ -n "$list" ]; then
  grep -v -e '^#' -e '^$' "$list" >"$chosen" || true
  count=$(wc -l <"$chosen")
else
  choose >"$chosen"
fi
[ -s "$chosen" ] || {
  echo "ci/test/mutate.sh: there is nothing to mutate" >&2
  exit 4
}

mkdir -p "$clone"
clone=$(cd "$clone" && pwd)
[ -d "$clone/.git" ] || git clone -q "$root" "$clone"
git -C "$clone" fetch -q "$root" HEAD
git -C "$clone" checkout -q --force FETCH_HEAD
cd "$clone"
build=build/release
export CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros
export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
export GTEST_FAIL_FAST=1 GTEST_BRIEF=1
quietly() { nice -n 10 "$@" >"$temporary/said" 2>&1; }
make() { quietly timeout 7200 ninja -j "$(nproc)" -C $build "$@"; }
# What links often links without debug information, by a fast linker where there is one.
linker=
! command -v mold >/dev/null || linker=-fuse-ld=mold
quietly cmake --preset release -DCMAKE_CXX_FLAGS_RELWITHDEBINFO='-O2 -DNDEBUG' \
  -DCMAKE_EXE_LINKER_FLAGS=$linker -DCMAKE_GTEST_DISCOVER_TESTS_DISCOVERY_MODE=PRE_TEST || {
  cat "$temporary/said" >&2
  exit 4
}

# A mutant may signal processes that it has not started, and fill memory and disks: it runs in a pid
# namespace where that is possible, and within limits: a write beyond them fails.
contain=
! unshare --pid --mount-proc --fork --kill-child true 2>/dev/null ||
  contain='unshare --pid --mount-proc --fork --kill-child'

# Runs a test's executable from the folder that ctest runs it from, and notes how long it took, or
# that it failed. A shell is the namespace's first process, which cannot be stopped and has to
# collect orphans.
cat >"$temporary/run" <<END
test=\$1
export TMPDIR="$temporary/tmp-\$test"
rm -rf "\$TMPDIR"
mkdir "\$TMPDIR"
cd "$clone/$build"
begin=\$(date +%s)
if nice -n 10 timeout "\$(cat "$temporary/limits/\$test" 2>/dev/null || echo 900)" \
  prlimit --as=12000000000 --fsize=2000000000 $contain \
  sh -c 'trap "" XFSZ; "\$@"; exit \$?' sh "./\$test" >"$temporary/said-\$test" 2>&1 </dev/null; then
  echo \$((\$(date +%s) - begin)) >"$temporary/seconds/\$test"
else
  echo "\$test" >>"$temporary/failed"
  exit 255  # ends xargs
fi
END
mkdir "$temporary/limits" "$temporary/seconds"

# passes TEST...: runs the tests, several at once, since most of them wait; $failed is one that
# fails.
passes() {
  rm -f "$temporary/failed"
  printf '%s\n' "$@" | xargs -P 4 -n 1 sh "$temporary/run" 2>/dev/null && return 0
  failed=$(head -n 1 "$temporary/failed")
  return 1
}

# passes_surely TEST...: a test that fails beside others may have waited for them: it fails alone,
# too, or the tests go on without it.
passes_surely() {
  left=$*
  # shellcheck disable=SC2086  # a list of names
  until [ -z "$left" ] || passes $left; do
    passes "$failed" || return 1
    left=$(printf '%s\n' $left | grep -vxF "$failed") || return 0
  done
}

# Prints a line "NAME FOLDER..." for each test that needs no JVM, with the folders of its sources.
tests_with_folders() {
  awk -v only="$only " '
       /^ *wh_test\(/ { text = "" ; on = 1 }
       on { text = text " " $0 }
       on && /\)$/ {
         on = 0
         if (text ~ /LABELS jvm|BY_BATS/) next
         sub(/.*wh_test\(/, "", text)
         sub(/ LIBS .*/, "", text)
         count = split(text, word, / +/)
         if (only != " " && !index(only, " " word[1] " ")) next
         line = word[1]
         for (i = 2; i <= count; i++) if (sub(/\/[^\/]*\.cc$/, "", word[i])) line = line " " word[i]
         print line
       }' ci/test/tests.cmake
}
tests_with_folders >"$temporary/tests"
[ -s "$temporary/tests" ] || usage "there is no such test:$only"

echo "building the tests, and running them without a mutant"
# shellcheck disable=SC2046  # a list of names
make $(cut -d ' ' -f 1 "$temporary/tests") || {
  tail -n 30 "$temporary/said" >&2
  exit 4
}
# shellcheck disable=SC2046  # a list of names
passes $(cut -d ' ' -f 1 "$temporary/tests") || {
  echo "ci/test/mutate.sh: $failed fails without a mutant" >&2
  tail -n 30 "$temporary/said-$failed" >&2
  exit 4
}
# A mutant that takes ten times as long hangs, whatever else the machine does.
for file in "$temporary"/seconds/*; do
  echo $((60 + 10 * $(cat "$file"))) >"$temporary/limits/$(basename "$file")"
done

# objects_of FILE: prints the object files that are compiled from FILE, for libraries and for tests.
objects_of() {
  awk -v end=" -c $clone/$1\"," '
    index($0, end) { sub(/.* -o /, "", $0); print substr($0, 1, index($0, " -c ") - 1) }
  ' $build/compile_commands.json
}

# keep_objects OBJECTS FOLDER: copies the object files, without debug information, to FOLDER.
keep_objects() {
  mkdir -p "$2"
  number=0
  for object in $1; do
    number=$((number + 1))
    objcopy --strip-debug "$build/$object" "$2/$number" 2>/dev/null || true
  done
}

# tests_of NEAR FOLDER: prints the names of the tests with sources in FOLDER (NEAR=1), or of the
# others.
tests_of() {
  awk -v wanted="$1" -v folder="$2" '
    { near = 0; for (i = 2; i <= NF; i++) near = near || $i == folder
      if (near == wanted) print $1 }' "$temporary/tests"
}

# try FILE NUMBER FROM TO: sets $result to "no longer there", "does not compile", "same code",
# "killed by TEST" or "survived", and $line.
try() {
  # The environment, because awk would take "\" in -v for an escape.
  line=$(NUMBER=$2 FROM=$3 awk '
    { text = $0; sub(/^ +/, "", text) }
    text == ENVIRON["FROM"] && ++seen == ENVIRON["NUMBER"] { print NR }' "$1" 2>/dev/null) || line=
  result='no longer there'
  [ -n "$line" ] || return 0
  objects=$(objects_of "$1")
  result='does not compile'
  [ -n "$objects" ] || return 0
  # shellcheck disable=SC2086  # a list of names
  make $objects
  keep_objects "$objects" "$temporary/before"
  LINE=$line TO=$4 awk '
    NR == ENVIRON["LINE"] { match($0, /^ */); $0 = substr($0, 1, RLENGTH) ENVIRON["TO"] }
    { print }' "$1" >"$temporary/mutant"
  cat "$temporary/mutant" >"$1"
  # shellcheck disable=SC2086  # a list of names
  if make $objects; then
    keep_objects "$objects" "$temporary/after"
    result='same code'
    diff -r "$temporary/before" "$temporary/after" >/dev/null || judge "$1"
  fi
  git checkout -q -- "$1"
  rm -rf "$temporary/before" "$temporary/after"
}

# judge FILE: builds the tests and runs them, those near FILE first, and sets $result. A test that
# is not linked again does not depend on FILE, and is not run.
judge() {
  for near in 1 0; do
    tests=$(tests_of $near "$(dirname "$1")")
    [ -n "$tests" ] || continue
    touch "$temporary/stamp"
    result='does not compile'
    # shellcheck disable=SC2086  # a list of names
    make $tests || return 0
    # shellcheck disable=SC2086  # a list of names
    linked=$(cd $build && find $tests -newer "$temporary/stamp")
    # shellcheck disable=SC2086  # a list of names
    [ -z "$linked" ] || passes_surely $linked || {
      result="killed by $failed"
      return 0
    }
  done
  result='killed by the command'
  [ -z "$then" ] || MUTANT=$1 quietly sh -c "$then" </dev/null || return 0
  result=survived
}

tried=0
killed=0
bad=0
: >"$temporary/survivors"
while IFS=$tab read -r file number from to; do
  [ "$tried" -lt "$count" ] || break
  try "$file" "$number" "$from" "$to" </dev/null
  case $result in
    killed*)
      killed=$((killed + 1))
      tried=$((tried + 1))
      ;;
    survived)
      tried=$((tried + 1))
      bad=$((bad + 1))
      printf '%s:%s\n  - %s\n  + %s\n' "$file" "$line" "$from" "$to" >>"$temporary/survivors"
      ;;
    'no longer there') bad=$((bad + 1)) ;;
  esac
  printf '%s:%s: %s: %s  =>  %s\n' "$file" "${line:-?}" "$result" "$from" "$to"
done <"$chosen"

echo
[ ! -s "$temporary/survivors" ] || {
  echo 'survivors'
  cat "$temporary/survivors"
}
[ "$tried" -gt 0 ] || {
  echo "ci/test/mutate.sh: no mutant was tried" >&2
  exit 4
}
echo "$killed of $tried mutants were killed ($((killed * 100 / tried)) %)"
[ -z "$list" ] || [ "$bad" -eq 0 ]
