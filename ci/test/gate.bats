#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ci/gate.sh: which runs it makes and hands to the gate, and what it says.
# shellcheck disable=SC2154  # bats sets stderr

load lib

setup() {
  out=$BATS_TEST_TMPDIR/out
  jdk=$(jdks | head -n 1)
}

# Replaces walkhammer: runs are folders without content. Judged as a regression if a run has its
# number in BUG, or if CORPORA says so of the corpora. Runs end with CODE.
fake_walkhammer() {
  WALKHAMMER=$BATS_TEST_TMPDIR/walkhammer
  cat >"$WALKHAMMER" <<'END'
#!/bin/sh
verb=$1 all=$*
case $all in
*/first-walk) # with NO_WALK, the run has made no walk
  folder=${all##* }
  [ -z "${NO_WALK:-}" ] || { mkdir "$folder" && sqlite3 "$folder/run.db" 'create table run as select 0 walks'; }
  exit 4
  ;;
esac
echo "$all" >>"$0.calls"
while [ "$#" -gt 0 ]; do
  if [ "$1" = --out ]; then mkdir -p "$2"; fi
  shift
done
[ "$verb" != bugs ] || {
  printf '%s\n' "${CHECK:-}"
  exit 1
}
[ "$verb" = gate ] || exit "${CODE:-1}"
case $all in
*" --jdk "*)
  [ -z "${CORPORA:-}" ] || { echo "$CORPORA" && exit 1; }
  file=${all#*--corpora-answers } && touch "${file%% *}"
  exit 0
  ;;
*--baseline*) ;;
*) exit 0 ;; # checks files
esac
case $all in
*--markdown*)
  file=${all#*--markdown }
  printf '### PASS: x\n\nNothing is worse.\n\nwalkhammer gate\\: PASS. x\n' >"${file%% *}"
  ;;
esac
[ -z "${CODE:-}" ] || echo "walkhammer gate: PASS. x"
case ${BUG:+$all} in
*fuzz-${BUG:-none}*)
  echo '{"changes": [{"effect": "fail", "kind": "'"${KIND:-new-crash}"'"}]}'
  exit 1
  ;;
*) [ -n "${CODE:-}" ] || echo '{"changes": [{"effect": "fail", "kind": "codes"}]}' ;;
esac
END
  chmod +x "$WALKHAMMER"
}

# calls VERB: how often.
calls() { grep -c "^$1 " "$WALKHAMMER.calls"; }

# judged CODE PART: the gate of the two runs, with the store, ends with CODE and says PART.
judged() {
  run "$WALKHAMMER" gate --baseline "$out/before" --candidate "$out/now" --bugs "$BATS_TEST_TMPDIR/bugs" \
    --policy "$BATS_TEST_TMPDIR/policy.toml"
  echo "$status: $output"
  [ "$status" -eq "$1" ]
  [[ "$output" == *"$2"* ]]
}

# replays_once: replaces walkhammer by one that replays each known issue once.
replays_once() {
  cat >"$tmp/walkhammer" <<END
#!/bin/sh
[ "\$1" != bugs ] || set -- "\$@" --times 1
exec "$walkhammer" "\$@"
END
  chmod +x "$tmp/walkhammer"
  WALKHAMMER=$tmp/walkhammer
}

@test "a JDK is not worse than itself" {
  replays_once
  run --separate-stderr "$root/ci/gate.sh" --time 20s --rounds 1 --walker asgst --out "$out" "$jdk" "$jdk"
  echo "$status: $output $stderr"
  [ "$status" -eq 0 ]
  [[ "${lines[0]}" == "PASS: "* ]]
  [[ "${lines[-1]}" == "walkhammer gate: PASS. asgst: "*"; 2 + 2 runs, "*" in a million walks (95 %)." ]]
  [ -f "$out/baseline/stress-1/run.db" ]
  [ -f "$out/candidate/fuzz-1/run.db" ]
}

