#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian 12 packages that walkhammer needs, as root or through sudo: ci/setup.sh [FOR].
# Does nothing if all are installed. No other script of ci installs packages. FOR is
#   nothing     to build and test walkhammer
#   run         only to build and run the command
#   aarch64     also to cross-build for aarch64
#   jdks        also to run ci/setup/jdks.sh
#   profilers   also to run ci/setup/profilers.sh
#   build-jdk   also to run ci/setup/jdks.sh --build
# Exit codes: 0 all are installed, 1 apt-get failed, 2 usage, 3 this machine lacks apt-get or root.
set -eu
[ "${1:-}" != --help ] || exec sed -n '3,/^set/s/^# \{0,1\}//p' "$0"

# One package a line, so that a diff shows each change.
to_run='
cmake
g++
libboost-dev
libcapstone-dev
libcli11-dev
libdw-dev
libelf-dev
libfmt-dev
libsqlite3-dev
libtomlplusplus-dev
ninja-build
nlohmann-json3-dev
openjdk-17-jdk-headless
pkg-config
zlib1g-dev
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
libxml2-utils
lld-14
shellcheck
sqlite3
time
unzip
zip
'

case ${1:-} in
  '') ;;
  run) packages=$to_run ;;
  aarch64) packages="$packages g++-aarch64-linux-gnu" ;;
  # Any pip will do, Debian's or another.
  jdks) command -v pip >/dev/null || packages="$packages python3-pip" ;;
  profilers) packages="$packages maven" ;;
  # ci/setup/build_jdk.sh itself unpacks the headers of libraries that configure asks for.
  build-jdk) packages="$packages autoconf file" ;;
  *)
    echo "setup: expected nothing, run, aarch64, jdks, profilers or build-jdk, got $1" >&2
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

# Mirrors and networks fail now and then, so a command is tried again.
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
