#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that take seconds, on the files that a commit changes: format, shellcheck, includes,
# lengths of functions and files, licences; with --tidy also clang-tidy, which takes longer.
#   ci/pre_commit.sh [--tidy]
#   ln -s ../../ci/pre_commit.sh .git/hooks/pre-commit    once, so that git runs it at each commit
# Exit codes: 0 all checks pass, 1 one fails.
set -eu
cd "$(git rev-parse --show-toplevel)"
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
  for file in $code; do
    [ "$(wc -l <"$file")" -le 500 ] || echo "pre_commit: warning: $file has more than 500 lines" >&2
  done
  if [ "${1:-}" = --tidy ] && [ -n "$code" ]; then
    fails 'clang-tidy reports the above' ci/test/tidy.sh $(changed '*.cc')
  fi
}
exit "$failed"
