#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests of ci/test/mutants.txt and of the refusals of ci/test/mutate.sh, which plants its bugs.
# shellcheck disable=SC2154  # bats sets stderr

bats_require_minimum_version 1.5.0

setup() {
  root=$BATS_TEST_DIRNAME/../..
}

@test "mutate.sh refuses what is not a list" {
  for arguments in nowhere "$root/ci" 'ci/test/mutants.txt ci/test/mutants.txt'; do
    # shellcheck disable=SC2086  # words
    run --separate-stderr -2 "$root/ci/test/mutate.sh" $arguments
    [ -z "$output" ]
    [ "${#stderr_lines[@]}" -eq 1 ]
  done
}

@test "a list without a bug is vacuous" {
  echo '# none' >"$BATS_TEST_TMPDIR/list"
  run -4 "$root/ci/test/mutate.sh" "$BATS_TEST_TMPDIR/list"
}

@test "each bug of the list changes a line of its file" {
  rows=0
  while IFS=$'\t' read -r file number from to; do
    rows=$((rows + 1))
    [ "$from" != "$to" ]
    equal=$(sed 's/^ *//' "$root/$file" | grep -cxF -e "$from") || true
    [ "$equal" -ge "$number" ] || { echo "$file: there is no '$from'"; return 1; }
  done < <(grep -v '^#' "$root/ci/test/mutants.txt")
  [ "$rows" -ge 10 ]
}
