#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints who gets what wrong, the table of docs/findings.md: walkers x kinds of code x JDKs:
# ci/differential.sh [VERSION...]. A VERSION is a name of ci/jdks.sh (default: one for each feature
# version that docs/findings.md shows). The short form takes 2 minutes, twice that on a busy machine:
#   WALKHAMMER_STRESS_TIME=3s ci/differential.sh 17 25
# Each JDK runs some torture programs, sampled every 100 us, by agct and the reference, and by the
# reference and each walker of a profiler whose library ci/profilers.sh has laid out. A second table
# has the median time of a walk that returned frames; the last walker of a pair finds the stack in
# the cache.
#   WALKHAMMER              the executable (default: the release build's)
#   WALKHAMMER_STRESS_TIME  duration of each program (default: 10s)
#   WALKHAMMER_WORKLOADS    the programs (default: those of $workloads below)
#   WALKHAMMER_PROFILERS    the folder of the profilers' libraries (default: that of ci/profilers.sh)
# The run folders are removed at the end. Exit codes: 0 the table is whole, 1 a cell failed (stderr
# says which), 3 no JDK can be had.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=ci/measure.sh
. ci/measure.sh

workloads=${WALKHAMMER_WORKLOADS:-torture:mixed torture:reflection torture:deopt torture:stubs}
libraries=${WALKHAMMER_PROFILERS:-${XDG_CACHE_HOME:-$HOME/.cache}/walkhammer/profilers}
# Walker, library, and the newest JDK that the library survives or walks at all.
profilers='
asprof-vm     asprof-4.5     99
asprof-fp     asprof-4.5     99
asprof-dwarf  asprof-4.5     99
ddprof-vm     ddprof-1.22.0  24
ddprof-fp     ddprof-1.22.0  25
ddprof-dwarf  ddprof-1.22.0  25
'

[ "$#" -gt 0 ] || set -- 8 11 17 21 25 28
ci/jdks.sh "$@" >"$work/jdks" 2>"$work/jdks.err" || cat "$work/jdks.err" >&2
[ -s "$work/jdks" ] || {
  echo 'differential: none of these JDKs can be had' >&2
  exit 3
}

# up_to NEWEST: prints the lines of $work/jdks for JDKs of this feature version and before.
up_to() {
  awk -v newest="$1" '{ split($1, version, /[^0-9]/) } version[1] + 0 <= newest' "$work/jdks"
}

# sample RUN WALKERS NEWEST OPTION...: leaves the samples in $work/RUN/run.db, one JVM at a time.
sample() {
  run=$1 walkers=$2 newest=$3
  shift 3
  up_to "$newest" >"$work/homes"
  while read -r _ home; do set -- "$@" --jdk "$home"; done <"$work/homes"
  for workload in $workloads; do set -- "$@" --workload "$workload"; done
  "$walkhammer" stress --walker "$walkers" "$@" \
    --time "${WALKHAMMER_STRESS_TIME:-10s}" --jobs 1 --no-confirm --out "$work/$run" \
    >"$work/$run.txt" 2>&1 || [ -e "$work/$run/run.db" ] || {
    tail -n 5 "$work/$run.txt" >&2
    exit 3
  }
}

# The samples of a region in whose callers or methods the two answers differ, with the most samples
# in which one witness contradicts the walker (role 'walker' or 'other'), in which thread-start
# alone does, and in which any witness contradicts anybody.
judged() {
  echo "SELECT a.cell, a.region, a.kind, a.samples,
      COALESCE(MAX(CASE WHEN e.witness <> 'thread-start' AND e.against IN ('both', $1)
        THEN e.samples END), 0) AS wrong,
      COALESCE(MAX(CASE WHEN e.witness = 'thread-start' AND e.against IN ('both', $1)
        THEN e.samples END), 0) AS cut,
      COALESCE(MAX(CASE WHEN e.against <> 'neither' THEN e.samples END), 0) AS decided
    FROM agreement a LEFT JOIN evidence e ON e.cell = a.cell AND e.region = a.region
      AND e.kind = a.kind
    WHERE a.kind NOT IN ('none', 'level', 'one-failed', 'unnamed')
    GROUP BY a.cell, a.region, a.kind, a.samples"
}

