#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the tables of docs/findings/who-gets-what-wrong.md, walkers x kinds of code x JDKs:
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
# Walkers and their library (-: none, if no profiler is laid out). Neighbours are compared, so the
# reference stands beside each. A walker of several lines is shown as the first has it.
groups='
agct,asgst@ref,asprof-vm          asprof-4.5
asprof-fp,asgst@ref,asprof-dwarf  asprof-4.5
agct,asgst@ref,ddprof-vm          ddprof-1.44.0
ddprof-fp,asgst@ref,ddprof-dwarf  ddprof-1.44.0
agct,asgst@ref                    -
'

[ "$#" -gt 0 ] || set -- 8 11 17 21 25 28
ci/setup/jdks.sh "$@" >"$work/jdks" 2>"$work/jdks.err" || cat "$work/jdks.err" >&2
[ -s "$work/jdks" ] || {
  echo 'who_is_wrong: none of these JDKs is available' >&2
  exit 3
}

# sample WALKERS OPTION...: leaves the samples in $work/WALKERS/run.db, one JVM at a time.
sample() {
  run=$1
  shift
  while read -r _ home; do set -- "$@" --jdk "$home"; done <"$work/jdks"
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
# or other), in which a witness of bytecodes alone does, in which thread-start alone does, and in
# which any witness contradicts anybody.
judged() {
  echo "SELECT a.cell, a.region, a.kind, a.samples,
      COALESCE(MAX(CASE WHEN e.witness NOT IN ('thread-start', 'byte-code', 'call')
        AND e.against IN ('both', '$3') THEN e.samples END), 0) AS wrong,
      COALESCE(MAX(CASE WHEN e.witness IN ('byte-code', 'call') AND e.against IN ('both', '$3')
        THEN e.samples END), 0) AS wrong_code,
      COALESCE(MAX(CASE WHEN e.witness = 'thread-start' AND e.against IN ('both', '$3')
        THEN e.samples END), 0) AS cut,
      COALESCE(MAX(CASE WHEN e.against <> 'neither' THEN e.samples END), 0) AS decided
    FROM agreement a LEFT JOIN evidence e ON e.cell = a.cell AND e.region = a.region
      AND e.kind = a.kind AND e.walker = a.walker AND e.other = a.other
    WHERE a.walker = '$1' AND a.other = '$2'
      AND a.kind NOT IN ('none', 'level', 'one-failed', 'unnamed')
    GROUP BY a.cell, a.region, a.kind, a.samples"
}

# rows RUN WALKER NAME HOME: prints a line for each region of one walker on one JDK, for pivot. The
# walker is compared with the reference, and the reference with the first walker. Threads without a
# Java frame are sampled in libraries only, so an answer without frames is a failure elsewhere.
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
        SUM(CASE WHEN code = 'frames' OR (code = '0' AND region = 'library') THEN 0 ELSE count END)
          AS failed
      FROM count JOIN cells ON label = scene WHERE walker = '$2' GROUP BY region),
    faults AS (SELECT region, SUM(CASE WHEN kind <> 'bci' THEN wrong ELSE 0 END) AS wrong,
        SUM(CASE WHEN kind <> 'bci' THEN MAX(cut - wrong, 0) ELSE 0 END) AS cut,
        SUM(CASE WHEN kind = 'bci' THEN MAX(wrong, wrong_code) ELSE wrong_code END) AS bci,
        SUM(CASE WHEN kind <> 'bci' THEN MAX(samples - decided, 0) ELSE 0 END) AS unknown
      FROM judged WHERE cell IN (SELECT position FROM cells) GROUP BY region)
    SELECT printf('\`%s\` | %s;%s;%d, %d, %d, %d, %d, %d', '$2', region, '$3',
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

# costs RUN WALKER NAME HOME: prints the median time of a walk that returned frames, in
# microseconds. Times are counted in slots (harness/base/walk_time.h); the least time of the median's
# slot stands for it.
costs() {
  sqlite3 -readonly "$work/$1/run.db" "
    WITH slots AS (SELECT from_ns, SUM(value) AS walks
      FROM period_time JOIN cell ON label = scene, json_each('[' || counts || ']')
      WHERE period_time.walker = '$2' AND jdk_path = '$4' AND status = 'passed' GROUP BY from_ns),
    sums AS (SELECT from_ns, SUM(walks) OVER (ORDER BY from_ns) AS so_far,
        SUM(walks) OVER () AS total FROM slots)
    SELECT printf('\`%s\`;%s;%.1f', '$2', '$3', MIN(from_ns) / 1000.0) FROM sums
      WHERE 2 * so_far >= total HAVING total > 0"
}

# requests LIBRARY NAME HOME: prints what agct and the library's walkers answer to the same requests.
requests() {
  profiler=${1%%-*}
  out=$work/$1-$2
  "$walkhammer" fuzz --jdk "$3" --walker "agct,$profiler-vm,$profiler-fp,$profiler-dwarf" \
    --provider "$libraries/$1.so" --walks "${WALKHAMMER_WALKS:-100000}" --workers 1 --seed 1 \
    --no-coverage --no-confirm --no-minimize --out "$out" >"$out.txt" 2>&1 || [ "$?" -eq 1 ] || {
    echo "who_is_wrong: $1 on $2: $(head -n 1 "$out.txt")" >&2
    return 1
  }
  sqlite3 -readonly "$out/run.db" "SELECT printf('\`%s\`;%s;%d, %d, %d', walker, '$2',
      SUM(CASE WHEN code = 'frames' THEN count ELSE 0 END),
      SUM(CASE WHEN code IN ('crash', 'hang') THEN count ELSE 0 END),
      (SELECT count(DISTINCT bucket) FROM finding WHERE grade = 'Forbidden'
        AND instr(request, char(10) || 'walker ' || count.walker || char(10))))
    FROM count GROUP BY walker ORDER BY walker = 'agct' DESC, walker LIKE '%-vm' DESC, walker DESC"
}

