#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the table of docs/findings/who-gets-what-wrong.md, walkers x kinds of code x JDKs:
# ci/measure/who_is_wrong.sh [VERSION...]. A VERSION is a name of ci/setup/jdks.sh (default: one for
# each feature version that the page shows). The short form takes 2 minutes, twice that on a
#   busy machine: WALKHAMMER_STRESS_TIME=3s ci/measure/who_is_wrong.sh 17 25
# Each JDK runs some torture programs, sampled every 100 us. The walkers of one line of $groups
# below are shown the same samples, each beside the reference; those of profilers whose library
# ci/setup/profilers.sh has laid out. A second table has the median time of a walk that returned
# frames: all but the first of a line find the stack in the cache. A third has what the walkers of
# one library and agct answer to the same synthetic requests.
#   WALKHAMMER              the executable (default: the release build's)
#   WALKHAMMER_STRESS_TIME  duration of each program (default: 10s)
#   WALKHAMMER_WORKLOADS    the programs (default: those of $workloads below)
#   WALKHAMMER_WALKS        synthetic requests for each JDK and library (default: 100000)
#   WALKHAMMER_PROFILERS    the folder of the profilers' libraries (default: that of
#   ci/setup/profilers.sh)
# The run folders are removed at the end. Exit codes: 0 the table is whole, 1 a cell failed (stderr
# says which), 3 no JDK is available.
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=ci/measure/lib_measure.sh
. ci/measure/lib_measure.sh

workloads=${WALKHAMMER_WORKLOADS:-torture:mixed torture:reflection torture:deopt torture:stubs}
libraries=${WALKHAMMER_PROFILERS:-${XDG_CACHE_HOME:-$HOME/.cache}/walkhammer/profilers}
# Walkers, library (-: none), and the newest JDK that the library survives or walks at all.
# Neighbours are compared, so the reference stands beside each.
groups='
agct,asgst@ref                    -              99
agct,asgst@ref,asprof-vm          asprof-4.5     99
asprof-fp,asgst@ref,asprof-dwarf  asprof-4.5     99
agct,asgst@ref,ddprof-vm          ddprof-1.22.0  24
ddprof-fp,asgst@ref,ddprof-dwarf  ddprof-1.22.0  25
'

[ "$#" -gt 0 ] || set -- 8 11 17 21 25 28
ci/setup/jdks.sh "$@" >"$work/jdks" 2>"$work/jdks.err" || cat "$work/jdks.err" >&2
[ -s "$work/jdks" ] || {
  echo 'who_is_wrong: none of these JDKs is available' >&2
  exit 3
}

# up_to NEWEST: prints the lines of $work/jdks for JDKs of this feature version and before.
up_to() {
  awk -v newest="$1" '{ split($1, version, /[^0-9]/) } version[1] + 0 <= newest' "$work/jdks"
}

# sample WALKERS NEWEST OPTION...: leaves the samples in $work/WALKERS/run.db, one JVM at a time.
sample() {
  run=$1 newest=$2
  shift 2
  up_to "$newest" >"$work/homes"
  while read -r _ home; do set -- "$@" --jdk "$home"; done <"$work/homes"
  for workload in $workloads; do set -- "$@" --workload "$workload"; done
  "$walkhammer" stress --walker "$run" "$@" \
    --time "${WALKHAMMER_STRESS_TIME:-10s}" --jobs 1 --no-confirm --out "$work/$run" \
    >"$work/$run.txt" 2>&1 || [ -e "$work/$run/run.db" ] || {
    tail -n 5 "$work/$run.txt" >&2
    exit 3
  }
}

# The samples of a region in which the answers of the later walker ($1) and the earlier one ($2) of
# a pair differ, with the most samples in which one witness contradicts the one in role $3 (walker
# or other), in which thread-start alone does, and in which any witness contradicts anybody.
judged() {
  echo "SELECT a.cell, a.region, a.kind, a.samples,
      COALESCE(MAX(CASE WHEN e.witness <> 'thread-start' AND e.against IN ('both', '$3')
        THEN e.samples END), 0) AS wrong,
      COALESCE(MAX(CASE WHEN e.witness = 'thread-start' AND e.against IN ('both', '$3')
        THEN e.samples END), 0) AS cut,
      COALESCE(MAX(CASE WHEN e.against <> 'neither' THEN e.samples END), 0) AS decided
    FROM agreement a LEFT JOIN evidence e ON e.cell = a.cell AND e.region = a.region
      AND e.kind = a.kind AND e.walker = a.walker AND e.other = a.other
    WHERE a.walker = '$1' AND a.other = '$2'
      AND a.kind NOT IN ('none', 'level', 'one-failed', 'unnamed')
    GROUP BY a.cell, a.region, a.kind, a.samples"
}

