#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ci/nightly.sh: which runs it plans, that it goes on where it was killed, and what it says.
# shellcheck disable=SC2154  # bats sets stderr

load lib

setup() {
  night=$BATS_TEST_TMPDIR/night
  config=$BATS_TEST_TMPDIR/config
  nights=$BATS_TEST_TMPDIR/nights
}

# Replaces walkhammer. Runs are folders with an empty run.db; a run whose folder's name has SLOW in
# it takes a minute, others say WHY and end with CODE. The judgement on a night ends with JUDGED.
fake_walkhammer() {
  WALKHAMMER=$BATS_TEST_TMPDIR/walkhammer
  cat >"$WALKHAMMER" <<'END'
#!/bin/sh
verb=$1 all=$*
echo "$all" >>"$0.calls"
case $all in
'show jdks') printf '/jdks/a  11\n/jdks/b  25\n' && exit 0 ;;
esac
while [ "$#" -gt 0 ]; do
  if [ "$1" = --out ]; then mkdir -p "$2" && touch "$2/run.db"; fi
  shift
done
case ${SLOW:+$verb$all} in
fuzz*"${SLOW:-none}"* | stress*"${SLOW:-none}"*) exec sleep 60 ;;
esac
case $all in
'bugs update '*) exit "${UPDATE:-0}" ;;
'bugs check '*) echo '{"jdks": []}' && exit 1 ;;
'gate --night '*)
  night=${all#gate --night }
  touch "${night%% *}/night.json"
  echo "THE VERDICT"
  exit "${JUDGED:-0}"
  ;;
esac
case $verb in
fuzz | stress)
  [ -z "${WHY:-}" ] || echo "walkhammer: $WHY" >&2
  exit "${CODE:-0}"
  ;;
esac
END
  chmod +x "$WALKHAMMER"
}

# one_of_each: a plan of one fuzz run and one stress run.
one_of_each() {
  printf '%s\n' 'time = 60s' 'walkers = agct' 'engines = random' 'workloads = torture:mixed' \
    'profiles = default' 'jdks = /jdks/a' >"$config"
}

# night NUMBER CODE: a night below $nights that must end with CODE.
night() {
  run --separate-stderr "$root/ci/nightly.sh" --config "$config" --out "$nights/$1"
  echo "$status: $output $stderr"
  [ "$status" -eq "$2" ]
}

# calls PATTERN: how many calls match.
calls() { grep -c "$1" "$WALKHAMMER.calls"; }

# wait_for FILE: at most 10 s.
wait_for() {
  for _ in $(seq 100); do
    [ ! -e "$1" ] || return 0
    sleep 0.1
  done
  return 1
}

@test "a user's own copies of suites go to their workloads, also in a night that goes on" {
  fake_walkhammer
  printf '%s\n' 'time = 60s' 'walkers = agct' 'engines = random' 'jdks = /jdks/a' \
    'workloads = torture:mixed renaissance:dotty dacapo:fop' 'profiles = default' \
    'renaissance = /r.jar' 'dacapo = /d d' >"$config"
  run --separate-stderr "$root/ci/nightly.sh" --config "$config" --out "$night"
  [ "$status" -eq 0 ]
  rm "$night/runs"/*dotty*.done
  run --separate-stderr "$root/ci/nightly.sh" --out "$night"
  [ "$status" -eq 0 ]
  [ "$(calls '^stress .*dotty .* --renaissance /r.jar$')" -eq 2 ]
  [ "$(calls '^stress .*fop .* --dacapo /d d$')" -eq 1 ]
  [ "$(calls 'mixed .*--\(renaissance\|dacapo\)')" -eq 0 ]
}

@test "the matrix shares the time, and is merged by kind, JDK and walker" {
  fake_walkhammer
  printf '%s\n' 'time = 120s # two minutes' '' 'walkers = agct asgst' 'engines=random' \
    'workloads = torture:mixed' 'profiles = default zgc' >"$config"
  run --separate-stderr "$root/ci/nightly.sh" --config "$config" --out "$night"
  echo "$status: $output $stderr"
  [ "$status" -eq 0 ]
  [ "$(calls '^fuzz .*--time 7s .*--engine random --seed [0-9]* --confirm-time 3s$')" -eq 4 ]
  [ "$(calls '^stress .*--workload torture:mixed --profile zgc ')" -eq 4 ]
  [ "$(calls '^stress .*--profile default ')" -eq 4 ]
  [ "$(calls '^merge ')" -eq 8 ]
  [ "$(calls '^merge --out .*/stress.a.agct .*default .*zgc$')" -eq 1 ]
  [ "$(calls '^bugs check --jdk /jdks/[ab] --json$')" -eq 2 ]
  [[ "$output" == "nightly: 12 runs of 10 s: 12 clean, 0 with findings"*"; 0 of the matrix are left"* ]]
}

