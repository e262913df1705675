#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests of --renaissance and --dacapo: the user's own copies of these suites. A jar with some
# programs stands in for both.
# shellcheck disable=SC2154  # bats sets stderr

load lib

setup_file() {
  export ARCHIVES=$BATS_FILE_TMPDIR/archives
  mkdir -p "$ARCHIVES/classes" "$ARCHIVES/several" "$ARCHIVES/without"
  javac --release 8 -nowarn -Xlint:-options -d "$ARCHIVES/classes" "$root/workloads/testing/Suite.java"
  jar --create --file "$ARCHIVES/renaissance-9.9.jar" --main-class Suite -C "$ARCHIVES/classes" .
  cp "$ARCHIVES/renaissance-9.9.jar" "$ARCHIVES/dacapo-9.9.jar"
  touch "$ARCHIVES/several/dacapo-1.jar" "$ARCHIVES/several/dacapo-2.jar"
  echo none >"$ARCHIVES/none.jar"
}

setup() {
  out=$BATS_TEST_TMPDIR/run
  need_jdk
}

stress() {
  run --separate-stderr timeout 100 "$WALKHAMMER" stress --jdk "$jdk" --time 1s --no-confirm \
    --out "$out" "$@"
  echo "walkhammer stress $*: exit code $status, stdout '$output', stderr '$stderr'"
}

# cells: prints workload and status of each cell.
cells() {
  sqlite3 "$out/run.db" 'select workload, status from cell order by workload' | xargs
}

reason() {
  sqlite3 "$out/run.db" "select reason from cell where workload = '$1'"
}

@test "a jar of any version is run; what it lacks and what fails is named" {
  stress --renaissance "$ARCHIVES/renaissance-9.9.jar" --workload renaissance:scrabble \
    --workload renaissance:dotty --workload renaissance:philosophers
  [ "$status" -eq 4 ] # a program failed
  [ "$(cells)" = 'renaissance:dotty|workload-failed renaissance:philosophers|unavailable renaissance:scrabble|passed' ]
  # The message of the stack trace, whose end alone would not show it.
  [[ "$(reason renaissance:dotty)" == *"exit code 1; it printed: Exception in thread \"main\" java.lang.IllegalStateException: dotty cannot|"*"; output/cell-"*".txt has more of it" ]]
  [ "$(grep -c 'at Suite.fail' "$out"/output/cell-*.txt)" -eq 61 ]
  # Without the notice that stands on stderr.
  [[ "$(reason renaissance:philosophers)" == *"renaissance-9.9.jar does not list philosophers; it lists dotty, fop, h2, pmd, scrabble, stranger" ]]
  [ "$(sqlite3 "$out/run.db" 'select walks > 1000 from run')" -eq 1 ]
}

@test "without --workload, all of a suite is run out of the folder that holds its jar" {
  stress --dacapo "$ARCHIVES"
  # The JDK's release decides which of the 19 others are not for it.
  [ "$(cells | xargs -n 1 | grep -cE '[|](unavailable|not-for-jdk)$')" -eq 19 ]
  [[ "$(cells)" == *'dacapo:fop|passed'* ]]
  [[ "$(reason dacapo:fop)" =~ ^[1-9][0-9]*' iterations ended' ]]
  [[ "$(cells)" == *'dacapo:pmd|workload-failed'* ]]
  [[ "$(reason dacapo:pmd)" == *"exit code 7"* ]]
  [[ "$(cells)" == *'dacapo:h2|workload-failed'* ]]
  [[ "$(reason dacapo:h2)" == "an iteration went wrong; it printed: "*"h2 FAILED warmup"* ]]
  [[ "$(cells)" != *renaissance* ]]
}

@test "a program that the catalogue does not know is run by name, on an input of a size" {
  stress --dacapo "$ARCHIVES" --workload dacapo:stranger --workload dacapo:nobody --scale small
  [ "$(cells)" = 'dacapo:nobody|unavailable dacapo:stranger|passed' ]
  [[ "$(reason dacapo:nobody)" == *"does not list nobody; it lists dotty, fop, h2, pmd, scrabble, stranger" ]]
  [[ "$(reason dacapo:stranger)" =~ 'iterations ended' ]]
  rm -r "$out"
  stress --dacapo "$ARCHIVES" --workload dacapo:stranger --scale huge
  [ "$status" -eq 3 ]
  [ "$(reason dacapo:stranger)" = 'dacapo:stranger has no input of size huge; its sizes are small, default, large, vlarge' ]
  refuses 2 '--scale must be a number from 1 to 1000000 or a size such as small, not "-1"' \
    stress --workload torture:mixed --scale=-1
}

@test "show workloads knows what the archive holds" {
  run "$WALKHAMMER" show workloads --jdk "$jdk" --renaissance "$ARCHIVES"
  [ "$status" -eq 0 ]
  echo "$output" | grep -A 1 '^renaissance:scrabble ' | grep -q ' available$'
  echo "$output" | grep -A 1 '^renaissance:reactors ' | grep -q 'does not list reactors'
  echo "$output" | grep -A 1 '^renaissance:stranger ' | grep -q ' available$'
  echo "$output" | grep -A 1 '^dacapo:fop ' | grep -q 'fetch.sh dacapo'
}

@test "archives that cannot be used get one sentence" {
  while IFS='|' read -r option part; do
    # shellcheck disable=SC2086  # words
    refuses 2 "$part" stress --jdk "$jdk" --time 1s --out "$out" $option
  done <<END
--renaissance $ARCHIVES/gone|--renaissance: there is no file or folder $ARCHIVES/gone
--renaissance $ARCHIVES/without|--renaissance: no renaissance-*.jar is in $ARCHIVES/without
--dacapo $ARCHIVES/several|--dacapo: $ARCHIVES/several holds several; name one of
--dacapo $ARCHIVES --workload torture:mixed|--dacapo is for workloads such as "dacapo:*", and none is chosen
--dacapo $ARCHIVES --java x|say what to run, in one way
END
  stress --renaissance "$ARCHIVES/none.jar" --workload renaissance:dotty
  [ "$status" -eq 3 ]
  [[ "$(reason renaissance:dotty)" == *"none.jar --raw-list lists no workloads (exit code 1)"* ]]
}