# rows RUN WALKER ROLE NAME HOME: prints the rows of one walker on one JDK. The role is the walker's
# in the tables agreement and evidence: `walker` is the later one of --walker, `other` the earlier.
rows() {
  sqlite3 -readonly "$work/$1/run.db" "
    WITH judged AS ($(judged "'$3'")),
    cells AS (SELECT position, label FROM cell WHERE jdk_path = '$5' AND status = 'passed'),
    answers AS (SELECT region, SUM(CASE WHEN code = 'frames' THEN count ELSE 0 END) AS walked,
        SUM(CASE WHEN code NOT IN ('frames', '0') THEN count ELSE 0 END) AS failed
      FROM count JOIN cells ON label = scene WHERE walker = '$2' GROUP BY region),
    faults AS (SELECT region, SUM(CASE WHEN kind <> 'bci' THEN wrong ELSE 0 END) AS wrong,
        SUM(CASE WHEN kind <> 'bci' THEN MAX(cut - wrong, 0) ELSE 0 END) AS cut,
        SUM(CASE WHEN kind = 'bci' THEN wrong ELSE 0 END) AS bci,
        SUM(CASE WHEN kind <> 'bci' THEN MAX(samples - decided, 0) ELSE 0 END) AS unknown
      FROM judged WHERE cell IN (SELECT position FROM cells) GROUP BY region)
    SELECT printf('| %s | %s | %s | %d | %d | %d | %d | %d | %d |', '$2', region, '$4', walked,
      failed, COALESCE(wrong, 0), COALESCE(cut, 0), COALESCE(bci, 0), COALESCE(unknown, 0))
    FROM answers LEFT JOIN faults USING (region) ORDER BY region"
}

# complain RUN: prints the cells that failed to stderr; succeeds if there are such.
complain() {
  sqlite3 -readonly "$work/$1/run.db" "SELECT 'differential: ' || label || ': ' || status || ': ' ||
    reason FROM cell WHERE status <> 'passed'" >"$work/failed"
  cat "$work/failed" >&2
  [ -s "$work/failed" ]
}

# costs RUN WALKER NAME HOME: prints the median time of a walk that returned frames. Times are
# counted in slots (harness/base/walk_time.h); the least time of the median's slot stands for it.
costs() {
  sqlite3 -readonly "$work/$1/run.db" "
    WITH slots AS (SELECT from_ns, SUM(value) AS walks
      FROM period_time JOIN cell ON label = scene, json_each('[' || counts || ']')
      WHERE period_time.walker = '$2' AND jdk_path = '$4' AND status = 'passed' GROUP BY from_ns),
    sums AS (SELECT from_ns, SUM(walks) OVER (ORDER BY from_ns) AS so_far,
        SUM(walks) OVER () AS total FROM slots)
    SELECT printf('| %s | %s | %d | %d |', '$2', '$3', total, MIN(from_ns)) FROM sums
      WHERE 2 * so_far >= total HAVING total > 0"
}

# whom RUN WALKER ROLE NEWEST: prints the arguments of rows for each JDK, a line each.
whom() {
  up_to "$4" | while read -r name home; do echo "$1 $2 $3 $name $home"; done
}

echo "$profilers" | sed '/^ *$/d' >"$work/profilers"
sample agct agct,asgst 99
{ whom agct agct other 99 && whom agct asgst walker 99; } >"$work/all"
code=0
! complain agct || code=1
while read -r walker library newest; do
  if [ ! -e "$libraries/$library.so" ]; then
    echo "differential: no $libraries/$library.so: ci/profilers.sh lays it out" >&2
    continue
  fi
  whom "$walker" "$walker" walker "$newest" >"$work/more"
  [ -s "$work/more" ] || continue
  sample "$walker" "asgst@ref,$walker" "$newest" --provider "$libraries/$library.so"
  cat "$work/more" >>"$work/all"
  ! complain "$walker" || code=1
done <"$work/profilers"

echo '| walker | code | JDK | walked | failed | callers or methods proven wrong | cut off | byte codes proven wrong | differ, unproven |'
echo '| --- | --- | --- | --- | --- | --- | --- | --- | --- |'
while read -r run walker role name home; do
  rows "$run" "$walker" "$role" "$name" "$home"
done <"$work/all"
echo
echo '| walker | JDK | walks timed | median, ns |'
echo '| --- | --- | --- | --- |'
while read -r run walker _ name home; do costs "$run" "$walker" "$name" "$home"; done <"$work/all"
exit "$code"