@test "a candidate whose JVM does not start fails, where the baseline's does" {
  need_jdk # of an image with modules
  cp -rs "$(realpath "$jdk")" "$tmp/jdk"
  rm "$tmp/jdk/lib/modules"
  # Programs find their JDK by their own place.
  find "$tmp/jdk/bin/java" "$tmp/jdk/lib" -type l \( -name java -o -name '*.so' \) | while read -r file; do
    cp --remove-destination "$(realpath "$file")" "$file"
  done
  replays_once
  run --separate-stderr "$root/ci/gate.sh" --time 60s --rounds 3 --out "$out" "$jdk" "$tmp/jdk"
  echo "$status: $output $stderr"
  [ "$status" -eq 1 ]
  [[ "$output" == *"  fail  cannot-start "*"the candidate's none: "* ]]
  [ ! -e "$out/baseline/fuzz-2" ] # it says so after the first round
  run --separate-stderr "$root/ci/gate.sh" --time 20s --rounds 1 --out "$out-2" \
    "$tmp/jdk" "$jdk"
  [ "$status" -eq 3 ]
}

# It reads a slot of a frame that nobody writes: with what earlier calls left there, one of five
# processes said otherwise, and a gate of a JDK against itself failed.
@test "a scene is the same in each process" {
  cat >"$BATS_TEST_TMPDIR/slot.walk" <<'END'
walk 1
walker asgst
scene jni-up-down
state in_Java
pc codelet "invoke return entry points"+0x7
END
  run "$WALKHAMMER" replay "$BATS_TEST_TMPDIR/slot.walk" --jdk "$jdk" --times 30 --jobs 2
  echo "$output"
  [[ "$output" == *" 30 x "*" frames"* ]]
}

@test "a bad policy is one sentence, before anything runs" {
  printf '[effects]\nnew-crsh = "fail"\n' >"$BATS_TEST_TMPDIR/bad.toml"
  for policy in "$BATS_TEST_TMPDIR/bad.toml" "$BATS_TEST_TMPDIR/none.toml"; do
    one_sentence 2 "$policy" "$root/ci/gate.sh" --policy "$policy" --out "$out" "$jdk" "$jdk"
    [ ! -e "$out" ]
  done
}

@test "bad usage is one sentence" {
  for arguments in "" "$jdk" "$jdk /none" "--rounds 0 $jdk $jdk" "--time 1d $jdk $jdk" \
    "--time 19s --rounds 1 $jdk $jdk" "--nonsense $jdk $jdk"; do
    # shellcheck disable=SC2086  # words
    one_sentence 2 "" "$root/ci/gate.sh" --out "$out" $arguments
    [ ! -e "$out" ]
  done
}

@test "the runs of all rounds are judged, also from the tenth on" {
  fake_walkhammer
  run "$root/ci/gate.sh" --rounds 11 --out "$out" "$jdk" "$jdk"
  echo "$output"
  [ "$status" -eq 0 ]
  [ "$(calls stress)" -eq 22 ]
  [ "$(calls fuzz)" -eq 22 ]
  tail -n 1 "$WALKHAMMER.calls" >"$BATS_TEST_TMPDIR/last"
  for side in baseline candidate; do
    [ "$(grep -o "$out/$side/[a-z]*-[0-9]*" "$BATS_TEST_TMPDIR/last" | sort -u | wc -l)" -eq 22 ]
  done
}

@test "a confirmed new bug leaves the other rounds out" {
  fake_walkhammer
  BUG=2 run "$root/ci/gate.sh" --rounds 4 --out "$out" "$jdk" "$jdk"
  echo "$output"
  [ "$status" -eq 1 ]
  [ "$(calls fuzz)" -eq 4 ]
  [[ "$output" == *"the other rounds are left out"* ]]
}
# checked BASELINE CANDIDATE [BY_VERSION]: what `bugs check` says if the replays of JDK-1 are these, of 3.
checked() {
  printf '{"jdks": ['
  printf '{"bugs": [{"id": "JDK-1", "title": "t", "times": 3, "walked": 3, "reproduced": %s, "by_version": "%s"}]},' "$1" "${3:-no}"
  printf '{"bugs": [{"id": "JDK-1", "title": "t", "times": 3, "walked": 3, "reproduced": %s}]}]}' "$2"
}

