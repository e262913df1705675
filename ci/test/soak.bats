#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ci/soak.sh, beside a stand-in for walkhammer: its words, and that soaks can fail. The soaks
# themselves take minutes to hours.

bats_require_minimum_version 1.5.0

setup() {
  cd "$BATS_TEST_DIRNAME/../.." || return 1
  export WALKHAMMER=$BATS_TEST_TMPDIR/walkhammer WALKHAMMER_OUT=$BATS_TEST_TMPDIR/out
}

# stand_in CODE [SQL]: makes an executable that knows one JDK, and whose runs leave a run.db that SQL
# fills, and end with CODE.
stand_in() {
  printf '%s' "${2:-}" >"$BATS_TEST_TMPDIR/sql"
  cat >"$WALKHAMMER" <<END
#!/bin/sh
[ "\$1" != show ] || { [ "\$2" != jdks ] || echo '/jdk  17'; exit 0; }
echo "\$*" >>"$BATS_TEST_TMPDIR/calls"
mkdir "\$3"
sqlite3 "\$3/run.db" <"$BATS_TEST_TMPDIR/sql"
echo said >&2
exit $1
END
  chmod +x "$WALKHAMMER"
}

tables='CREATE TABLE run (walks, blocks, contained_crashes, children_started, children_retired, children_died);
  CREATE TABLE churn (collections, rounds, unloaded); CREATE TABLE bucket (id, title);
  CREATE TABLE finding (bucket, oracle, request, folder, grade);
  INSERT INTO run VALUES (9, 9, 9, 9, 0, 0); INSERT INTO churn VALUES (9, 9, 9);'

# names_wh_01 NOTICES: an executable whose runs find a bucket that WH-01 names. NOTICES=yes: without
# that issue, the bucket is new.
names_wh_01() {
  cat >"$WALKHAMMER" <<END
#!/bin/sh
[ "\$1" != fuzz ] && [ "\$1" != stress ] || { mkdir "\$3"; exit 0; }
word=known
[ -e "\$4/WH-01.toml" ] || [ $1 = no ] || word=new
echo "{\"buckets\": [{\"known\": {\"verdict\": \"\$word\", \"bug\": \"WH-01\"},
  \"grade\": \"Forbidden\", \"key\": \"a crash\"}]}"
[ \$word = known ]
END
  chmod +x "$WALKHAMMER"
}

@test "stock JDKs must be green, and an issue that is taken away must be missed" {
  export WALKHAMMER_SEEDS=1
  names_wh_01 yes
  run -0 ci/soak.sh --jdk /jdk stock
  [[ "$output" == *'3 of 3 runs ended with 0'*'1 times, one issue was taken away'* ]]
  names_wh_01 no
  WALKHAMMER_OUT=$BATS_TEST_TMPDIR/unnoticed run -1 ci/soak.sh --jdk /jdk stock
  [[ "$output" == *'without WH-01 the run ends with 0, with 0 new buckets'* ]]
  stand_in 1 "$tables"
  WALKHAMMER_OUT=$BATS_TEST_TMPDIR/red run -1 ci/soak.sh --jdk /jdk stock
  [[ "$output" == *'walkhammer ended with 1'*'0 of 3 runs ended with 0'* ]]
}

@test "a hunt sums what was walked, and fails if something has no name" {
  local walked="$tables CREATE TABLE cell (time_ms, walks); INSERT INTO cell VALUES (36000, 7), (36000, 0);"
  export WALKHAMMER_TIME=1s
  stand_in 0 "$walked"
  run -0 ci/soak.sh --jdk /jdk hunt
  echo "$output"; cat "$WALKHAMMER_OUT/hunt/hunt.tsv"
  [[ "$output" =~ ([0-9]+)' runs: '[0-9.]*' hours walked, '([0-9]+)' walks' ]]
  [ "${BASH_REMATCH[2]}" -eq $((7 * BASH_REMATCH[1])) ]
  [ "$(cut -f 1-3 "$WALKHAMMER_OUT/hunt/hunt.tsv" | sort -u)" = $'36\t7\t0' ]
  grep -q -- ' --walker agct ' "$WALKHAMMER_OUT/hunt/hunt.tsv"
  stand_in 1 "$walked"
  WALKHAMMER_OUT=$BATS_TEST_TMPDIR/red run -1 ci/soak.sh --jdk /jdk hunt
  [[ "$output" == *'walkhammer ended with 1'*' hours walked'* ]]
  stand_in 0 "$walked"
  WALKHAMMER_TIME=0s WALKHAMMER_OUT=$BATS_TEST_TMPDIR/short run -0 ci/soak.sh --jdk /jdk hunt
  [[ "$output" == *"1 runs: "* ]]
}

