#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# fuzz --engine faults: each load of each undisturbed walk fails once. Plugins with a bug that shows
# only then, and one without.
# shellcheck disable=SC2154  # bats sets stderr

load lib

setup() {
  need_jdk
  [ "$(uname -m)" = x86_64 ] || skip "no trap flag"
  out=$tmp/run
}

# faults NAME ARGUMENT...: the scene c1, walked by the plugin of that name. --no-confirm unless
# $confirm.
faults() {
  cp "$(dirname "$walkhammer")/providers/loads_walker.so" "$tmp/$1.so"
  rm -rf "$out"
  # shellcheck disable=SC2086  # an option or none
  run --separate-stderr timeout 200 "$walkhammer" fuzz --engine faults --walker "plugin:$tmp/$1.so" \
    --scene c1 --jdk "$jdk" ${confirm---no-confirm} --out "$out" "${@:2}"
  echo "$*: exit code $status: $output $stderr"
}

# buckets: prints outcome, grade and times seen of each bucket.
buckets() {
  ask "select distinct f.oracle || '/' || f.outcome, f.grade from finding f order by 1"
}

# failed FIELDS: what became of the loads.
failed() {
  ask "select $1 from failed_loads"
}

@test "a walker that protects each of its loads is clean, and each load has failed" {
  faults honest
  [ "$status" -eq 0 ]
  [[ "$output" == CLEAN* ]]
  [ "$(buckets)" = "" ]
  [ "$(failed 'contained = loads and loads > 500 and finished = 2 and unseen = 0')" -eq 1 ]
  is "$(ask 'select walks - (select loads from failed_loads) from run')" 0 "walks beyond the loads"
  with_report
  [[ "$output" == *"failed loads    "*" in 2 undisturbed walks: "*" contained, 0 crashed"* ]]
}

@test "one load without protection is found, replays and is minimised" {
  confirm='' faults unprotected --confirm-time 90s --minimize-time 60s
  [ "$status" -eq 0 ]
  is "$(buckets)" "failing-load/unprotected|Interesting"
  is "$(failed 'crashed, loads - contained')" "2|2"
  is "$(ask "select realism from finding limit 1")" failing-load
  is "$(ask "select confirmed, tries, minimized_confirmed from bucket")" "5|5|20"
  local walk
  walk=$out/$(ask "select folder from bucket")/minimized.walk
  grep -q '^fault [0-9]' "$walk"
  run "$walkhammer" replay "$walk" --jdk "$jdk" --library "$tmp/unprotected.so"
  echo "$output"
  [[ "$output" == *"reproduced  1 of 1"*"failing-load/unprotected in walkhammer_walk"* ]]
  # The walker takes care of the load behind it.
  sed -i "s/^fault .*/fault $(($(sed -n 's/^fault //p' "$walk") + 1))/" "$walk"
  run "$walkhammer" replay "$walk" --jdk "$jdk" --library "$tmp/unprotected.so"
  [[ "$output" == *"reproduced  0 of 1"* ]]
  sed -i "s/^fault .*/fault 4000000000/" "$walk"
  run --separate-stderr "$walkhammer" replay "$walk" --jdk "$jdk" --library "$tmp/unprotected.so"
  [ "$status" -eq 3 ]
  [[ "$stderr" == *"loads that can fail, so load 4000000000 does not exist"* ]]
}

@test "what a walker leaves behind after a load that failed is found" {
  local name finding
  while IFS='|' read -r name finding; do
    faults "$name"
    [[ "$(buckets)" == *"$finding"* ]]
    is "$status" "$([[ "$finding" == *Forbidden ]] && echo 1 || echo 0)" "exit code of $name"
    [[ "$(buckets)" != *unprotected* ]]
  done <<'END'
errno|errno/changed|Forbidden
mask|signal-mask/changed|Forbidden
next-walk|failing-load/wrong-next-walk|Forbidden
null|crash/fault|Forbidden
made-up|failing-load/wrong-frames|Interesting
END
}

@test "AsyncGetCallTrace protects no load, which is Interesting, and its run is not vacuous" {
  run --separate-stderr "$walkhammer" fuzz --engine faults --jdk "$jdk" --scene c1 --no-confirm \
    --workers 2 --out "$out"
  echo "$output $stderr"
  [ "$status" -eq 0 ]
  [[ "$output" == CLEAN* ]]
  [ "$(failed 'crashed = loads and loads > 500 and finished = 2')" -eq 1 ]
  [ "$(ask "select count(*) > 50 from bucket where title like 'failing-load/unprotected in %'")" -eq 1 ]
  [ "$(ask "select count(*) from note where kind = 'dropped'")" -eq 0 ]
}

@test "a run that was cut says so" {
  for time in 1s 4s 16s; do # a busy machine needs longer until its first walk
    rm -rf "$out"
    run --separate-stderr "$walkhammer" fuzz --engine faults --jdk "$jdk" --no-confirm --time "$time" \
      --workers 1 --out "$out"
    [ "$(ask "select walks > 0 from run")" -eq 0 ] || break
  done
  echo "$output $stderr"
  [[ "$output" == *"the loads of "*" undisturbed walks have not all failed"* ]]
}

@test "options that the engine does not know are refused" {
  refuses 2 "faults ends once each load has failed" fuzz --engine faults --walks 5 --jdk "$jdk"
  refuses 2 "--answers goes with --engine random" fuzz --engine faults --answers --jdk "$jdk"
  refuses 2 "--corpus goes with a guided engine" fuzz --engine faults --corpus x --jdk "$jdk"
  refuses 2 "one --walker" fuzz --engine faults --walker agct,asgst --jdk "$jdk"
}
