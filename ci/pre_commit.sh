#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that take seconds, on the files that a commit changes: format, shellcheck, includes,
# lengths of functions and files, licences, words of pages and messages, links; with --tidy also
# clang-tidy, which takes longer.
#   ci/pre_commit.sh [--tidy]
#   ci/pre_commit.sh --install    once: git then runs it, and ci/test/commit_message.sh, at each commit
# Exit codes: 0 all checks pass, 1 one fails.
set -eu
cd "$(git rev-parse --show-toplevel)"
if [ "${1:-}" = --install ]; then
  hooks=$(git rev-parse --git-path hooks)
  mkdir -p "$hooks"
  for hook in pre-commit commit-msg; do
    if [ -e "$hooks/$hook" ] && [ ! -L "$hooks/$hook" ]; then
      echo "pre_commit: $hooks/$hook is a hook of your own: call ci/pre_commit.sh or ci/test/commit_message.sh from it" >&2
      exit 1
    fi
  done
  ln -sf "$PWD/ci/pre_commit.sh" "$hooks/pre-commit"
  ln -sf "$PWD/ci/test/commit_message.sh" "$hooks/commit-msg"
  exit 0
fi
failed=0

# changed PATTERN...: prints the staged files; if none are staged, those that differ from HEAD.
changed() {
  against=--cached
  ! git diff --cached --quiet || against=HEAD
  git diff --name-only --diff-filter=d "$against" -- "$@"
}

# fails WHAT COMMAND...: prints WHAT and notes the failure if COMMAND fails.
fails() {
  what=$1
  shift
  "$@" || {
    echo "pre_commit: $what"
    failed=1
  }
}

code=$(changed '*.cc' '*.h')
scripts=$(changed '*.sh' '*.bash' '*.bats' .ci/run)
# shellcheck disable=SC2046,SC2086  # no file of this tree has a blank in its name
{
  [ -z "$code" ] || fails 'clang-format-14 -i these' clang-format-14 --dry-run -Werror $code
  [ -z "$scripts" ] || fails 'shellcheck reports the above' shellcheck -x $scripts
  fails 'an include that the table of docs/architecture.md does not have' ci/includes.sh
  fails 'functions of more than 60 lines' ci/test/functions.sh
  fails 'a source that does not name its licence' ci/test/spdx.sh
  fails 'words that our English does without, or long sentences' ci/test/words.sh
  fails 'links of pages that lead nowhere' ci/test/links.sh
  for file in $code; do
    [ "$(wc -l <"$file")" -le 500 ] || echo "pre_commit: warning: $file has more than 500 lines" >&2
  done
  if [ "${1:-}" = --tidy ] && [ -n "$code" ]; then
    fails 'clang-tidy reports the above' ci/test/tidy.sh $(changed '*.cc')
  fi
}
exit "$failed"
