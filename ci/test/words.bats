#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The checks of our English and of commit messages: they pass here, and notice what is planted.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154  # backquotes of Markdown; bats sets output

load lib

setup() {
  cd "$BATS_TEST_TMPDIR" || return
}

@test "pages and messages have none of the words" {
  run -0 "$root/ci/test/words.sh"
  [ -z "$output" ]
}

@test "planted words are found in pages and literals, and not in code, comments and tests" {
  git init -q tree
  mkdir -p tree/harness tree/docs
  cat >tree/docs/page.md <<'PAGE'
# Page
It is no JDK. Of the runs, each wants a folder.
There is no JDK, which is no longer needed, for want of `told` and [a link](likewise.md).
```sh
echo meanwhile
```
PAGE
  cat >tree/harness/a.cc <<'CODE'
// A comment may say likewise.
#include "harness/stranger.h"
Fail("the file "
     "is no "
     "core, \"told\" so");
CODE
  echo 'EXPECT("nevertheless")' >tree/harness/a_test.cc
  run -1 "$root/ci/test/words.sh" tree
  echo "$output"
  [ "${#lines[@]}" -eq 5 ]
  has_parts 'docs/page.md:2: "is no J"' 'docs/page.md:2: ". Of the "' 'docs/page.md:2: "wants"' \
    'harness/a.cc: "is no c"' 'harness/a.cc: "told"'
  # What cannot be checked does not pass.
  mkdir empty
  git init -q empty
  run -2 "$root/ci/test/words.sh" empty
  run -2 "$root/ci/test/words.sh" --message absent
}

@test "each rule finds something, and has an alternative" {
  grep -v '^#' "$root/ci/test/words.txt" >rules
  [ "$(wc -l <rules)" -ge 15 ]
  awk -F '\t' 'NF < 2 || NF > 3 || $2 == "" { print; bad = 1 } END { exit bad }' rules
  printf '%s\n' 'this is no thing' wants told mended likewise nevertheless meanwhile 'held against' \
    'at hand' made-up stranger guilty 'an innocent one' graver 'for ever' 'by hand' 'pristine scene' \
    'Of the runs' 'is not to be had' 'has not been had' >message
  run -1 "$root/ci/test/words.sh" --message message
  echo "$output"
  [ "${#lines[@]}" -ge "$(wc -l <rules)" ]
}

# says MESSAGE: runs the check of commit messages.
says() {
  printf '%s\n' "$1" >message
  run "$root/ci/test/commit_message.sh" message
  echo "$1: $output"
}

@test "commit messages: imperatives pass, other forms do not" {
  for subject in 'Add a test' 'Process signals in order' 'Need no root' 'Merge branch x' $'Fix it\n\nIt was so.\n# told' \
    $'Fix it\n\n# ---- >8 ----\n+It wants.'; do
    says "$subject"
    [ "$status" -eq 0 ]
  done
  while IFS='|' read -r subject reason; do
    says "$subject"
    [ "$status" -eq 1 ]
    [[ "$output" == *"$reason"* ]]
  done <<'CASES'
Added a test|"Added"; begin with an imperative
Adds a test|"Adds"; begin
Tests: more of them|label
The test of x|begin with a verb
fix a test|small letter
Fix a test.|full stop
Tell what is told|"told"
Fix something that is so long that it does not fit into the seventy-two columns|72 characters
|is empty
CASES
  says $'Fix it\nat once'
  [ "$status" -eq 1 ]
  [[ "$output" == *'second line must be blank'* ]]
}

@test "pre_commit.sh --install makes git refuse a message" {
  git init -q repository
  cd repository
  mkdir -p ci/test
  cp "$root/ci/pre_commit.sh" ci
  cp "$root"/ci/test/{commit_message.sh,words.sh,words.txt} ci/test
  echo 'exit 0' >.git/hooks/commit-msg
  run -1 ci/pre_commit.sh --install
  [[ "$output" == *'commit-msg is a hook of your own'* ]]
  rm .git/hooks/commit-msg
  ci/pre_commit.sh --install
  ln -sf /bin/true .git/hooks/pre-commit
  git config user.email a@example.com
  git config user.name a
  git add ci
  run -1 --separate-stderr git commit -q -m 'Added checks'
  [[ "$output$stderr" == *'begin with an imperative'* ]]
  git commit -q -m 'Add checks'
}
