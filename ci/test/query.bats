#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Questions to run folders of real runs: answers, interrupts, escapes, memory.
# WALKHAMMER names the executable; default is the release build.

bats_require_minimum_version 1.5.0

setup_file() {
  export WALKHAMMER=${WALKHAMMER:-$BATS_TEST_DIRNAME/../../build/release/walkhammer}
  export BATS_NO_PARALLELIZE_WITHIN_FILE=true
  jdk=$("$WALKHAMMER" show jdks | sed -n '1s/  .*//p')
  cd "$BATS_FILE_TMPDIR" || return
  "$WALKHAMMER" fuzz --jdk "$jdk" --walker puzzle-crash --scene c2 --walks 20000 --no-minimize \
    --out one >said 2>&1 || [ "$?" -eq 1 ]
  "$WALKHAMMER" fuzz --jdk "$jdk" --walks 20000 --scene c2 --no-confirm --no-minimize --out two \
    >>said 2>&1 || [ "$?" -eq 1 ]
}

setup() { cd "$BATS_FILE_TMPDIR" || return; }

@test "questions are answered over two runs" {
  run -0 "$WALKHAMMER" query runs one two
  [ "${#lines[@]}" -eq 3 ]
  run -0 "$WALKHAMMER" query crashes one two
  [[ "$output" == *Misbehave* ]]
  run -0 "$WALKHAMMER" query crashes two
  [[ "$output" != *Misbehave* ]]
  for run in one two; do
    [ "$("$WALKHAMMER" query --sql 'SELECT sum(count) AS n FROM count' $run | tail -n 1)" = \
      "$(sqlite3 $run/run.db 'SELECT sum(count) FROM count')" ]
  done
  run -0 "$WALKHAMMER" query unwalkable one two
  [[ "$output" == "no rows: none of the 2 runs has anything in "*step_region ]]
}

@test "a run is not changed, and a question that does more than read is refused" {
  before=$(sha256sum one/run.db)
  files=$(ls one)
  for sql in 'DELETE FROM run' "ATTACH 'x' AS x" "VACUUM INTO 'x'" 'PRAGMA user_version = 1'; do
    run -2 "$WALKHAMMER" query --sql "$sql" one
    [[ "$output" == *"does more than read"* ]]
  done
  run -0 "$WALKHAMMER" query --sql 'SELECT count(*) FROM finding' one
  [ "$before" = "$(sha256sum one/run.db)" ]
  [ "$files" = "$(ls one)" ]
  [ ! -e x ]
}

@test "a query without end is given up, and Ctrl-C ends it" {
  endless='WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n'
  run -2 timeout 20 "$WALKHAMMER" query --time 500ms --sql "$endless" one
  [[ "$output" == *"takes longer than it may"* ]]
  run -4 timeout --foreground --preserve-status --signal INT 2 env --default-signal=INT \
    "$WALKHAMMER" query --sql "$endless" one
  [[ "$output" == *"was interrupted"* ]]
}

@test "no escapes of a run folder reach the terminal" {
  cp -r one hostile
  sqlite3 hostile/run.db "UPDATE bucket SET title = char(27) || '[2J' || char(155) || title"
  for form in "" --json; do
    # shellcheck disable=SC2086  # no form is no argument
    "$WALKHAMMER" query crashes $form hostile >said
    grep Misbehave said
    ! LC_ALL=C grep "$(printf '[\001-\010\013-\037\177\233]')" said
  done
}

@test "memory does not grow with the runs" {
  index=0
  while [ "$index" -lt 40 ]; do
    cp -r two "many-$index"
    sqlite3 "many-$index/run.db" "UPDATE run SET run_id = printf('%032x', $index)"
    index=$((index + 1))
  done
  measure() { env time -f %M -o memory "$WALKHAMMER" query coverage "$@" >/dev/null && cat memory; }
  few=$(measure many-1 many-2)
  all=$(measure many-*)
  echo "2 runs: $few KiB, 40 runs: $all KiB"
  [ "$all" -lt $((few + 8192)) ]
}
