#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The store of bugs, from outside: a real run, its bugs, their states, replays on a build.
# shellcheck disable=SC2154  # bats sets stderr

load lib

setup_file() {
  local jdk
  jdk=$(jdks | head -n 1)
  [ -n "$jdk" ] || skip "no JDK on this machine"
  export JDK=$jdk RUN=$BATS_FILE_TMPDIR/night-1
  feature=$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$JDK/release")
  export feature
  "$walkhammer" fuzz --jdk "$JDK" --walker puzzle-crash --scene c2 --walks 2000 --no-confirm \
    --no-coverage --seed 1 --out "$RUN" >"$BATS_FILE_TMPDIR/out" 2>&1 || [ $? -eq 1 ]
}

setup() {
  store=$BATS_TEST_TMPDIR/bugs
}

# bugs CODE VERB ARGUMENTS...: runs a verb on the store, which must exit with CODE.
bugs() {
  local code=$1 verb=$2
  shift 2
  run --separate-stderr timeout 100 "$walkhammer" bugs "$verb" --store "$store" "$@"
  echo "bugs $verb $*: exit code $status: $output $stderr"
  [ "$status" -eq "$code" ]
}

# refused PART VERB ARGUMENTS...: one sentence with PART, and nothing else.
refused() { refuses 2 "$1" bugs "$2" --store "$store" "${@:3}"; }

# What the store holds, to compare.
content() {
  (cd "$store" && sha256sum ./* && ls -A)
}

# made_up ID SIGNATURE BUILD: a bug, written manually, whose replays showed it on BUILD.
made_up() {
  mkdir -p "$store"
  cat >"$store/$1.toml" <<TOML
title = "$1"
signatures = ["$2"]
state = "open"
builds = ["$3"]

[reproduced]
build = "$3"
shown = 5
of = 5
TOML
}

@test "a run's bugs are new once; the same run twice changes nothing" {
  bugs 1 update "$RUN"
  [[ "${lines[-1]}" =~ ^[1-9][0-9]*\ new$ ]]
  [ "$(grep -c '^new ' <<<"$output")" -ge 1 ]
  before=$(content)
  bugs 0 update "$RUN"
  [[ "${lines[-1]}" =~ ^[1-9][0-9]*\ known$ ]]
  [ "$(content)" = "$before" ]
  [[ "$before" != *.lock* ]]
  [[ "$before" != *.tmp* ]]
  bugs 0 list --state open
  [ "$(grep -c '^open ' <<<"$output")" -ge 1 ]
  bugs 0 list --state fixed
  [ -z "$output" ]
}

@test "an old run is graded anew by what the store says, and changes nothing" {
  made_up all '*' "$feature.0.1"
  bugs 0 grade "$RUN"
  [[ "$output" == "known"*"1 known" ]]
  bugs 0 set all --state accepted --reason 'waits for a fix' --until 2999-12-31
  bugs 0 grade "$RUN"
  [[ "$output" == "accepted"*"until 2999-12-31: waits for a fix"*"1 accepted" ]]
  sed -i 's/2999-12-31$/2020-02-29/' "$store/all.toml"
  bugs 1 grade "$RUN"
  [[ "$output" == "expired"*"1 expired" ]]
  bugs 0 list --state expired --json
  [[ "$output" == *'"until": "2020-02-29"'* ]]
  bugs 0 set all --state fixed --in 99.0.1
  bugs 0 grade "$RUN"
  [[ "$output" == "fixed"*"fixed in 99.0.1"*"1 fixed" ]]
  bugs 0 set all --state fixed --in "[$feature,$((feature + 1)))"
  before=$(content)
  bugs 1 grade "$RUN"
  [[ "$output" == "reopened"*"looks like all"* ]]
  [ "$(content)" = "$before" ]
}

@test "a look-alike after the fix is a bug of its own, which names the old" {
  made_up old '*' "$feature.0.1"
  bugs 0 set old --state fixed --in "$feature.0.2"
  bugs 1 update "$RUN"
  [[ "${lines[-1]}" =~ ^[1-9][0-9]*\ reopened$ ]]
  [ "$(grep -l '^like = "old"$' "$store"/*.toml | wc -l)" -ge 1 ]
  bugs 0 update "$RUN"
  [[ "$output" != *reopened* ]]
}

@test "check leaves open what it sees, closes what it proves, and leaves the rest" {
  known=$root/corpora/known-issues/JDK-8302320.walk
  made_up mended 'agct: truth/truncated' "$feature.0.1+7"
  cp "$known" "$store/mended.walk"
  made_up broken 'puzzle-crash: crash in *' "$feature.0.1"
  printf 'walk 1\nwalker puzzle-crash\nscene c2\nstate in_Java\npc 0x5\n' >"$store/broken.walk"
  made_up silent 'agct: hang in f' "$feature.0.1"
  bugs 1 check --jdk "$JDK" --times 2
  [[ "$output" == *"open        broken"*"5 of 5 replays show it"* ]]
  [[ "$output" == *"fixed       mended"*"shows it, and 5 of 5 did on $feature.0.1+7"* ]]
  [[ "$output" == *"not proven  silent"*"no request is known that shows it"* ]]
  grep -q "^fixed-in = \"$feature\." "$store/mended.toml"
  bugs 0 list --state open
  [ "$(grep -c '^open ' <<<"$output")" -eq 2 ]
  rm "$store"/broken.*
  bugs 3 check --jdk "$JDK"
  [[ "$output" != *mended* ]]
}

@test "a store that is broken, locked or not there is one sentence, and stays as it is" {
  refused "cannot be read" list
  made_up bug 'agct: hang in f' 17
  refused "state fixed needs --in" set bug --state fixed
  refused "there is no bug \"bgu\"" set bgu --state open
  refused "there is no bug \"other\"" set bug --state duplicate --of other
  refused "has passed" set bug --state accepted --reason x --until 2020-01-01
  refused "is not a run folder" update "$store"
  refused "needs one build" check
  refused "is not a version" update --build tonight "$RUN"
  echo 'state = "opne"' >"$store/zzz.toml"
  before=$(content)
  for verb in update grade; do
    refused "zzz.toml:1: state must be" "$verb" "$RUN"
  done
  [ "$(content)" = "$before" ]
  rm "$store/zzz.toml"
  (
    exec 9>"$store/.lock"
    flock 9
    refused "another process is changing it" update "$RUN"
    bugs 1 grade "$RUN"
  )
  bugs 1 update "$RUN"
  run --separate-stderr "$walkhammer" bugs list
  [ "$status" -eq 2 ]
  [[ "$stderr" == *"--store DIR"* ]]
}
