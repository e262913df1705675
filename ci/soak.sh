#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The long soak: coverage traps and background Java threads (--churn) together must never bring the
# JVM down. WALKHAMMER_TIME (default 10m) of walks on each JDK given (default: every JDK found),
# under G1 and under ZGC side by side. Fails when a death has no input to blame, or when a run
# proves nothing. Deaths by an input are told; look at these, too: a thread of the
# JVM that dies while an input is walked is blamed on the input, and only a replay tells.
# WALKHAMMER names the executable (default: the release build's), WALKHAMMER_OUT a new folder for
# the runs.
set -eu
cd "$(dirname "$0")/.."
walkhammer=${WALKHAMMER:-build/release/walkhammer}
out=${WALKHAMMER_OUT:-out/soak-$(date +%Y%m%d-%H%M%S)}

if [ ! -x "$walkhammer" ]; then
  echo "soak: no $walkhammer: run cmake --preset release && cmake --build build/release" >&2
  exit 4
fi
if [ "$#" -eq 0 ]; then
  # shellcheck disable=SC2046  # no blanks in the paths of JDKs
  set -- $("$walkhammer" list jdks | sed 's/  .*//')
fi
if [ "$#" -eq 0 ]; then
  echo "soak: no JDK on this machine" >&2
  exit 3
fi

# start JDK COLLECTOR FOLDER: a run in the background, as $!.
start() {
  "$walkhammer" fuzz --engine libfuzzer --churn --time "${WALKHAMMER_TIME:-10m}" --no-confirm \
    --no-minimize --jdk "$1" --out "$3" -- "-XX:+Use$2" >"$3.txt" 2>"$3.log" &
}

# ask FOLDER SQL: what the run store answers.
ask() {
  sqlite3 -readonly "$1/run.db" "$2"
}

fail() {
  echo "FAILED  $1"
  failed=1
}

# settle NAME FOLDER PID: waits for the run, tells what it did, judges it.
settle() {
  code=0
  wait "$3" || code=$?
  # 1: findings, which are no matter here.
  if [ "$code" -gt 1 ]; then
    fail "$1: walkhammer ended with $code: $(tail -n 1 "$2.log")"
    return
  fi
  ask "$2" "SELECT printf('%s: %d walks, %d blocks, %d contained crashes; children: %d started, ' ||
      '%d retired, %d died; %d collections, %d rounds of classes, %d unloaded', '$1', walks, blocks,
      contained_crashes, children_started, children_retired, children_died, collections, rounds,
      unloaded) FROM run LEFT JOIN churn"
  ask "$2" "SELECT printf('  %dx by an input: %s ($2/%s)', COUNT(*), title, folder)
    FROM bucket JOIN finding ON finding.bucket = bucket.id
    WHERE finding.oracle = 'survival' AND request <> '' GROUP BY bucket.id"
  # Every death is one finding, or none where it happened before the first walk.
  blameless=$(ask "$2" "SELECT children_died - (SELECT COUNT(*) FROM finding
    WHERE oracle = 'survival' AND request <> '') FROM run")
  if [ "$blameless" -ne 0 ]; then
    fail "$1: $blameless of its children died without an input to blame: see $2/crashes, $2.txt"
  fi
  happened=$(ask "$2" "SELECT walks > 0 AND blocks > 0 AND collections > 0 AND unloaded > 0
    FROM run LEFT JOIN churn")
  if [ "$happened" != 1 ]; then
    fail "$1: vacuous, something of the above did not happen at all"
  fi
}

mkdir -p "$out"
failed=0
# Background runs of a script ignore SIGINT; SIGTERM ends them in order.
trap 'kill "$g1" "$z" || true; wait; exit 130' INT TERM
number=0
for jdk; do
  number=$((number + 1))
  name=$number-$(basename "$jdk")
  start "$jdk" G1GC "$out/$name-G1GC"
  g1=$!
  start "$jdk" ZGC "$out/$name-ZGC"
  z=$!
  settle "$name G1GC" "$out/$name-G1GC" "$g1"
  settle "$name ZGC" "$out/$name-ZGC" "$z"
done
[ "$failed" -eq 0 ] || exit 1
echo "soak: no death without an input to blame; the runs are in $out"