@test "a known issue that only the candidate shows is a regression, before any run" {
  fake_walkhammer
  CHECK=$(checked 0 3) run "$root/ci/gate.sh" --out "$out" "$jdk" /usr
  [ "$status" -eq 1 ]
  [ "$(calls fuzz)" -eq 0 ]
  [[ "$output" == *"REGRESSION: known issues are back in /usr"*"  fail  JDK-1  t  3 of 3 replays show it, 0 of 3 on the other JDK"* ]]
  [[ "${lines[-1]}" == "walkhammer gate: REGRESSION. Back in /usr, and not in $jdk, by replay: JDK-1." ]]
  for shown in '3 3' '0 0' '0 2' '1 3' '0 3 yes'; do
    rm -rf "$out"
    # shellcheck disable=SC2086  # two words
    CHECK=$(checked $shown) run "$root/ci/gate.sh" --rounds 1 --out "$out" "$jdk" /usr
    echo "$shown: $output"
    [ "$status" -eq 0 ]
    [[ "$output" != *"JDK-1"* ]]
  done
  rm -rf "$out"
  CHECK=$(checked 3 0) run "$root/ci/gate.sh" --rounds 1 --out "$out" "$jdk" /usr
  [ "$status" -eq 0 ]
  [[ "$output" == *"Known issues that are fixed"*"  JDK-1  t  3 of 3 replays show it"* ]]
}

@test "a candidate that makes no walk is not shown requests, but runs" {
  fake_walkhammer
  NO_WALK=1 run --separate-stderr "$root/ci/gate.sh" --rounds 1 --out "$out" "$jdk" /usr
  [ "$status" -eq 0 ]
  [[ "$stderr" == *"gate: the candidate makes no walk, so nothing is replayed"* ]]
  [ "$(calls bugs)" -eq 0 ]
  [ "$(calls fuzz)" -eq 2 ]
  [ "$(grep -c -e --replay "$WALKHAMMER.calls")" -eq 0 ]
  [ ! -e "$out/first-walk" ]
}

@test "both JDKs answer the corpora once, before any run, and a difference ends it" {
  fake_walkhammer
  run "$root/ci/gate.sh" --rounds 2 --walker asgst --out "$out" "$jdk" /usr
  echo "$output"
  [ "$status" -eq 0 ]
  [ "$(sed -n 's/ .*//p' "$WALKHAMMER.calls" | head -n 3 | paste -sd ' ')" = "bugs gate stress" ]
  [ "$(grep -c "^gate --jdk $jdk --jdk /usr --walker asgst --corpora-answers $out/corpora.json " "$WALKHAMMER.calls")" -eq 1 ]
  [ "$(grep -c "^gate --baseline .* --corpora-answers $out/corpora.json" "$WALKHAMMER.calls")" -eq 2 ]
  [ "$(calls gate)" -eq 3 ]
  rm "$WALKHAMMER.calls"
  # What a gate that did not finish leaves is not a verdict.
  CODE=2 run "$root/ci/gate.sh" --out "$out-1" "$jdk" /usr
  [ "$status" -eq 2 ]
  [ ! -e "$out-1/gate.txt" ]
  rm "$WALKHAMMER.calls"
  CHECK=$(checked 3 0) CORPORA='REGRESSION: by the corpora
the line' run "$root/ci/gate.sh" --out "$out-2" "$jdk" /usr
  echo "$output"
  [ "$status" -eq 1 ]
  [ "$(calls gate)" -eq 1 ]
  ! grep -q '^\(fuzz\|stress\) ' "$WALKHAMMER.calls" || false
  [[ "$output" == *"REGRESSION: by the corpora"*"Known issues that are fixed"*"  JDK-1  t"*"the line" ]]
}

