#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The SQL of docs/howto/query-runs.md, asked of real runs.

load lib

setup_file() {
  jdk=$(jdks | head -n 1)
  cd "$BATS_FILE_TMPDIR" || return
  # Each block becomes a file: 1.sql, 2.sql and so on.
  awk '/^```sql$/ { file = ++n ".sql"; next } /^```$/ { file = "" } file { print >file }' \
    "$BATS_TEST_DIRNAME/../../docs/howto/query-runs.md"
  "$WALKHAMMER" fuzz --jdk "$jdk" --walker puzzle-crash --scene c2 --walks 20000 --no-minimize \
    --out planted >said 2>&1 || [ "$?" -eq 1 ]
  "$WALKHAMMER" fuzz --jdk "$jdk" --walks 20000 --scene c2 --no-confirm --no-minimize \
    --out plain >>said 2>&1 || [ "$?" -eq 1 ]
}

setup() { cd "$BATS_FILE_TMPDIR" || return; }

# ask N RUN [OTHER]: the rows that block N gives of RUN.
ask() {
  run -0 sqlite3 -readonly "$2/run.db" "$(sed "s|OTHER/|$BATS_FILE_TMPDIR/${3:-$2}/|" "$1.sql")"
  echo "$1 of $2: $output"
}

@test "the document has six questions" {
  [ "$(find . -name '*.sql' | wc -l)" -eq 6 ]
}

@test "what ran: one row, with the run's walks" {
  ask 1 planted
  [ "${#lines[@]}" -eq 1 ]
  [[ "$output" == *'|20000|'* ]]
}

@test "crashes: the planted one, and only where it was planted" {
  ask 2 planted
  [[ "$output" == *Misbehave*'|crash|'* ]]
  ask 2 plain
  [[ "$output" != *Misbehave* ]]
}

@test "failures: the shares are of all walks" {
  ask 3 plain
  [[ "${lines[0]}" == agct\|* ]]
  awk -F '|' '$3 < 100 || $4 > $3 || $5 < 0 || $5 > 100 { bad = 1 } END { exit bad }' <<<"$output"
}

@test "coverage: some blocks of all" {
  ask 4 plain
  [ "${#lines[@]}" -eq 1 ]
  awk -F '|' '{ exit !($1 > 0 && $1 < $2 && $3 < 100) }' <<<"$output"
}

@test "new buckets: the planted crash is new beside the plain run, and nothing beside itself" {
  ask 5 planted plain
  [[ "$output" == *Misbehave* ]]
  ask 5 planted planted
  [ -z "$output" ]
}

@test "unwalkable: the piece of code that only the other run has answers for" {
  "$WALKHAMMER" step --scene c1 --time 3s --out step >said 2>&1 || [ "$?" -eq 1 ]
  cp -r step blind
  piece=$(sqlite3 step/run.db "SELECT name FROM step_region WHERE answered > 0
    GROUP BY name HAVING sum(steps) >= 10 ORDER BY sum(steps) DESC LIMIT 1")
  [ -n "$piece" ]
  ask 6 blind step
  [ -z "$output" ]
  sqlite3 blind/run.db "UPDATE step_region SET answered = 0 WHERE name = '$piece'"
  ask 6 blind step
  [ "${#lines[@]}" -eq 1 ]
  [[ "$output" == "$piece|"* ]]
}
