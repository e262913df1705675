#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ci/measure.sh, in a clone whose parts are those of the tests.
# shellcheck disable=SC2154  # lib.bash sets these variables

load lib

setup() {
  git clone -q "$root" "$tmp/clone"
  cd "$tmp/clone" || return 1
  rm ci/measure/figures/*
  export WALKHAMMER_MACHINE='a machine'
  page=docs/reference/figures.md
}

# part NAME SHELL: a part of this name, committed.
part() {
  printf '# SPDX-License-Identifier: Apache-2.0\n# 1 second: %s.\n%s\n' "$1" "$2" \
    >"ci/measure/figures/$1.sh"
  git add -A
  git -c user.name=test -c user.email=test@test commit -qm "Add $1"
}

# rows CLAIM: how many rows of the page have this claim.
rows() {
  grep -c "^| $1 |" "$page" || true
}

@test "a part is measured once for each commit, and its rows take their places in the page" {
  need_jdk
  # shellcheck disable=SC2016  # of the part
  part one 'echo >>out/count; row Fuzzing "random engine, walks in a minute" "$(each printenv name)" fuzz
    row "Real programs" "a new claim" 7 bench'
  mkdir -p out
  run -0 ci/measure.sh --jdk "$jdk"
  [ "$(rows 'random engine, walks in a minute')" -eq 1 ]
  name=$("$jdk/bin/java" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p')
  grep -qF "| random engine, walks in a minute | $name | $name | \`fuzz\` |" "$page"
  # It comes at the end of the section's table.
  grep -A 1 "^| a new claim | 7 |.* \`bench\` |.*| a machine, load [0-9]* |\$" "$page" | grep -qx ''
  run -0 ci/measure.sh --jdk "$jdk"
  [ "$(wc -l <out/count)" -eq 1 ]
  [ "$(rows 'a new claim')" -eq 1 ]
  run -0 ci/measure.sh --again --jdk "$jdk"
  [ "$(wc -l <out/count)" -eq 2 ]
  # Another commit.
  git checkout -q -- "$page"
  part two ''
  run -1 ci/measure.sh --jdk "$jdk" two
  [[ "$output" == *'FAILED  two'* ]]
}

@test "a part that fails leaves no row, and the others theirs" {
  need_jdk
  part bad 'row "Real programs" "half a figure" 1 fuzz; run one fuzz --no-such-option; row "Real programs" x 1 y'
  # shellcheck disable=SC2016  # of the part
  part hidden 'row "Real programs" "of a failed run" "$(run one fuzz --no-such-option) 3" fuzz'
  part empty 'row "Real programs" "without a figure" "" fuzz'
  part good 'row "Real programs" "a new claim" 7 fuzz'
  run -1 ci/measure.sh --jdk "$jdk"
  [ "$(rows 'half a figure')$(rows 'of a failed run')$(rows 'without a figure')" = 000 ]
  [ "$(rows 'a new claim')" -eq 1 ]
  has_parts 'FAILED  bad' 'FAILED  hidden' 'FAILED  empty' 'fuzz ended with 2' \
    'no figure for: without a figure'
  [[ "$output" != *'FAILED  good'* ]]
}

@test "sections and parts that do not exist, and sources that are not committed" {
  need_jdk
  part lost 'row Nowhere claim 1 fuzz'
  run -1 ci/measure.sh --jdk "$jdk"
  [[ "$output" == *'no such section: Nowhere'* ]]
  git diff --quiet -- "$page"
  run -2 ci/measure.sh nosuch
  [[ "$output" == *'unknown part: nosuch'* ]]
  echo >>README.md
  run -2 ci/measure.sh --jdk "$jdk" lost
  [[ "$output" == *'commit first'* ]]
  run -0 ci/measure.sh --list
  [ "$output" = 'lost       1 second: lost.' ]
}
