#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the two commands of the README, ci/quickstart.sh and ci/test.sh, on a bare machine: a minimal
# Debian 12, then a minimal Debian 13, with git and sudo, made from the mirror that this machine
# uses, and in it a clone of HEAD whose path contains a space. Once as root, and once more in a new
# root folder as a user with sudo. Prints the time of each phase of the quick start. After it, the
# tutorial's commands run, which end with a finding that replays.
#   --quick         without ci/test.sh
#   --as WHO        only as root, or only as user
#   --suite SUITE   only on this suite of Debian, such as bookworm, trixie or sid
# Nothing is cached: times include all downloads. A quick start may take $WALKHAMMER_BOUND seconds
# (default: 240, for two idle cores). It and the tutorial may take ten minutes together.
# Needs root and 8 GB below ${TMPDIR:-/tmp}, and leaves nothing there.
# Exit codes: 0 all passed, 1 something failed, 2 usage, 3 this machine cannot do it.
set -eu
cd "$(dirname "$0")/../.."

quick=
users='root user'
bound=${WALKHAMMER_BOUND:-240}
suites='bookworm trixie'
while [ "$#" -gt 0 ]; do
  case $1 in
    --quick) quick=yes ;;
    --as)
      users=${2:?--as must be root or user}
      shift
      case $users in
        root | user) ;;
        *)
          echo "fresh: --as must be root or user, got $users" >&2
          exit 2
          ;;
      esac
      ;;
    --suite)
      suites=${2:?--suite must be a suite of Debian}
      shift
      ;;
    *)
      echo "fresh: expected --quick, --as WHO or --suite SUITE, got $1" >&2
      exit 2
      ;;
  esac
  shift
done

cannot() {
  echo "fresh: $1" >&2
  exit 3
}

work=$(mktemp -d)
# shellcheck source=ci/setup/bare_root.sh
. ci/setup/bare_root.sh
trap 'end_inside; rm -rf --one-file-system "$work"' EXIT
trap 'exit 130' INT TERM
reason=$(why_no_bare_root)
[ -z "$reason" ] || cannot "$reason"

# --- runs in it -----------------------------------------------------------------------------------

clone_for() {
  home=$1/$(chroot "$1" getent passwd "$2" | cut -d : -f 6)
  mkdir "$home/a clone"
  git clone --quiet --no-hardlinks "$PWD" "$home/a clone/walkhammer"
  chroot "$1" chown -R "$2:" "${home#"$1"}/a clone"
}

failed=0
fails() {
  echo "FAILED: $1"
  failed=$((failed + 1))
}

# quick_start ROOT USER: fails if the quick start fails or takes too long. Findings are not a failure.
quick_start() {
  in_root "$1" "$2" 'a clone/walkhammer' ci/quickstart.sh >"$work/log" 2>&1 || {
    cat "$work/log"
    fails "the quick start as $2 on $suite, exit code $?"
    return 0
  }
  times=$(sed -n 's/^quickstart: \([0-9]* s to set up.*\)/\1/p' "$work/log")
  grep -m 1 -E '^(FINDINGS|KNOWN|CLEAN)' "$work/log" || true
  echo "as $2: $times (at most $bound s)"
  total=$(echo "$times" | sed -n 's/.* \([0-9]*\) s in all$/\1/p')
  if [ "${total:-0}" -eq 0 ] || [ "$total" -gt "$bound" ]; then
    fails "the quick start as $2 on $suite: too slow"
  fi
}

# tutorial ROOT USER: runs the tutorial's shell blocks that no comment "not run" precedes. Fails if no
# finding replays each time, or if that and the quick start take more than ten minutes.
tutorial() {
  # shellcheck disable=SC2016  # the other shell's variables
  {
    echo 'export PATH="$PWD/build/release:$PATH" COURSE="$PWD/docs/tutorial/course"'
    echo 'cd "$(mktemp -d)"'
    awk '/^<!-- not run/ { skip = 1 } /^```sh$/ { inside = !skip; skip = 0; next } /^```/ { inside = 0 }
      inside' docs/tutorial/first-finding.md
  } >"$1/tmp/tutorial.sh"
  since=$(date +%s)
  in_root "$1" "$2" 'a clone/walkhammer' sh -u /tmp/tutorial.sh >"$work/log" 2>&1 || true
  if ! grep -q '^ *reproduced  5 of 5$' "$work/log" || ! grep -q '^replay.sh$' "$work/log"; then
    cat "$work/log"
    fails "the tutorial as $2 on $suite"
  fi
  since=$(($(date +%s) - since))
  echo "the tutorial: $since s; $((total + since)) s with the quick start (at most 600 s)"
  [ $((total + since)) -le 600 ] || fails "the tutorial as $2 on $suite: too slow"
}

# try_as USER: runs the commands in a copy of the bare machine.
try_as() {
  cp -a "$work/bare" "$work/$1"
  clone_for "$work/$1" "$1"
  echo "== ci/quickstart.sh, as $1"
  quick_start "$work/$1" "$1"
  tutorial "$work/$1" "$1"
  if [ -z "$quick" ]; then
    echo "== ci/test.sh, as $1"
    in_root "$work/$1" "$1" 'a clone/walkhammer' ci/test.sh || fails "ci/test.sh as $1 on $suite"
  fi
  rm -rf --one-file-system "${work:?}/$1"
}

[ -z "$(git status --porcelain)" ] || echo 'fresh: tests HEAD, without uncommitted changes' >&2
for suite in $suites; do
  echo "== a bare $suite"
  began=$(date +%s)
  make_bare "$suite" "$work/bare" git,sudo
  chroot "$work/bare" useradd --create-home --shell /bin/sh --groups sudo user
  echo 'user ALL=(ALL) NOPASSWD: ALL' >"$work/bare/etc/sudoers.d/user"
  echo "made in $(($(date +%s) - began)) s"
  for user in $users; do
    try_as "$user"
  done
  rm -rf --one-file-system "$work/bare"
done
echo
[ "$failed" -eq 0 ] || exit 1
echo 'fresh: all passed'
