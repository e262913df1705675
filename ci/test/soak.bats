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
