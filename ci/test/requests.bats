#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The walker "request", RequestStackTrace: on a fake, whose program answers rightly or wrongly, and
# on JDKs, which do not have it yet.
# shellcheck disable=SC2154  # bats sets stderr

load lib

setup_file() {
  export PROGRAMS=$BATS_FILE_TMPDIR
  javac --release 17 -nowarn -d "$PROGRAMS" \
    "$BATS_TEST_DIRNAME/../../stress/testing/AnswersRequests.java"
}

setup() {
  # The library of the program and of the provider.
  fake=$(cd "$(dirname "$walkhammer")" && pwd)/providers/fake_requests.so
  out=$BATS_TEST_TMPDIR/run
}

# ask_for CODE WRONG ARGUMENT...: a run of the program whose answers are wrong in that way, with
# this exit code. On a busy machine the program may take longer to start than a short run walks.
ask_for() {
  local code=$1 wrong=$2 time
  shift 2
  for time in 2s 20s; do
    rm -rf "$out"
    run --separate-stderr timeout 100 "$walkhammer" stress --walker request --provider "$fake" \
      --java "-cp $PROGRAMS AnswersRequests \"$fake\" $wrong" --time "$time" --interval 200us \
      --out "$out" "$@"
    echo "$wrong: exit code $status: $output $stderr"
    [ "$status" -eq 4 ] || break
  done
  with_report
  [ "$status" -eq "$code" ]
}

# finds OUTCOMES: exactly these, of trace-request, and nothing else.
finds() {
  echo "findings: $(ask "select oracle || '/' || outcome from finding")"
  [ "$(ask "select group_concat(outcome, ' ') from (select distinct outcome from finding
    where oracle = 'trace-request' order by outcome)")" = "$1" ]
  [ "$(ask "select count(*) from finding where oracle <> 'trace-request' or cell is not 0")" -eq 0 ]
}

@test "right answers are read back, and nothing is found" {
  ask_for 0 nothing
  finds ""
  [ "$(ask "select status from cell")" = passed ]
  # Each promised stack trace came; their stacks are drawn.
  [ "$(ask "select sum(count) > 1000 from count where code = '0'")" -eq 1 ]
  [ "$(ask "select (select sum(count) from count where code = '0') =
    (select sum(count) from count where state = 'StackTraceRequest' and code = 'frames')")" -eq 1 ]
  "$walkhammer" report "$out" --flame "$BATS_TEST_TMPDIR/flame.html"
  grep -q AnswersRequests.run "$BATS_TEST_TMPDIR/flame.html"
}

@test "wrong answers are found, each kind by itself" {
  ask_for 0 dropped
  finds dropped
  for wrong in answered-twice out-of-order wrong-thread never-asked; do
    ask_for 1 "$wrong"
    finds "$wrong"
  done
  ask_for 0 failed
  finds ""
  [[ "$output" == *"promised stack traces came (100.0 %); "[1-9]*" failed"* ]]
}

@test "a finding of the whole program has no input, and says so" {
  ask_for 1 answered-twice
  folder=("$out"/crashes/*)
  [ "${#folder[@]}" -eq 1 ]
  [ ! -e "${folder[0]}/input.walk" ]
  grep -q "of the whole program and not of one walk" "${folder[0]}/explain.txt"
  run "$walkhammer" report "$out"
  [ "$status" -eq 1 ]
  [[ "$output" == *"no input was kept"* ]]
}

@test "a JDK without the extension is skipped with a word, a wrong use is refused" {
  rm -rf "$out"
  run --separate-stderr timeout 100 "$walkhammer" stress --workload torture:mixed --walker request \
    --time 1s --out "$out"
  echo "$status $output $stderr"
  [ "$status" -eq 3 ]
  with_report
  [[ "$output" == *"no JVMTI extension RequestStackTrace"* ]]
  while IFS='|' read -r arguments part; do
    # shellcheck disable=SC2086  # words
    refuses 2 "$part" $arguments --out "$BATS_TEST_TMPDIR/none"
  done <<'EOF'
fuzz --walker request|in mode synthetic: its answer comes later
stress --workload torture:mixed --walker request,agct|request walks alone
stress --workload torture:mixed --walker agct --walker request|request walks alone
stress --workload torture:mixed --walker request --mode parked|in mode parked: each thread asks for itself
stress --pid 1 --walker request|request is for stress with --workload or --java alone
step --workload torture:mixed --walker request|request is for stress with
EOF
  rm -rf "$out"
  run --separate-stderr timeout 100 "$walkhammer" stress --workload torture:mixed --walker request \
    --provider "$(dirname "$walkhammer")/providers/fake_profiler.so" --time 1s --out "$out"
  [ "$status" -eq 3 ]
  with_report
  [[ "$output" == *"does not export RequestStackTrace"* ]]
}