# rows RUN WALKER NAME HOME: prints the rows of one walker on one JDK. It is compared with the
# reference, and the reference with the first walker.
rows() {
  first=${1%%,*}
  case $2 in
    asgst) pair="asgst $first walker" ;;
    "$first") pair="asgst $2 other" ;;
    *) pair="$2 asgst walker" ;;
  esac
  # shellcheck disable=SC2086  # three words
  sqlite3 -readonly "$work/$1/run.db" "
    WITH judged AS ($(judged $pair)),
    cells AS (SELECT position, label FROM cell WHERE jdk_path = '$4' AND status = 'passed'),
    answers AS (SELECT region, SUM(CASE WHEN code = 'frames' THEN count ELSE 0 END) AS walked,
        SUM(CASE WHEN code NOT IN ('frames', '0') THEN count ELSE 0 END) AS failed
      FROM count JOIN cells ON label = scene WHERE walker = '$2' GROUP BY region),
    faults AS (SELECT region, SUM(CASE WHEN kind <> 'bci' THEN wrong ELSE 0 END) AS wrong,
        SUM(CASE WHEN kind <> 'bci' THEN MAX(cut - wrong, 0) ELSE 0 END) AS cut,
        SUM(CASE WHEN kind = 'bci' THEN wrong ELSE 0 END) AS bci,
        SUM(CASE WHEN kind <> 'bci' THEN MAX(samples - decided, 0) ELSE 0 END) AS unknown
      FROM judged WHERE cell IN (SELECT position FROM cells) GROUP BY region)
    SELECT printf('| %s | %s | %s | %s | %d | %d | %d | %d | %d | %d |', '$1', '$2', region, '$3',
      walked, failed, COALESCE(wrong, 0), COALESCE(cut, 0), COALESCE(bci, 0), COALESCE(unknown, 0))
    FROM answers LEFT JOIN faults USING (region) ORDER BY region"
}

# complain RUN: prints the cells that failed to stderr; succeeds if there are such.
complain() {
  sqlite3 -readonly "$work/$1/run.db" "SELECT 'who_is_wrong: ' || label || ': ' || status || ': ' ||
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
    SELECT printf('| %s | %s | %s | %d | %d |', '$1', '$2', '$3', total, MIN(from_ns)) FROM sums
      WHERE 2 * so_far >= total HAVING total > 0"
}

# requests LIBRARY NEWEST: prints what agct and the library's walkers answer to the same requests.
requests() {
  profiler=${1%%-*}
  up_to "$2" >"$work/homes"
  while read -r name home; do
    out=$work/$1-$name
    "$walkhammer" fuzz --jdk "$home" --walker "agct,$profiler-vm,$profiler-fp,$profiler-dwarf" \
      --provider "$libraries/$1.so" --walks "${WALKHAMMER_WALKS:-100000}" --workers 1 --seed 1 \
      --no-coverage --no-confirm --no-minimize --out "$out" >"$out.txt" 2>&1 || [ "$?" -eq 1 ] || {
      echo "who_is_wrong: $1 on $name: $(head -n 1 "$out.txt")" >&2
      code=1
      continue
    }
    sqlite3 -readonly "$out/run.db" "SELECT printf('| %s | %s | %s | %d | %d | %d | %d |', '$1', walker,
        '$name', SUM(count), SUM(CASE WHEN code = 'frames' THEN count ELSE 0 END),
        SUM(CASE WHEN code IN ('crash', 'hang') THEN count ELSE 0 END),
        (SELECT count(DISTINCT bucket) FROM finding WHERE grade = 'Forbidden'
          AND instr(request, char(10) || 'walker ' || count.walker || char(10))))
      FROM count GROUP BY walker ORDER BY walker"
  done <"$work/homes"
}

echo "$groups" | sed '/^ *$/d' >"$work/groups"
: >"$work/all"
code=0
while read -r walkers library newest; do
  set --
  if [ "$library" != - ]; then
    [ -e "$libraries/$library.so" ] || {
      echo "who_is_wrong: no $libraries/$library.so: ci/setup/profilers.sh lays it out" >&2
      continue
    }
    set -- --provider "$libraries/$library.so"
    echo "$library $newest" >>"$work/libraries"
  fi
  up_to "$newest" >"$work/homes"
  [ -s "$work/homes" ] || continue
  sample "$walkers" "$newest" "$@"
  ! complain "$walkers" || code=1
  for walker in $(echo "$walkers" | tr , ' '); do
    while read -r name home; do
      echo "$walkers ${walker%@ref} $name $home"
    done <"$work/homes" >>"$work/all"
  done
done <"$work/groups"

echo '| shown the same | walker | code | JDK | walked | failed | callers or methods proven wrong | cut off | byte codes proven wrong | differ, unproven |'
echo '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |'
while read -r run walker name home; do rows "$run" "$walker" "$name" "$home"; done <"$work/all"
echo
echo '| shown the same | walker | JDK | walks timed | median, ns |'
echo '| --- | --- | --- | --- | --- |'
while read -r run walker name home; do costs "$run" "$walker" "$name" "$home"; done <"$work/all"
[ -e "$work/libraries" ] || exit "$code"
echo
echo '| library | walker | JDK | requests | frames | crashes and hangs | Forbidden buckets |'
echo '| --- | --- | --- | --- | --- | --- | --- |'
# A library's lines may differ in their newest JDK: the lower one serves all of its walkers.
sort -k 1,1 -k 2,2n "$work/libraries" | awk '!seen[$1]++' >"$work/each"
while read -r library newest; do requests "$library" "$newest"; done <"$work/each"
exit "$code"
