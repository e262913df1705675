#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks the message of a commit: the subject has at most 72 characters, no full stop, and begins
# with an imperative ("Add", not "Added", "Adds", "Adding", "Docs:" or "The"); the second line is
# blank; the words are those of ci/test/words.sh. Commits of git itself (Merge, Revert, fixup!) pass.
#   ci/test/commit_message.sh FILE
# Exit codes: 0 it passes, 1 it does not, each reason is printed; 2 usage.
set -eu
[ "${1:-}" != --help ] || exec sed -n '3,/^set/s/^# \{0,1\}//p' "$0"
if [ $# -ne 1 ] || [ ! -f "$1" ]; then
  echo "commit_message: expected one file, got $*" >&2
  exit 2
fi
# What git commit --verbose shows below the scissors is not a part of the message.
lines=$(sed -e '/^# -* >8 -*$/,$d' -e '/^#/d' "$1")
subject=$(printf '%s\n' "$lines" | sed -n 1p)
second=$(printf '%s\n' "$lines" | sed -n 2p)
failed=0
fails() {
  echo "commit_message: $1"
  failed=1
}
case $subject in
'Merge '* | 'Revert "'* | 'fixup! '* | 'squash! '*) exit 0 ;;
'') fails 'the subject is empty' ;;
esac
[ "$(printf %s "$subject" | wc -m)" -le 72 ] || fails 'the subject has more than 72 characters'
[ -z "$second" ] || fails 'the second line must be blank'
case $subject in *.) fails 'the subject ends with a full stop' ;; esac
word=${subject%% *}
case $word in
# Verbs whose infinitive looks like one of the forms below.
Bring | Embed | Exceed | Feed | Need | Proceed | Seed | Shed | Speed | String | Bypass | Pass | Process | \
  Express | Address | Access | Compress | Suppress | Press | Guess | Discuss | Cross | Focus | Dismiss | Assess) ;;
*:) fails "the subject begins with a label, \"$word\"; begin with a verb" ;;
The | A | An | What | Who | Where | When | How | No | Of | In | On | For | More | Some | Also | Now | \
  This | That | It | We | One | Two | Each | All)
  fails "the subject begins with \"$word\"; begin with a verb"
  ;;
*ed | *ing | *s)
  fails "the subject begins with \"$word\"; begin with an imperative: Add, not Added, Adds or Adding"
  ;;
[a-z]*) fails "the subject begins with a small letter" ;;
esac
"$(dirname "$(realpath "$0")")/words.sh" --message "$1" || failed=1
exit "$failed"
