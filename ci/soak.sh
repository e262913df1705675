#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The long soak of fuzz: coverage traps and background Java threads (--churn) together must never
# bring the JVM down. ci/soak.sh [JDK...] walks for WALKHAMMER_TIME (default: 10m) on each JDK
# (default: all JDKs of this machine), under G1 and under ZGC side by side. Fails if a child died
# without an input to blame, or if a run proves nothing. Deaths with an input are printed and should
# be replayed: the input at hand is also blamed when another thread of the JVM dies.
# WALKHAMMER names the executable (default: the release build's), WALKHAMMER_OUT a new folder for
# the runs. At the end, ci/soak/large.sh runs a large program under stress for an hour, and
# ci/test/mutate.sh the listed mutants and some fresh ones.
# Exit codes: 0 passed, 1 failed, 3 no JDK, 4 no build.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=ci/soak/base.sh
. ci/soak/base.sh
out=${WALKHAMMER_OUT:-out/soak-$(date +%Y%m%d-%H%M%S)}

# start JDK COLLECTOR FOLDER: starts a run in the background; its process is $!.
start() {
  "$walkhammer" fuzz --engine libfuzzer --churn --time "${WALKHAMMER_TIME:-10m}" --no-confirm \
    --no-minimize --jdk "$1" --out "$3" -- "-XX:+Use$2" >"$3.txt" 2>"$3.log" &
}

# settle NAME FOLDER PID: waits for the run, prints what it did, judges it.
settle() {
  code=0
  wait "$3" || code=$?
  # 1 means findings, which are allowed here.
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
  # A death is one finding with a request, or none if it happened before the first walk.
  blameless=$(ask "$2" "SELECT children_died - (SELECT COUNT(*) FROM finding
    WHERE oracle = 'survival' AND request <> '') FROM run")
  if [ "$blameless" -ne 0 ]; then
    fail "$1: $blameless of its children died without an input to blame: see $2/crashes, $2.txt"
  fi
  happened=$(ask "$2" "SELECT walks > 0 AND blocks > 0 AND collections > 0 AND unloaded > 0
    FROM run LEFT JOIN churn")
  if [ "$happened" != 1 ]; then
    fail "$1: vacuous: no walks, no blocks, no collections or no unloaded classes, see above"
  fi
}

mkdir -p "$out"
# Background processes of a script ignore SIGINT; SIGTERM makes runs end in order.
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
# An hour of a large program under stress. WALKHAMMER_SOAK_SECONDS shortens it; 0: not at all.
if [ "${WALKHAMMER_SOAK_SECONDS:-3600}" -ne 0 ]; then
  code=0
  WALKHAMMER="$walkhammer" WALKHAMMER_OUT="$out/large" ci/soak/large.sh || code=$?
  case $code in
    0) ;;
    3) echo "large: skipped" ;;
    *) fail "large: ci/soak/large.sh ended with $code" ;;
  esac
fi
# The mutants that the unit tests must kill, and fresh ones, another choice each day, whose
# survivors are to be judged. WALKHAMMER_MUTANTS is how many of these; 0: no mutants at all.
if [ "${WALKHAMMER_MUTANTS:-30}" -ne 0 ]; then
  code=0
  MUTANTS="$out/mutants" ci/test/mutate.sh --list ci/test/mutants.txt >"$out/mutants-listed.txt" || code=$?
  [ "$code" -eq 0 ] || fail "mutants: not all of the list were killed: see $out/mutants-listed.txt"
  MUTANTS="$out/mutants" ci/test/mutate.sh --folder harness --folder stress \
    --count "${WALKHAMMER_MUTANTS:-30}" --seed "$(date +%Y%m%d)" >"$out/mutants-fresh.txt" ||
    fail "mutants: ci/test/mutate.sh ended with $? on fresh ones"
  sed -n '/^survivors/,$p' "$out/mutants-fresh.txt"
fi
[ "$failed" -eq 0 ] || exit 1
echo "soak: no death without an input to blame; the runs are in $out"
