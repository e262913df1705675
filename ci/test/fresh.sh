#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the two commands of the README, ci/quickstart.sh and ci/test.sh, on a bare machine: a minimal
# Debian 12, then a minimal Debian 13, with git and sudo, made from the mirror that this machine
# uses, and in it a clone of HEAD whose path contains a space. Once as root, and once more in a new
# root folder as a user with sudo. Prints the time of each phase of the quick start.
#   --quick         only ci/quickstart.sh
#   --as WHO        only as root, or only as user
#   --suite SUITE   only on this suite of Debian, such as bookworm, trixie or sid
# Nothing is cached: times include all downloads. A quick start may take $WALKHAMMER_BOUND seconds
# (default: 240, for two idle cores).
# Needs root and 8 GB below ${TMPDIR:-/tmp}, and leaves nothing there.
# Exit codes: 0 all passed, 1 something failed, 2 usage, 3 this machine cannot do it.
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=ci/setup/debian_packages.sh
. ci/setup/debian_packages.sh

quick=
users='root user'
bound=${WALKHAMMER_BOUND:-240}
suites='bookworm trixie'
while [ "$#" -gt 0 ]; do
  case $1 in
    --quick) quick=yes ;;
    --as)
      users=${2:?--as wants root or user}
      shift
      case $users in
        root | user) ;;
        *)
          echo "fresh: --as wants root or user, got $users" >&2
          exit 2
          ;;
      esac
      ;;
    --suite)
      suites=${2:?--suite wants a suite of Debian}
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

[ "$(id -u)" -eq 0 ] || cannot 'making a root folder needs root'
command -v apt-get >/dev/null || cannot 'no apt-get here, so no mirror of Debian is known'
mirror=$(mirror)
[ -n "$mirror" ] || cannot "apt knows no mirror of Debian here; apt-get update may mend that"
unshare --mount --pid --fork true 2>/dev/null || cannot 'this machine lets nobody mount: unshare fails'