# pivot HEAD FILE: prints the lines ROW;JDK;CELL of FILE as a table with a column for each JDK. A cell
# that comes twice is shown as the first time, one that never comes is a dash.
pivot() {
  cut -d ' ' -f 1 "$work/jdks" | awk -F ';' -v head="$1" '
    NR == FNR { jdk[++jdks] = $1; titles = titles " " $1 " |"; rules = rules " --- |"; next }
    !($1 in seen) { row[++rows] = $1; seen[$1] }
    !(($1, $2) in cell) { cell[$1, $2] = $3 }
    END {
      print "| " head " |" titles
      rule = head
      gsub(/[^|]+/, " --- ", rule)
      print "|" rule "|" rules
      for (i = 1; i <= rows; i++) {
        line = "| " row[i] " |"
        for (j = 1; j <= jdks; j++)
          line = line " " ((row[i], jdk[j]) in cell ? cell[row[i], jdk[j]] : "-") " |"
        print line
      }
    }' - "$2"
}

echo "$groups" | sed '/^ *$/d' >"$work/groups"
: >"$work/all"
: >"$work/libraries"
code=0
while read -r walkers library; do
  set --
  if [ "$library" != - ]; then
    [ -e "$libraries/$library.so" ] || {
      echo "who_is_wrong: no $libraries/$library.so: ci/setup/profilers.sh lays it out" >&2
      continue
    }
    set -- --provider "$libraries/$library.so"
    grep -qx "$library" "$work/libraries" || echo "$library" >>"$work/libraries"
  elif [ -s "$work/libraries" ]; then
    continue
  fi
  sample "$walkers" "$@"
  ! complain "$walkers" || code=1
  for walker in $(echo "$walkers" | tr , ' '); do
    while read -r name home; do
      echo "$walkers ${walker%@ref} $name $home"
    done <"$work/jdks" >>"$work/all"
  done
done <"$work/groups"

while read -r run walker name home; do rows "$run" "$walker" "$name" "$home"; done <"$work/all" >"$work/rows"
pivot 'walker | code' "$work/rows"
echo
while read -r run walker name home; do costs "$run" "$walker" "$name" "$home"; done <"$work/all" >"$work/costs"
pivot walker "$work/costs"
[ -s "$work/libraries" ] || exit "$code"
echo
while read -r library; do
  while read -r name home; do
    requests "$library" "$name" "$home" || code=1
  done <"$work/jdks"
done <"$work/libraries" >"$work/requests"
pivot walker "$work/requests"
exit "$code"
