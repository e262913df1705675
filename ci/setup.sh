#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what building and testing walkhammer needs; does nothing when all of it is there.
# With the word `run`: only what building and running the command needs; `aarch64`: also what
# cross-building for that needs; `jdks`: what ci/jdks.sh needs; `build-jdk`: what its --build needs.
# The one place that installs. Debian 12, as root or through sudo.
set -eu

# Each on its own line, so that a change shows as one.
to_run='
cmake
g++
libcapstone-dev
libcli11-dev
libdw-dev
libelf-dev
libfmt-dev
libsqlite3-dev
ninja-build
nlohmann-json3-dev
openjdk-17-jdk-headless
pkg-config
'
packages="$to_run"'
afl++
bats
build-essential
busybox
ccache
clang-14
clang-format-14
clang-tidy-14
curl
ecj
git
libbenchmark-dev
libclang-rt-14-dev
libgmock-dev
libgtest-dev
libxalan2-java
libxerces2-java
lld-14
shellcheck
sqlite3
unzip
zip
'

case ${1:-} in
  '') ;;
  run) packages=$to_run ;;
  aarch64) packages="$packages g++-aarch64-linux-gnu" ;;
  # Any pip does, Debian's or another.
  jdks) command -v pip >/dev/null || packages="$packages python3-pip" ;;
  # Of the libraries that configure asks for, ci/build_jdk.sh unpacks the headers.
  build-jdk) packages="$packages autoconf file" ;;
  *)
    echo "setup: expected nothing, run, aarch64, jdks or build-jdk, got $1" >&2
    exit 2
    ;;
esac

is_installed() {
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    echo "setup: packages are missing and neither root nor sudo is at hand; as root, run: $*" >&2
    exit 3
  fi
}

# Mirrors and their networks fail now and then.
with_retries() {
  tries=3
  until as_root "$@"; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || return 1
    echo "setup: trying again in 5 s: $*" >&2
    sleep 5
  done
}

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  echo "setup: no apt-get here; install by hand what these Debian 12 packages hold:$packages" >&2
  exit 3
fi

missing=
for package in $packages; do
  is_installed "$package" || missing="$missing $package"
done
if [ -z "$missing" ]; then
  echo "setup: everything is installed" >&2
  exit 0
fi

echo "setup: installing$missing" >&2
apt="env DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300"
# shellcheck disable=SC2086  # lists of words
with_retries $apt update
# shellcheck disable=SC2086
with_retries $apt install -y --no-install-recommends $missing