work=$(mktemp -d)
inside=
# Mounts exist in the other mount namespace alone, which ends with its processes.
finish() {
  # unshare ignores SIGTERM while it waits; its child dies with it (--kill-child).
  [ -z "$inside" ] || kill -KILL "$inside" 2>/dev/null || true
  [ -z "$inside" ] || wait "$inside" || true
  rm -rf --one-file-system "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

# --- the bare machine -----------------------------------------------------------------------------

# sources: prints what this machine uses of $suite, as lines of sources.list.
sources() {
  # shellcheck disable=SC2016  # apt's own variables
  apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(LABEL) $(CODENAME)' \
    'Created-By: Packages' | sed -n 's/ Debian Debian\(-Security\)\{0,1\} / /p' | sort -u |
    grep " $suite\(-updates\|-security\)\{0,1\}\$" | sed 's/.*/deb & main/'
}

# how_to_reach ROOT: copies what this machine needs to reach its mirror, and nothing else: apt's
# settings for downloads, name resolution, certificates.
how_to_reach() {
  sources >"$1/etc/apt/sources.list"
  [ -s "$1/etc/apt/sources.list" ] || echo "deb $mirror $suite main" >"$1/etc/apt/sources.list"
  apt-config dump | grep -E '^Acquire::(Check-|https?::|ftp::)' >"$1/etc/apt/apt.conf.d/90reach" ||
    true
  cp -L /etc/resolv.conf /etc/hosts "$1/etc/"
  for certificate in /usr/local/share/ca-certificates/*.crt; do
    [ ! -e "$certificate" ] || cp "$certificate" "$1/usr/local/share/ca-certificates/"
  done
  chroot "$1" update-ca-certificates >/dev/null
}

make_bare() {
  debootstrap=debootstrap
  if ! command -v debootstrap >/dev/null; then
    apt_trees=$work/apt
    export apt_trees
    unpack "$(dpkg --print-architecture)" "$suite" "$work/tool" debootstrap ||
      cannot 'debootstrap is not here and cannot be had'
    DEBOOTSTRAP_DIR=$work/tool/usr/share/debootstrap
    export DEBOOTSTRAP_DIR
    debootstrap=$work/tool/usr/sbin/debootstrap
  fi
  # debootstrap mounts /proc, and does not unmount it when it is interrupted.
  unshare --mount "$debootstrap" --variant=minbase --include=ca-certificates,git,sudo \
    "$suite" "$work/bare" "$mirror" >"$work/log" 2>&1 || {
    tail -n 20 "$work/log" >&2
    cannot "debootstrap makes no $suite from $mirror"
  }
  # A bare machine has no packages in apt's cache.
  rm -rf "$work/bare/var/cache/apt/archives"/*.deb "$work/bare/var/lib/apt/lists"/*
  how_to_reach "$work/bare"
  chroot "$work/bare" useradd --create-home --shell /bin/sh --groups sudo user
  echo 'user ALL=(ALL) NOPASSWD: ALL' >"$work/bare/etc/sudoers.d/user"
}

# --- runs in it -----------------------------------------------------------------------------------

# in_it ROOT USER COMMAND...: runs COMMAND in the clone, with no variable of this machine's
# environment but those of proxies.
in_it() {
  root=$1 user=$2
  shift 2
  # shellcheck disable=SC2016  # the other shell's
  unshare --mount --pid --fork --kill-child sh -c '
    root=$1 user=$2
    shift 2
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    mount --rbind /sys "$root/sys"
    home=$(chroot "$root" getent passwd "$user" | cut -d : -f 6)
    exec chroot --userspec "$user" --groups "$(chroot "$root" id -G "$user" | tr " " ,)" "$root" \
      env -i HOME="$home" USER="$user" LANG=C.UTF-8 PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin \
      ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
      sh -c "cd \"\$HOME/a clone/walkhammer\" && exec \"\$@\"" sh "$@"
  ' sh "$root" "$user" "$@" </dev/null &
  inside=$!
  code=0
  wait "$inside" || code=$?
  inside=
  return "$code"
}

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

# quick_start ROOT USER: fails if the quick start fails or takes too long. Findings are no failure.
quick_start() {
  in_it "$1" "$2" ci/quickstart.sh >"$work/log" 2>&1 || {
    cat "$work/log"
    fails "the quick start as $2 on $suite, exit code $?"
    return 0
  }
  times=$(sed -n 's/^quickstart: \([0-9]* s to set up.*\)/\1/p' "$work/log")
  grep -m 1 -E '^(FINDINGS|CLEAN|NO FINDINGS)' "$work/log" || true
  echo "as $2: $times (at most $bound s)"
  total=$(echo "$times" | sed -n 's/.* \([0-9]*\) s in all$/\1/p')
  if [ "${total:-0}" -eq 0 ] || [ "$total" -gt "$bound" ]; then
    fails "the quick start as $2 on $suite: too slow"
  fi
}

# try_as USER: runs the commands in a copy of the bare machine.
try_as() {
  cp -a "$work/bare" "$work/$1"
  clone_for "$work/$1" "$1"
  echo "== ci/quickstart.sh, as $1"
  quick_start "$work/$1" "$1"
  if [ -z "$quick" ]; then
    echo "== ci/test.sh, as $1"
    in_it "$work/$1" "$1" ci/test.sh || fails "ci/test.sh as $1 on $suite"
  fi
  rm -rf --one-file-system "${work:?}/$1"
}

[ -z "$(git status --porcelain)" ] || echo 'fresh: tests HEAD, without uncommitted changes' >&2
for suite in $suites; do
  echo "== a bare $suite"
  began=$(date +%s)
  make_bare
  echo "made in $(($(date +%s) - began)) s"
  for user in $users; do
    try_as "$user"
  done
  rm -rf --one-file-system "$work/bare"
done
echo
[ "$failed" -eq 0 ] || exit 1
echo 'fresh: all passed'
