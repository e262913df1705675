#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Verdicts on bad walkers, a row of bad_walkers.txt each, and on honest ones: exit code 1 and the
# reason, or 0. ci/soak.sh walkers does so with every torture program.
# shellcheck disable=SC2154  # bats sets stderr

load lib

setup() {
  need_jdk
  # Copied once: a library must not change while a program has it.
  providers=$tmp/providers
  mkdir "$providers"
  while IFS='|' read -r name _; do
    cp "$(dirname "$walkhammer")/providers/bad_walkers.so" "$providers/$name.so"
  done < <(rows)
}

# rows: prints the table's rows, "NAME|STRESS|FUZZ|PROGRAM", with the alternatives of a pattern as "#".
rows() {
  sed '/^#/d; s/ | /\t/g; s/|/#/g; s/\t/|/g' "$BATS_TEST_DIRNAME/bad_walkers.txt"
}

# walk NAME FOLDER VERB ARGUMENT...: a run with that walker; its exit code goes to FOLDER.code.
walk() {
  local provider=$providers/$1.so folder=$2 verb=$3 code=0
  timeout 100 "$walkhammer" "$verb" --walker asgst --provider "$provider" --jdk "$jdk" --no-confirm \
    --out "$folder" "${@:4}" >"$folder.txt" 2>"$folder.log" || code=$?
  echo "$code" >"$folder.code"
}

# judged FOLDER PATTERN: fails unless the run found what the table says.
judged() {
  local code=0
  [ "$2" = - ] || code=1
  if ! is "$(cat "$1.code")" "$code" "exit code of $1" ||
    { [ "$code" -eq 1 ] && ! "$walkhammer" report "$1" | grep -qE "${2//#/|}"; }; then
    echo "$1 does not say ${2//#/|}:"
    cat "$1.txt" "$1.log"
    return 1
  fi
}

# all_judged FIELD: waits, and fails unless each row's run found what that field of the row says.
all_judged() {
  local bad=0
  wait
  while IFS= read -r row; do
    judged "$tmp/${row%%|*}" "$(cut -d '|' -f "$1" <<<"$row")" || bad=1
  done < <(rows)
  [ "$bad" -eq 0 ]
}

# two COMMAND...: starts it in the background, beside one other at most.
two() {
  while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n; done
  "$@" 3>&- &
}

@test "stress judges: each bad walker is found in a torture program, and an honest one is not" {
  local programs=(mixed recursion exceptions deopt interfaces shadow gc threads jni monitors shapes)
  local i=0
  while IFS='|' read -r name _ _ program; do
    program=${program:-${programs[i++ % 11]}}
    two walk "$name" "$tmp/$name" stress --workload "torture:$program" --time 1500ms
  done < <(rows)
  all_judged 2
}

@test "fuzz judges: each bad walker is found, and an honest one is not" {
  while IFS='|' read -r name _; do
    two walk "$name" "$tmp/$name" fuzz --walks 10000 --no-coverage --no-minimize
  done < <(rows)
  all_judged 3
}

@test "the gate judges: a walker that becomes bad is a regression, and an honest one is none" {
  local name number
  # Each baseline beside a candidate, so that another load of the machine meets both.
  for number in 1 3 2 4; do
    two walk honest "$tmp/honest-$number" stress --workload torture:mixed --time 4s --seed $number
  done
  for name in constant every-second-fails; do
    for number in 1 2; do
      two walk "$name" "$tmp/$name-$number" stress --workload torture:mixed --time 4s --seed $number
    done
  done
  wait
  for name in honest constant every-second-fails; do
    number=1
    [ "$name" != honest ] || number=3
    run "$walkhammer" gate --baseline "$tmp/honest-1" --baseline "$tmp/honest-2" \
      --candidate "$tmp/$name-$number" --candidate "$tmp/$name-$((number + 1))"
    echo "$name: $status: $output"
    case $name in
      honest) [ "$status" -ne 1 ] ;; # a busy machine may leave too little data
      *) [ "$status" -eq 1 ] ;;
    esac
  done
}

@test "the gate compares fuzz runs request by request" {
  local name kept walk
  for name in honest no-caller; do
    two walk "$name" "$tmp/$name" fuzz --walks 20000 --no-coverage --no-minimize --answers
  done
  wait
  walk honest "$tmp/again" fuzz --walks 20000 --no-coverage --no-minimize --answers
  walk fickle "$tmp/fickle" fuzz --walks 500 --no-coverage --no-minimize --answers
  for name in again no-caller fickle; do
    kept=$tmp/kept-$name
    run "$walkhammer" gate --baseline "$tmp/honest" --candidate "$tmp/$name" --replay 1 --keep "$kept"
    echo "$name: $output"
    [[ "$output" == *"20,000 compared one by one, 0 that vary left out"* ]] || [ "$name" = fickle ]
    case $name in
      again) [ "$status" -eq 0 ] && [[ "$output" != *"  answers  "* ]] && [ ! -e "$kept" ] ;;
      fickle) # its answers differ from the honest ones, and among themselves
        [ "$status" -eq 1 ]
        grep -o '[0-9]* of [0-9]* walked again' <<<"$output" |
          awk '{ differ += $1 } END { exit !(differ > 250) }'
        ;;
      *)
        [ "$status" -eq 1 ]
        [[ "$output" == *"  fail  answers        frames, other ones"*"walked again differ each time"* ]]
        for walk in "$kept"/asgst@jdk-seed-1-request-*.walk; do
          run "$walkhammer" show "$walk"
          [ "$status" -eq 0 ]
        done
        ;;
    esac
  done
}

@test "too few walks give no verdict" {
  run timeout 100 "$walkhammer" stress --workload torture:mixed --jdk "$jdk" --interval 300ms \
    --clock wall --time 2s --no-confirm --out "$tmp/run"
  echo "$output"
  [ "$status" -eq 4 ]
  [[ "$output" == *"walks were made, and a verdict requires 100: a longer --time or a shorter"* ]]
}

@test "a run without a truth says so, and one with a truth does not" {
  for witness in none asgst; do
    run --separate-stderr timeout 100 "$walkhammer" stress --workload torture:mixed --jdk "$jdk" \
      --time 2s --no-confirm --witness "$witness" --out "$tmp/$witness"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ "$(head -n 3 <<<"$output" | tr -s ' \n' ' ')" == *"no truth: only crashes"* ]] ||
      [ "$witness" = asgst ]
    [[ "$output" != *"no truth"* ]] || [ "$witness" = none ]
  done
}
