#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints who gets what wrong, the table of docs/findings.md: walkers x kinds of code x JDKs:
# ci/differential.sh [VERSION...]. A VERSION is a name of ci/jdks.sh (default: one for each feature
# version that docs/findings.md shows). The short form takes 2 minutes, twice that on a busy machine:
#   WALKHAMMER_STRESS_TIME=3s ci/differential.sh 17 25
# Each JDK runs some torture programs, sampled every 100 us, by agct and the reference, and, if
# ci/profilers.sh has laid it out, by async-profiler's walker and the reference.
#   WALKHAMMER              the executable (default: the release build's)
#   WALKHAMMER_STRESS_TIME  duration of each program (default: 10s)
#   WALKHAMMER_WORKLOADS    the programs (default: those of $workloads below)
#   WALKHAMMER_PROVIDER     the profiler's library (default: the one of asprof-4.5, the newest that
#                           each of these JDKs survives)
# The run folders are removed at the end. Exit codes: 0 the table is whole, 1 a cell failed (stderr
# says which), 3 no JDK can be had.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=ci/measure.sh
. ci/measure.sh

workloads=${WALKHAMMER_WORKLOADS:-torture:mixed torture:reflection torture:deopt torture:stubs}
provider=${WALKHAMMER_PROVIDER:-${WALKHAMMER_PROFILERS:-${XDG_CACHE_HOME:-$HOME/.cache}/walkhammer/profilers}/asprof-4.5.so}

[ "$#" -gt 0 ] || set -- 8 11 17 21 25 28
ci/jdks.sh "$@" >"$work/jdks" 2>"$work/jdks.err" || cat "$work/jdks.err" >&2
set --
while read -r _ home; do set -- "$@" --jdk "$home"; done <"$work/jdks"
[ "$#" -gt 0 ] || {
  echo 'differential: none of these JDKs can be had' >&2
  exit 3
}

# sample RUN WALKERS JDK-OPTION...: leaves the samples in $work/RUN/run.db, one JVM at a time.
sample() {
  run=$1 walkers=$2
  shift 2
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

sample agct agct,asgst "$@"
profiler=
if [ -e "$provider" ]; then
  profiler=yes
  sample asprof asgst@ref,asprof-vm --provider "$provider" "$@"
else
  echo "differential: no $provider: ci/profilers.sh lays it out" >&2
fi

echo '| walker | code | JDK | walked | failed | callers or methods proven wrong | cut off | byte codes proven wrong | differ, unproven |'
echo '| --- | --- | --- | --- | --- | --- | --- | --- | --- |'
for walker in agct asgst asprof-vm; do
  while read -r name home; do
    case $walker in
      agct) rows agct agct other "$name" "$home" ;;
      asgst) rows agct asgst walker "$name" "$home" ;;
      *) [ -z "$profiler" ] || rows asprof "$walker" walker "$name" "$home" ;;
    esac
  done <"$work/jdks"
done
code=0
! complain agct || code=1
[ -z "$profiler" ] || ! complain asprof || code=1
exit "$code"
