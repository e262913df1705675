# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What the suites of stress and step share, by `load lib_stress`: runs of the test programs in
# $PROGRAMS with the run folder $out, and what they found. teardown kills $pid and unmounts
# $mounted.
# shellcheck disable=SC2154  # bats and lib.bash set these variables

load lib

setup_file() {
  export PROGRAMS=$BATS_FILE_TMPDIR/programs
  mkdir "$PROGRAMS"
  javac --release 17 -nowarn -d "$PROGRAMS" "$root"/stress/testing/[A-S]*.java "$root"/stress/testing/Work.java
  # sun.misc.Signal is not part of any release's documented API.
  javac -nowarn -cp "$PROGRAMS" -d "$PROGRAMS" "$root"/stress/testing/TakesSignal.java 2>/dev/null
}

setup() {
  out=$BATS_TEST_TMPDIR/run
  pid=
  mounted=
}

teardown() {
  [ -z "$pid" ] || kill -9 "$pid" 2>/dev/null || true
  [ -z "$mounted" ] || umount "$mounted"
}

# stress ARGUMENTS...: a run with the run folder $out, of a busy test program unless the arguments
# name another.
stress() {
  run --separate-stderr timeout 100 "$WALKHAMMER" stress --out "$out" "$@"
  echo "walkhammer stress $*: exit code $status, stdout '$output', stderr '$stderr'"
}

program() {
  local main=$1
  shift
  stress --java "-cp $PROGRAMS $main" "$@"
}

# step ARGUMENTS...: steps a busy test program, into $out.
step() {
  run --separate-stderr timeout 100 "$WALKHAMMER" step --java "-cp $PROGRAMS Work" --out "$out" "$@"
  echo "walkhammer step $*: exit code $status, stdout '$output', stderr '$stderr'"
}

cell() { ask "select $1 from cell"; }

# ended STATUS CODE PART: the one cell has STATUS, the run's exit code is CODE, and the reason
# contains PART.
ended() {
  [ "$(cell status)" = "$1" ]
  [ "$status" -eq "$2" ]
  [[ "$(cell reason)" == *"$3"* ]]
}

# notes CONDITION: prints the number of the run's notes that fulfil the SQL condition.
notes() { ask "select count(*) from note where $1"; }

finding() { ask "select distinct oracle || '/' || outcome from finding where realism = 'genuine'"; }
