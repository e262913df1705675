# SPDX-License-Identifier: Apache-2.0
# Coverage traps and background Java threads (--churn) together must never bring the JVM down. Walks
# for WALKHAMMER_TIME (default: 10m) on each JDK, under G1 and under ZGC side by side. Fails if a
# child died without an input to blame, or if a run proves nothing. Deaths with an input are printed
# and should be replayed: the current input is also blamed when another thread of the JVM dies.
# shellcheck shell=sh
# shellcheck disable=SC2154  # ci/soak.sh sets them

# settle NAME FOLDER PID: waits for the run, prints what it did, judges it.
settle() {
  # 1 means findings, which are allowed here.
  ended "$2" "$3" 0 1 || return 0
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

need_jdks
number=0
for jdk in $jdks; do
  number=$((number + 1))
  here=$number-$(basename "$jdk")
  processes=
  for collector in G1GC ZGC; do
    start "$out/$here-$collector" fuzz --engine libfuzzer --churn --time "${WALKHAMMER_TIME:-10m}" \
      --no-confirm --no-minimize --jdk "$jdk" -- "-XX:+Use$collector"
    processes="$processes $!"
  done
  settle "$here G1GC" "$out/$here-G1GC" "${processes% *}"
  settle "$here ZGC" "$out/$here-ZGC" "${processes##* }"
done