@test "a night that was killed goes on, and does nothing twice" {
  fake_walkhammer
  printf '%s\n' 'time = 60s' 'walkers = agct' 'engines = random' 'workloads = torture:mixed' \
    'profiles = default' 'jdks = /jdks/a /jdks/b' >"$config"
  SLOW=stress.a "$root/ci/nightly.sh" --config "$config" --out "$night" 3>&- &
  pid=$!
  wait_for "$night/running"
  until [ -f "$night/running" ] && grep -q '^stress' "$WALKHAMMER.calls"; do sleep 0.1; done
  one_sentence 2 "another nightly.sh works in" "$root/ci/nightly.sh" --out "$night"
  slow=$(cat "$night/running")
  kill -KILL "$pid"
  wait "$pid" || true
  [ -d "/proc/$slow" ] # it outlives the script
  [ "$(calls '^fuzz ')" -eq 2 ]
  touch "$night/runs/3-stress.a.agct.torture_mixed.default/of-the-first-try"

  run --separate-stderr "$root/ci/nightly.sh" --out "$night"
  echo "$status: $output $stderr"
  [ "$status" -eq 0 ]
  [ "$(calls '^fuzz ')" -eq 2 ]
  [ "$(calls '^stress ')" -eq 3 ]
  [ "$(calls '^merge .*/3-stress.*cut-1')" -eq 1 ] # what had been found by then counts
  [ -f "$night/runs/3-stress.a.agct.torture_mixed.default.cut-1/of-the-first-try" ]
  [[ "$output" == "nightly: 4 runs of 15 s: 4 clean"* ]]
  run --separate-stderr "$root/ci/nightly.sh" --out "$night"
  [ "$status" -eq 0 ]
  [ "$(calls '^fuzz ')" -eq 2 ]
  [ "$(calls '^stress ')" -eq 3 ]
  kill "$slow" 2>/dev/null || true
}

@test "shards have each run of the plan once" {
  fake_walkhammer
  for index in 1 2 3; do
    printf '%s\n' 'time = 120s' 'walkers = agct' 'engines = random afl' 'profiles = default c1' \
      'workloads = torture:mixed' "shard = $index/3" >"$config"
    "$root/ci/nightly.sh" --config "$config" --out "$night-$index"
    [ "$(wc -l <"$night-$index/plan.jobs")" -ge 2 ]
  done
  printf '%s\n' 'time = 120s' 'walkers = agct' 'engines = random afl' 'profiles = default c1' \
    'workloads = torture:mixed' >"$config"
  "$root/ci/nightly.sh" --config "$config" --out "$night"
  sort "$night"-?/plan.jobs >"$BATS_TEST_TMPDIR/shards"
  sort "$night/plan.jobs" | diff - "$BATS_TEST_TMPDIR/shards"
}

@test "a matrix that does not fit leaves the rest to other nights" {
  fake_walkhammer
  printf '%s\n' 'time = 20s' 'walkers = agct' 'jdks = /jdks/a' >"$config"
  run --separate-stderr "$root/ci/nightly.sh" --config "$config" --out "$night"
  [ "$status" -eq 0 ]
  [ "$(wc -l <"$night/plan.jobs")" -eq 4 ]
  [[ "$output" == *"; 11 of the matrix are left to other nights"* ]]
}

