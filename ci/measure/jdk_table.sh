#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Measures each JDK that ci/setup/jdks.sh provides and prints the table of docs/reference/jdks.md:
# ci/measure/jdk_table.sh [VERSION...] (default: all JDKs for this machine's architecture).
#   WALKHAMMER_FUZZ_TIME    duration of fuzzing agct, guided by libFuzzer, with confirmation of its
#                           crash sites (default: 60s)
#   WALKHAMMER_STRESS_TIME  duration of each torture program, with agct and asgst (default: 30s,
#                           which is 10 minutes for torture:*)
#   WALKHAMMER_STEP_TIME    duration of `step` (default: 20s)
# A measurement that failed has its reason in the table; a cell without a figure is "-".
# WALKHAMMER names the executable (default: the release build's).
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=ci/measure/lib_measure.sh
. ci/measure/lib_measure.sh

# run FOLDER ARGUMENTS...: runs walkhammer; its exit code goes to $code.
run() {
  folder=$work/$1
  shift
  rm -rf "$folder"
  code=0
  "$walkhammer" "$@" --out "$folder" >"$folder.txt" 2>&1 || code=$?
  [ "$code" -le 1 ] || [ "$code" -eq 3 ] || tail -n 3 "$folder.txt" >&2
}

# ask FOLDER SQL: queries FOLDER's run.db.
ask() {
  sqlite3 -readonly "$work/$1/run.db" "$2" 2>/dev/null || echo -
}

scenes() {
  ask "$1" "SELECT printf('%d of %d', SUM(pristine_true), SUM(available)) FROM scene"
}

# Prints the number of Forbidden findings of the reference, each of which is a bug of walkhammer.
# Those of agct are not counted: it crashes, and by the shadow stack it leaves frames out. Titles go
# to stderr, because the run folders are removed.
alarms() {
  where="grade = 'Forbidden' AND request LIKE '%walker asgst%'"
  ask "$1" "SELECT DISTINCT 'jdk_table: ' || oracle || '/' || outcome || ': ' || detail
    FROM finding WHERE $where" >&2
  ask "$1" "SELECT COUNT(DISTINCT bucket) FROM finding WHERE $where"
}

ci/setup/jdks.sh "$@" >"$work/jdks" 2>"$work/jdks.err" || cat "$work/jdks.err" >&2
echo '| JDK | scenes, agct | scenes, asgst | sites confirmed | samples | false alarms | methods agree | where agct is not proven wrong | steps | layout |'
echo '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |'
while read -r name home; do
  echo "jdk_table: $name" >&2
  run agct fuzz --jdk "$home" --walks 3000 --no-coverage --no-confirm --no-minimize
  run asgst fuzz --walker asgst --jdk "$home" --walks 20000 --no-coverage --no-confirm --no-minimize
  run fuzz fuzz --engine libfuzzer --workers 2 --jdk "$home" --time "${WALKHAMMER_FUZZ_TIME:-60s}" --no-minimize
  run stress stress --workload 'torture:*' --walker agct,asgst --jdk "$home" --time "${WALKHAMMER_STRESS_TIME:-30s}"
  run step step --workload torture:mixed --jdk "$home" --time "${WALKHAMMER_STEP_TIME:-20s}"
  "$walkhammer" doctor --jdk "$home" >"$work/doctor" 2>&1 || true
  sites=$(ask fuzz "SELECT COUNT(*) FROM bucket WHERE oracle = 'crash' AND confirmed > 0")
  samples=$(ask stress "SELECT SUM(walks) / 2 FROM cell")
  plain=$(ask stress "SELECT printf('%.2f %%', $agree) FROM agreement WHERE $compared")
  unproven=$(ask stress "SELECT printf('%.2f %%', $agree_unproven) FROM agreement WHERE $compared")
  steps=$(ask step "SELECT SUM(walks) FROM cell")
  echo "| $name | $(scenes agct) | $(scenes asgst) | $sites | $samples | $(alarms stress) | $plain | $unproven | $steps | $(sed -n 's/^  layout *of //p' "$work/doctor") |"
done <"$work/jdks"