@test "harnesses need what plants bugs" {
  stand_in 0
  run -3 ci/soak.sh --jdk /jdk harnesses
  [[ "$output" == *"harnesses: skipped: no "*"walker_mutants: build all"* ]]
}

@test "the help has a paragraph for each soak" {
  run -0 ci/soak.sh --help
  for soak in ci/soak/*.sh; do
    grep -qx "$(basename "$soak" .sh):" <<<"$output"
  done
  run ! grep shellcheck <<<"$output"
}

@test "wrong words, and no build" {
  for words in '' none '--jdk' 'fuzz none' '--no fuzz'; do
    # shellcheck disable=SC2086  # words
    run -2 ci/soak.sh $words
    [ "${#lines[@]}" -eq 1 ]
  done
  run -4 ci/soak.sh fuzz
  run -4 ci/soak.sh fuzz stress
  stand_in 0
  run -2 ci/soak.sh --kind none chaos
}

@test "a good run passes, and one that ends with an error does not" {
  stand_in 1 "$tables"
  run -0 ci/soak.sh fuzz
  [[ "$output" == *'1-jdk G1GC: 9 walks'*'1-jdk ZGC: 9 walks'*'fuzz: passed'* ]]
  grep -q -- '--jdk /jdk -- -XX:+UseZGC$' "$BATS_TEST_TMPDIR/calls"
  stand_in 4 "$tables"
  WALKHAMMER_OUT=$BATS_TEST_TMPDIR/bad run -1 ci/soak.sh fuzz
  [[ "$output" == *'FAILED '*'walkhammer ended with 4: said'*'fuzz: failed'* ]]
}

@test "a death that no input explains, and a run that did nothing" {
  stand_in 0 "$tables UPDATE run SET children_died = 1;"
  run -1 ci/soak.sh --jdk /other fuzz
  [[ "$output" == *'1-other ZGC: 1 of its children died without an input'* ]]
  stand_in 0 "$tables UPDATE churn SET unloaded = 0;"
  WALKHAMMER_OUT=$BATS_TEST_TMPDIR/idle run -1 ci/soak.sh fuzz
  [[ "$output" == *'FAILED  1-jdk G1GC: vacuous'* ]]
}

@test "of several soaks all run; one that the machine lacks does not count" {
  stand_in 0 "$tables"
  run -0 ci/soak.sh large fuzz
  [[ "$output" == *'large: skipped: no large program'*'fuzz: passed'* ]]
  run -3 ci/soak.sh large
  stand_in 4 "$tables"
  WALKHAMMER_OUT=$BATS_TEST_TMPDIR/bad run -1 ci/soak.sh fuzz stress
  [[ "$output" == *'fuzz: failed'*'stress: failed'* ]]
}

# steps_soak CODE [SQL]: the soak of steps ends with CODE. In each run 100 of 1000 instructions are
# proven, and 8 of 9 answers of the second walker are contradicted, unless SQL changes that.
steps_soak() {
  local sql="CREATE TABLE cell (label, status, reason); CREATE TABLE finding (grade, request);
    CREATE TABLE step_region (kind, steps, proven, contradicted);
    CREATE TABLE frame_place (code, steps, agreed, disagreed);
    CREATE TABLE frame_difference (code, name, place, seen, steps, instruction);
    CREATE TABLE evidence (walker, region, witness, against, samples);
    INSERT INTO cell VALUES ('some', 'passed', ''); INSERT INTO step_region VALUES ('stub', 1000, 100, 0);
    INSERT INTO evidence VALUES ('second', 'stub', 'stepped-shadow-stack', 'walker', 7),
      ('second', 'stub', 'stepped-shadow-stack', 'both', 1),
      ('second', 'stub', 'stepped-shadow-stack', 'other', 1), ('second', 'stub', 'steps', 'both', 5);"
  rm -rf "$WALKHAMMER_OUT" "$BATS_TEST_TMPDIR/calls"
  stand_in 1 "$sql ${2:-}"
  # shellcheck disable=SC2016  # words of the stand-in
  sed -i '$i second=${*##*--walker *,}; sqlite3 "$3/run.db" "UPDATE evidence SET walker = '\''${second%% *}'\''"' \
    "$WALKHAMMER"
  WALKHAMMER_STEPS=1000 run -"$1" ci/soak.sh --jdk /jdk steps
}

@test "steps: each bound is noticed, and profilers are counted" {
  [ "$(uname -m)" = x86_64 ] || skip 'calls are followed on x86_64 only'
  export WALKHAMMER_PROFILERS=$BATS_TEST_TMPDIR/profilers
  steps_soak 0
  [[ "$output" == *'agct in stub         contradicted at 16 of 18'* ]]
  [ "$(wc -l <"$BATS_TEST_TMPDIR/calls")" -eq 3 ]
  mkdir "$WALKHAMMER_PROFILERS"
  touch "$WALKHAMMER_PROFILERS"/{asprof-4.9.so,asprof-4.10.so,ddprof-1.4.0.so}
  steps_soak 0
  for walker in agct asprof-vm ddprof-vm; do
    [ "$(grep -c "^  $walker in stub  *contradicted at 16 of 18$" <<<"$output")" -eq 2 ] # /jdk and all
  done
  grep -q -- "--walker asgst@ref,asprof-vm .*--workload torture:mixed " "$BATS_TEST_TMPDIR/calls"
  [ "$(grep -c -- '--provider [^ ]*/asprof-4.10.so ' "$BATS_TEST_TMPDIR/calls")" -eq 2 ]
  [ "$(grep -c -- '--provider [^ ]*/ddprof-1.4.0.so ' "$BATS_TEST_TMPDIR/calls")" -eq 2 ]
  steps_soak 1 'UPDATE step_region SET contradicted = 1;'
  [[ "$output" == *'FAILED  contradicted too often'* ]]
  steps_soak 1 'UPDATE step_region SET steps = 100;'
  [[ "$output" == *'FAILED  only 700 of 1000 instructions'* ]]
  steps_soak 1 'UPDATE step_region SET proven = 0;'
  [[ "$output" == *'FAILED  1-jdk: nothing is proven'* ]]
  steps_soak 1 "INSERT INTO finding VALUES ('Forbidden', 'walk 1 walker asgst');"
  [[ "$output" == *'1 forbidden findings of the reference'* ]]
  steps_soak 0 "INSERT INTO finding VALUES ('Forbidden', 'walk 1 walker asprof-vm');"
  steps_soak 1 "INSERT INTO frame_difference VALUES ('stub', 'name', 'sp+0', 'sp+8', 9, 'ret');"
  [[ "$output" == *'code and calls disagree: stub|name|sp+0|sp+8|9|ret'* ]]
}