@test "the judgement decides, and a green night is marked" {
  fake_walkhammer
  one_of_each
  night 1 0
  [[ "$output" == *" are left to other nights
THE VERDICT" ]]
  [ "$(cat "$nights/1/summary.txt")" = "$output" ]
  [ -f "$nights/1/green" ]
  [ "$(calls "^gate --night $nights/1 --nights $nights --failed 0$")" -eq 1 ]
  [ "$(calls "^report --history $nights/1 --html $nights/1/reports/history.html$")" -eq 1 ]
  JUDGED=1 night 2 1
  [ ! -e "$nights/2/green" ]
  [ "$(calls "^report --history $nights/2 $nights/1 --html ")" -eq 1 ]
  JUDGED=4 night 3 4
  CODE=1 night 4 0 # what was found is for the judgement
  printf '%s\n' "nights = $BATS_TEST_TMPDIR/others" "baseline = $nights/1" 'policy = p.toml' \
    >>"$config"
  night 5 0
  [ "$(calls "^gate --night $nights/5 --nights $BATS_TEST_TMPDIR/others --failed 0 --baseline $nights/1 --policy p.toml$")" -eq 1 ]
  # Judged anew: what was run is not run again.
  JUDGED=1 run "$root/ci/nightly.sh" --out "$nights/1"
  [ "$status" -eq 1 ]
  [ ! -e "$nights/1/green" ]
  [ "$(calls "^gate --night $nights/1 ")" -eq 2 ]
  [ "$(calls '^fuzz .*nights/1/')" -eq 1 ]
  [ "$(calls '^bugs check')" -eq 5 ]
}

@test "runs that fail are told to the judgement; without a verdict there is none" {
  fake_walkhammer
  one_of_each
  for code in 3 4; do
    CODE=$code run "$root/ci/nightly.sh" --config "$config" --out "$BATS_TEST_TMPDIR/alone-$code/1"
    [ "$status" -eq "$code" ]
  done
  [ "$(grep -c '^gate --night' "$WALKHAMMER.calls")" -eq 0 ]
  "$root/ci/nightly.sh" --config "$config" --out "$night"
  echo 4 >"$(ls "$night"/runs/1-*.done)"
  "$root/ci/nightly.sh" --out "$night"
  [ "$(calls ' --failed 1$')" -eq 1 ]
}

@test "a JVM that no longer starts is for the judgement, if a green night has walked in it" {
  fake_walkhammer
  one_of_each
  WHY='this JVM does not start: x' CODE=3 JUDGED=1 night 1 3
  night 2 0
  CODE=3 JUDGED=1 night 3 3
  WHY='this JVM does not start: x' CODE=3 JUDGED=1 night 4 1
  [ "$(calls '^gate --night ')" -eq 2 ]
  sed -i 's|^jdks.*|jdks = /jdks/b|' "$config"
  WHY='this JVM does not start: x' CODE=3 JUDGED=1 night 5 3
}

@test "times are those of the command, or minutes" {
  fake_walkhammer
  for pair in 60s:30 1m:30 0.5h:900 3:90 1.5:45; do
    printf '%s\n' "time = ${pair%:*}" 'walkers = agct' 'engines = random' 'profiles = default' \
      'workloads = torture:mixed' 'jdks = /jdks/a' >"$config"
    run "$root/ci/nightly.sh" --config "$config" --out "$night-$pair"
    echo "$pair: $output"
    [[ "$output" == *"2 runs of ${pair#*:} s: "* ]]
  done
}


@test "bad usage is one sentence" {
  fake_walkhammer
  for line in 'tme = 3' 'time = 0' 'time = 3d' 'time = h' 'time = 1h30m' 'time = -3' 'time' 'shard = 3/2' 'shard = 1' 'time = 3s'; do
    echo "$line" >"$config"
    one_sentence 2 "" "$root/ci/nightly.sh" --config "$config" --out "$night"
    rm -rf "$night"
  done
  mkdir "$night"
  one_sentence 2 "exists and is not a nightly run" "$root/ci/nightly.sh" --out "$night"
}

@test "a night judges by its store as it was, and opens nothing there" {
  fake_walkhammer
  store=$BATS_TEST_TMPDIR/store
  printf '%s\n' 'time = 30s' 'walkers = agct' 'engines = random' 'workloads = torture:mixed' \
    'profiles = default' 'jdks = /jdks/a' "bugs = $store" >"$config"
  run "$root/ci/nightly.sh" --config "$config" --out "$night"
  [ "$status" -eq 0 ]
  [ -d "$store" ]
  [ "$(calls "^gate --night $night --nights .* --bugs $night/bugs$")" -eq 1 ]
  [ "$(calls "^bugs update --only-known --store $store $night$")" -eq 1 ]
  [ "$(calls "^report .*fuzz.a.agct --bugs $night/bugs")" -eq 1 ]
  # Judged anew, by the store as it was.
  touch "$store/JDK-2.toml"
  UPDATE=2 run "$root/ci/nightly.sh" --out "$night"
  [ "$status" -eq 4 ]
  [ ! -e "$night/bugs/JDK-2.toml" ]
}

@test "a bad store is one sentence, before anything runs" {
  mkdir "$BATS_TEST_TMPDIR/store"
  echo 'state = "opne"' >"$BATS_TEST_TMPDIR/store/x.toml"
  printf '%s\n' 'time = 30s' "bugs = $BATS_TEST_TMPDIR/store" >"$config"
  one_sentence 2 "x.toml:1: state must be" "$root/ci/nightly.sh" --config "$config" --out "$night"
  [ ! -e "$night" ]
}

