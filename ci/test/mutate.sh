#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Shows that the unit tests notice bugs: plants each bug of ci/test/mutants.txt, one at a time, in a
# clone, builds it and runs the tests that need no JVM. One of them must fail.
#   ci/test/mutate.sh [LIST]
# MUTANTS=DIR keeps the clone and its build in DIR for the next run.
# Exit codes: 0 the tests noticed all bugs, 1 they did not, or a line is gone, 2 usage, 4 the list
# is empty, or the tests fail without a bug.
set -eu
cd "$(dirname "$0")/../.."
root=$PWD
list=${1:-ci/test/mutants.txt}
if [ $# -gt 1 ] || [ ! -f "$list" ]; then
  echo "ci/test/mutate.sh: '$*' is not a list of bugs; see its first lines" >&2
  exit 2
fi
tab=$(printf '\t')
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
trap 'exit 130' INT TERM
grep -v -e '^#' -e '^$' "$list" >"$temporary/list" || {
  echo "ci/test/mutate.sh: $list has no bug" >&2
  exit 4
}

mkdir -p "${MUTANTS:=$temporary/clone}"
cd "$MUTANTS"
[ -d .git ] || git clone -q "$root" .
git fetch -q "$root" HEAD
git checkout -q --force FETCH_HEAD
export CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros
export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
# A planted bug may signal processes that it has not started, and fill memory and disks.
contain=
! unshare --pid --mount-proc --fork --kill-child true 2>/dev/null ||
  contain='unshare --pid --mount-proc --fork --kill-child'
quietly() { nice -n 10 "$@" >"$temporary/output" 2>&1 </dev/null; }
make() { quietly cmake --build build/release; }
passes() {
  # shellcheck disable=SC2086  # words
  quietly prlimit --as=12000000000 --fsize=2000000000 $contain \
    ctest --test-dir build/release -LE jvm -j 4 --timeout 300 --stop-on-failure "$@"
}

echo 'building the tests, and running them without a bug'
if ! quietly cmake --preset release || ! make || ! passes; then
  tail -n 30 "$temporary/output" >&2
  exit 4
fi

# judge FILE NUMBER FROM TO: plants the bug and prints what became of it; false unless a test
# notices. A test that fails beside others may have waited for them: it must fail alone, too.
judge() {
  # The environment, because awk would take "\" in -v for an escape.
  NUMBER=$2 FROM=$3 TO=$4 awk '
    { match($0, /^ */); text = substr($0, RLENGTH + 1) }
    text == ENVIRON["FROM"] && ++seen == ENVIRON["NUMBER"] {
      $0 = substr($0, 1, RLENGTH) ENVIRON["TO"]
      planted = 1
    }
    { print }
    END { exit !planted }' "$1" >"$temporary/mutant" || {
    echo 'no longer there'
    return 1
  }
  cat "$temporary/mutant" >"$1"
  verdict='does not compile'
  if make; then
    verdict=survived
    passes || passes --rerun-failed || verdict=noticed
  fi
  git checkout -q -- "$1"
  echo "$verdict"
  [ "$verdict" = noticed ]
}

noticed=0
total=0
while IFS=$tab read -r file number from to; do
  total=$((total + 1))
  printf '%s: %s  =>  %s: ' "$file" "$from" "$to"
  ! judge "$file" "$number" "$from" "$to" || noticed=$((noticed + 1))
done <"$temporary/list"
echo "the tests noticed $noticed of $total bugs"
[ "$noticed" -eq "$total" ]