# client_jdk LINE...: makes /jdk's stand-in, whose programs print these lines of a client, and end
# with $java_code (default: 0).
client_jdk() {
  jdk=$BATS_TEST_TMPDIR/jdk
  mkdir -p "$jdk/bin"
  printf '%s\n' "$@" >"$jdk/said"
  cat >"$jdk/bin/java" <<END
#!/bin/sh
[ "\$1" != -version ] || { echo 'openjdk version "17.0.2" 2022' >&2; exit 0; }
cat "$jdk/said" >&2
exit ${java_code:-0}
END
  chmod +x "$jdk/bin/java"
  stand_in 0
}

# soak_client CODE NAME LINE...: the soak NAME ends with CODE where each run prints these lines.
soak_client() {
  local code=$1 soak=$2
  shift 2
  client_jdk "$@"
  rm -rf "$WALKHAMMER_OUT"
  WALKHAMMER_TIME=1s WALKHAMMER_FLAGS=-Xint run -"$code" ci/soak.sh --jdk "$jdk" "$soak"
}

@test "queues: each bound is noticed" {
  export WALKHAMMER_ELEMENTS=1000
  a='queue: samples 1000 failed 0 without-java 0 other-codes 0 names 0 unknown-names 0 wrong-names'
  b='queue: handled 1000 unloaded 0'
  c='queue: accepted 1000 own-thread 1000 wrong-thread 0 wrong-leaf 0 without-callers 1 dropped 0'
  d='signals 1000 in-processing 20 blocked 0'
  soak_client 0 queues "$a 0" "$b" "$c $d"
  [[ "$output" == *'| 17 | -Xint | 1000 | 1 | 0 | 0 | 0 | 100.00 % | 20 of 1000 | 0 |'* ]]
  soak_client 1 queues "$a 1" "$b" "$c $d"
  [[ "$output" == *'wrong-names: 2 of 0'* ]] # in both runs
  soak_client 1 queues "$a 0" "${b/1000/999}" "$c $d"
  [[ "$output" == *'lost: 2 of 1000'* ]]
  soak_client 1 queues "$a 0" "$b" "${c/callers 1/callers 2} $d"
  [[ "$output" == *'lost: 2 of 1000'* ]]
  soak_client 1 queues "$a 0" "$b" "${c/thread 0/thread 1} $d"
  [[ "$output" == *'wrong-thread: 2 of 0'* ]]
  soak_client 1 queues "$a 0" "$b" "${c/leaf 0/leaf 1} $d"
  [[ "$output" == *'wrong-leaf: 2 of 0'* ]]
  soak_client 1 queues "$a 0" "$b" "${c/own-thread 1000/own-thread 989} $d"
  [[ "$output" == *'by a stop: 11 of 1000'* ]]
  soak_client 1 queues "$a 0" "$b" "$c ${d/processing 20/processing 21}"
  [[ "$output" == *'in own processing: 21 of 1000'* ]]
  java_code=6 soak_client 1 queues "$a 0" "$b" "$c $d"
  [[ "$output" == *'java ended with 6'*'| 2 |'* ]]
  soak_client 1 queues nothing
  [[ "$output" == *'no element'* ]]
}

