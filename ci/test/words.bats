#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The checks of our English, which ci/test.sh runs on the tree, and of commit messages: they notice
# what is planted.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154  # backquotes of Markdown; bats sets output

load lib

setup() {
  cd "$BATS_TEST_TMPDIR" || return
}

@test "planted words are found in pages, literals, comments and scripts, and not in code and tests" {
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
// A comment is no place
// for `told`; it has
int wants;
/* been held
   against none. */
#include "harness/stranger.h"
Fail("the file "
     "is no "
     "core, \"told\" so");
CODE
  cat >tree/harness/b.h <<'CODE'
int from; /* what is told
             and no more */
const char glob[] = "/* likewise */";
Call(/* by hand */ from, '"', "of 'it"); /* graver */
CODE
  echo 'EXPECT("nevertheless")  // likewise' >tree/harness/a_test.cc
  mkdir tree/tools
  cat >tree/tools/a.sh <<'SCRIPT'
# It runs for
# ever.
echo "a: it is not to be had" >&2
SCRIPT
  run -1 "$root/ci/test/words.sh" tree
  echo "$output"
  [ "${#lines[@]}" -eq 14 ]
  has_parts 'harness/b.h:1: "told"' 'harness/b.h: "likewise"' 'harness/b.h:4: "by hand"' 'harness/b.h:4: "graver"' 'docs/page.md:2: "is no J"' 'docs/page.md:2: ". Of the "' 'docs/page.md:2: "wants"' \
    'harness/a.cc: "is no c"' 'harness/a.cc: "told"' 'harness/a.cc:1: "is no p"' 'harness/a.cc:4: "held against"' \
    'harness/a_test.cc:1: "likewise"' 'tools/a.sh:1: "for ever"' 'tools/a.sh: "is not to be had"'
  # What cannot be checked does not pass.
  mkdir empty
  git init -q empty
  run -2 "$root/ci/test/words.sh" empty
  run -2 "$root/ci/test/words.sh" --message absent
}

# long N: a sentence of N words.
long() {
  printf 'It'
  for _ in $(seq 2 "$1"); do printf ' goes'; done
  echo .
}

@test "long sentences are found in pages and messages, and not in tables, code and lists of names" {
  git init -q tree
  mkdir tree/harness
  {
    echo "# Page $(long 40)"
    long 25
    long 26
    echo
    echo "* **A label of its own**: $(long 25)"
    echo "| $(long 40) |"
    printf '%s\n' '```' "$(long 40)" '```' "> $(long 40)"
    echo "A span counts as one: \`$(long 40)\`, and so does [a link](of.many/words)."
    echo "Seen on $(seq -s ', ' 8 40) and 41. e.g. $(long 20)"
    echo
    long 14 | tr -d .
    long 14
  } >tree/page.md
  echo "echo \"a: $(long 26)\" >&2" >tree/a.sh
  printf 'Fail("%s "\n     "%s\\n");\n' "$(long 13 | tr -d .)" "$(long 13)" >tree/harness/a.cc
  printf '// %s\nFail("%s\\n%s");\n' "$(long 40)" "$(long 13 | tr -d .)" "$(long 13)" >tree/harness/b.cc
  run -1 "$root/ci/test/words.sh" tree
  echo "$output"
  [ "${#lines[@]}" -eq 4 ]
  has_parts 'page.md:2: 26 words, not at most 25: It goes' 'page.md:14: 28 words' \
    'harness/a.cc: 26 words' 'a.sh: 27 words'
}

@test "each rule finds something, and has an alternative" {
  grep -v '^#' "$root/ci/test/words.txt" >rules
  [ "$(wc -l <rules)" -ge 15 ]
  awk -F '\t' 'NF < 2 || NF > 3 || $2 == "" { print; bad = 1 } END { exit bad }' rules
  printf '%s\n' 'this is no thing' wants told mended 'it mends' likewise nevertheless meanwhile 'held against' \
    'at hand' made-up stranger guilty 'an innocent one' graver 'for ever' 'by hand' 'pristine scene' \
    'Of the runs' 'is not to be had' 'cannot be had' 'has not been had' crosswise >message
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
