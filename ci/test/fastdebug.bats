#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# A debug build of HotSpot, made by ci/setup/jdks.sh --build 17-fastdebug: its failed asserts are
# findings. $WALKHAMMER_FASTDEBUG names another.
# shellcheck disable=SC2154  # lib.bash sets these

load lib

setup() {
  jdk=${WALKHAMMER_FASTDEBUG:-${XDG_CACHE_HOME:-$HOME/.cache}/walkhammer/jdks/17-fastdebug}
  [ -x "$jdk/bin/java" ] || skip "no debug build here: ci/setup/jdks.sh --build 17-fastdebug makes one"
  out=$BATS_TEST_TMPDIR/run
}

@test "asserts are found by file and line, confirmed, replayed and minimised" {
  run timeout 200 "$walkhammer" fuzz --jdk "$jdk" --walks 300000 --seed 1 --workers 1 \
    --no-minimize --confirm-time 40s --out "$out"
  echo "$output"
  [ "$status" -eq 1 ]
  [ "$(ask 'SELECT walks = 300000 AND children_died = 0 FROM run')" = 1 ]
  [ "$(ask "SELECT COUNT(*) > 2 AND SUM(confirmed) > 0 FROM bucket WHERE
    expect GLOB 'failed-check (*.?pp:[0-9]*) *'")" = 1 ]
  local folder
  folder=$(ask "SELECT folder FROM bucket WHERE confirmed > 0 AND expect LIKE 'failed-check%' LIMIT 1")
  run timeout 100 "$walkhammer" replay --jdk "$jdk" "$out/$folder/input.walk"
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"expects     failed-check ("*"reproduced  1 of 1"* ]]
  run timeout 100 "$walkhammer" minimize --jdk "$jdk" "$out/$folder/input.walk" \
    --out "$BATS_TEST_TMPDIR/least.walk"
  echo "$output"
  [ -s "$BATS_TEST_TMPDIR/least.walk" ]
  grep '^expect failed-check (' "$BATS_TEST_TMPDIR/least.walk"
}

@test "programs are sampled and stepped" {
  for verb in stress step; do
    rm -rf "$out"
    run timeout 100 "$walkhammer" "$verb" --workload torture:mixed --jdk "$jdk" --time 4s --out "$out"
    echo "$output"
    [ "$status" -le 1 ]
    [ "$(ask 'SELECT status = '"'passed'"' AND successful > 1000 FROM cell')" = 1 ]
  done
}