@test "with a run that failed, there is no PASS" {
  fake_walkhammer
  CODE=4 run "$root/ci/gate.sh" --rounds 1 --out "$out" "$jdk" "$jdk"
  echo "$output"
  [ "$status" -eq 4 ]
  [ "${lines[-1]}" = 'walkhammer gate: NOT ENOUGH DATA, since a run failed. x' ]
  [ "$(cat "$out/gate.md")" = '### NOT ENOUGH DATA: x

A run failed.

walkhammer gate\: NOT ENOUGH DATA, since a run failed. x' ]
}

@test "a fixed bug that is back leaves the other rounds out, a known one does not" {
  mkdir "$BATS_TEST_TMPDIR/bugs"
  for kind in reopened known; do
    fake_walkhammer
    rm -f "$WALKHAMMER.calls"
    KIND=$kind BUG=1 run "$root/ci/gate.sh" --rounds 3 --bugs "$BATS_TEST_TMPDIR/bugs" --build 17.0.9+9 \
      --out "$out-$kind" "$jdk" "$jdk"
    echo "$kind: $output"
    grep -q -- "^gate --baseline .* --bugs $BATS_TEST_TMPDIR/bugs --build 17.0.9+9 --replay " "$WALKHAMMER.calls"
    case $kind in
    reopened) [ "$(calls fuzz)" -eq 2 ] ;;
    known) [ "$(calls fuzz)" -eq 6 ] ;;
    esac
  done
}

@test "a bad store is one sentence, before anything runs" {
  mkdir "$BATS_TEST_TMPDIR/bugs"
  echo 'state = "opne"' >"$BATS_TEST_TMPDIR/bugs/x.toml"
  for options in "--bugs $BATS_TEST_TMPDIR/bugs" "--bugs /none" "--build 17" \
    "--bugs $root/corpora/none --build 17"; do
    # shellcheck disable=SC2086  # words
    one_sentence 2 "" "$root/ci/gate.sh" $options --out "$out" "$jdk" "$jdk"
    [ ! -e "$out" ]
  done
}

@test "what the store knows is told and passes; what it does not, no longer, or has as fixed fails" {
  for side in before:asgst now:asgst,puzzle-crash; do
    run "$WALKHAMMER" fuzz --jdk "$jdk" --walker "${side#*:}" --scene c2 --time 8s --no-confirm \
      --no-coverage --out "$out/${side%:*}"
  done
  printf '[effects]\ncodes = "ignore"\nslower = "ignore"\nunsure = "fail"\n' >"$BATS_TEST_TMPDIR/policy.toml"
  mkdir "$BATS_TEST_TMPDIR/bugs"
  bug=$BATS_TEST_TMPDIR/bugs/JDK-1.toml
  judged 1 ", not replayed; the baseline: never in"
  head='title = "t"
signatures = ["*"]'
  printf '%s\n' "$head" 'state = "open"' >"$bug"
  judged 0 "known: JDK-1; seen "
  [[ "$output" != *"fail "* ]]
  sed 's/"\*"/"puzzle-crash: hang*"/' "$bug" >"$bug.other" && mv "$bug.other" "$bug"
  judged 1 ", not replayed; the baseline: never in"
  printf '%s\n' "$head" 'state = "accepted"' 'reason = "r"' 'until = 2999-12-31' >"$bug"
  judged 0 " is accepted: JDK-1, until 2999-12-31: r"
  sed -i 's/2999-12-31/2020-02-29/' "$bug"
  judged 1 "JDK-1 was accepted until 2020-02-29: r; seen "
  printf '%s\n' "$head" 'state = "fixed"' 'fixed-in = "99"' >"$bug"
  judged 0 "known: JDK-1, fixed in 99; seen "
  sed -i 's/99/8/' "$bug"
  judged 1 "is back: JDK-1 was fixed in 8; seen "
}