@test "clients: each bound is noticed" {
  export WALKHAMMER_CLIENTS=iterator
  good='it: samples 1000 failed 5 full-queue 5 other-codes 0 names 100 unknown-names 2 wrong-names 0'
  soak_client 0 clients "$good"
  for bad in 'failed 5/failed 6' 'full-queue 5/full-queue 6' 'codes 0/codes 1' 'unknown-names 2/unknown-names 3' \
    'wrong-names 0/wrong-names 1' 'samples 1000/samples 0'; do
    soak_client 1 clients "${good/${bad%/*}/${bad#*/}}"
    [[ "$output" == *FAILED*"17-iterator: "* ]]
  done
  java_code=134 soak_client 1 clients "$good"
  [[ "$output" == *'17-iterator.mixed: java ended with 134'* ]]
  # In a queue's handler all names are known, and the leaf is that of the signal handler.
  export WALKHAMMER_CLIENTS=queue
  soak_client 1 clients "$good"
  [[ "$output" == *'unknown names: '* ]]
  soak_client 1 clients "${good/unknown-names 2/unknown-names 0} wrong-leaf 1"
  [[ "$output" == *'wrong names: '* ]]
  export WALKHAMMER_CLIENTS=stack_trace
  soak_client 0 clients 'stack-trace: samples 1000 odd 0 kept-info 0 codes 0:9 -10:9 -8:9 -7:5'
  soak_client 1 clients 'stack-trace: samples 1000 odd 0 kept-info 0 codes 0:9 -10:9 -8:9 -7:6'
  soak_client 1 clients 'stack-trace: samples 1000 odd 1 kept-info 0 codes 0:9'
}

@test "marks: each bound is noticed" {
  good='mark: moved 9 left 100 at-caller 99 early 1 passed 0 kept 9 realigned 0 stale 0 astray 0'
  soak_client 0 marks "$good"
  [[ "$output" == *'| 17 | -Xint | mixed | 100 | 99 | 1 | 0 | 9 | 0 |'* ]]
  for bad in 'caller 99/caller 98' 'stale 0/stale 1' 'astray 0/astray 1' 'left 100/left 0'; do
    soak_client 1 marks "${good/${bad%/*}/${bad#*/}}"
  done
  java_code=6 soak_client 1 marks "$good"
}
