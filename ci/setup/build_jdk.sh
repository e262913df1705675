#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds HotSpot as fastdebug, with all asserts, from Debian's source package of a JDK, and replaces
# the HotSpot in a copy of Debian's binary package of the same version. Called by
# ci/setup/jdks.sh --build NAME as ci/setup/build_jdk.sh NAME DIR.
#   NAME   the name of a row below
#   DIR    will hold the link NAME to the JDK's home; DIR/.NAME.build holds the build until it is
#          complete, and a build that was stopped resumes from there
# JOBS is the number of parallel compilers (default: one for each processor); BOOT_JDK is the home
# of the JDK to build with (default: one of /usr/lib/jvm). `ci/setup.sh build-jdk` installs the
# tools. A build takes 3 GB of disk and an hour of one processor.
# Prints NAME and home. Exit codes: 0 done, 2 usage, 3 it cannot be built, for the reason on stderr.
set -eu
[ "${1:-}" != --help ] || exec sed -n '3,/^set/s/^# \{0,1\}//p' "$0"
cd "$(dirname "$0")/../.."

# NAME, Debian suite, source package, feature version of the boot JDK (a JDK builds with its own
# version and with the one before). Only the first row has been built: the mirror lacked the sources
# of newer suites.
rows='
17-fastdebug  bookworm  openjdk-17  17
25-fastdebug  unstable  openjdk-25  25
28-fastdebug  unstable  openjdk-28  27
'

name=${1:?usage: ci/setup/build_jdk.sh NAME DIR} dir=${2:?usage: ci/setup/build_jdk.sh NAME DIR}
# shellcheck source=ci/setup/lib_rows.sh
. ci/setup/lib_rows.sh
check_row "$name"
# shellcheck disable=SC2046  # a row's words
set -- $(row "$name")
debian=$1 java=$2 boot_feature=$3
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)

apt_trees=$dir/.apt-sources
# shellcheck disable=SC2034  # for debian_packages.sh
apt_kinds='deb deb-src'
# shellcheck source=ci/setup/debian_packages.sh
. ci/setup/debian_packages.sh

fail() {
  echo "build_jdk: $*" >&2
  exit 3
}

# logged COMMAND...: runs COMMAND with its output in $build/log; shows the end of the log if COMMAND
# fails.
logged() {
  if ! "$@" >>"$build/log" 2>&1; then
    tail -n 30 "$build/log" >&2
    fail "$name: $1 failed; its whole output is in $build/log"
  fi
}

# boot_jdk: prints the home of the JDK to build with.
boot_jdk() {
  for candidate in "${BOOT_JDK:-}" /usr/lib/jvm/*; do
    if grep -qE "^JAVA_VERSION=\"${boot_feature}[.\"]" "$candidate/release" 2>/dev/null &&
      [ -x "$candidate/bin/javac" ]; then
      echo "$candidate"
      return
    fi
  done
  fail "$name is built with a JDK $boot_feature, and /usr/lib/jvm has none: name one in BOOT_JDK"
}

# unpack_image: unpacks Debian's binary package of the JDK; with the C library if its suite is newer
# than this machine's.
unpack_image() {
  rm -rf "$system.part"
  libraries=
  [ "$debian" != unstable ] || libraries=$hotspot_libraries
  # shellcheck disable=SC2086  # a list of words
  unpack "$(dpkg --print-architecture)" "$debian" "$system.part" $libraries \
    "$java-jre-headless" || exit 3
  one_lib_folder "$system.part"
  make_links_relative "$system.part"
  mv "$system.part" "$system"
}

# unpack_headers: unpacks headers that configure asks for although HotSpot does not use them.
unpack_headers() {
  rm -rf "$headers.part"
  unpack "$(dpkg --print-architecture)" "$debian" "$headers.part" libasound2-dev libcups2-dev \
    libfontconfig-dev || exit 3
  mv "$headers.part" "$headers"
}

# unpack_source: unpacks the source package of the binary package's version.
unpack_source() {
  version=$(zcat "$system/usr/share/doc/$java-jre-headless/changelog.Debian.gz" |
    sed -n '1s/.*(\(.*\)).*/\1/p')
  echo "build_jdk: unpacking the source of $java $version" >&2
  rm -rf "$source.part"
  mkdir -p "$source.part"
  (
    cd "$source.part"
    logged apt_tree "$(dpkg --print-architecture)" "$debian" update
    logged apt_tree "$(dpkg --print-architecture)" "$debian" source "$java=$version"
  ) || exit 3
  mv "$source.part/$java"-*/ "$source"
  rm -rf "$source.part"
}

# configure: with exactly the version string of the binary package.
configure() {
  boot=$(boot_jdk)
  echo "build_jdk: configuring $name with $boot" >&2
  rm -rf "$out"
  mkdir -p "$out"
  include=$headers/usr/include
  version=$(sed -n 's/^JAVA_RUNTIME_VERSION="\(.*\)"/\1/p' "$home/release")
  (
    cd "$out"
    logged bash "$source/configure" --with-debug-level=fastdebug --with-jvm-variants=server \
      --with-version-string="$version" --with-boot-jdk="$boot" --with-native-debug-symbols=none \
      --enable-headless-only --disable-warnings-as-errors --with-freetype=bundled \
      --with-pcsclite=bundled --with-alsa-include="$include" --with-alsa-lib=/usr/lib \
      --with-cups-include="$include" --with-fontconfig-include="$include"
  ) || exit 3
  touch "$out/configured"
}

# put_into_image: replaces the HotSpot of the binary package by the one that was built.
put_into_image() {
  cp "$(find "$out/support/modules_libs" -path '*/server/libjvm.so')" "$home/lib/server/libjvm.so"
  # CDS archives hold classes in the layout of the HotSpot that dumped them.
  rm -f "$home"/lib/server/*.jsa
  grep -q '^DEBUG_LEVEL=' "$home/release" || echo 'DEBUG_LEVEL="fastdebug"' >>"$home/release"
}

# start_java ARGUMENT...: starts the JDK, by the loader of its own C library if it has one.
start_java() {
  loader=$system/lib64/ld-linux-x86-64.so.2
  if [ -e "$loader" ]; then
    libraries=$system/usr/lib/$(uname -m)-linux-gnu
    "$loader" --library-path "$libraries:$home/lib" "$home/bin/java" "$@"
  else
    "$home/bin/java" "$@"
  fi
}

if [ ! -e "$dir/$name" ]; then
  for tool in autoconf file g++ make dpkg-source unzip zip; do
    command -v "$tool" >/dev/null || fail "there is no $tool here: ci/setup.sh build-jdk"
  done
  build=$dir/.$name.build
  system=$build/system source=$build/source headers=$build/headers out=$build/out
  mkdir -p "$build"
  [ -e "$system" ] || unpack_image
  [ -e "$headers" ] || unpack_headers
  [ -e "$source" ] || unpack_source
  home=$(dirname "$(find "$system/usr/lib/jvm" -name release)")
  [ -e "$out/configured" ] || configure
  echo "build_jdk: building $name (log: $build/log)" >&2
  logged make -C "$out" JOBS="${JOBS:-$(nproc)}" hotspot
  put_into_image
  start_java -version 2>&1 | grep -q fastdebug || fail "$home/bin/java -version names no fastdebug"
  logged start_java -Xshare:dump
  logged start_java -XX:-UseCompressedOops -Xshare:dump
  rm -rf "${dir:?}/.$name"
  mv "$system" "$dir/.$name"
  ln -sfn "$dir/.$name${home#"$system"}" "$dir/$name"
  rm -rf "$build"
fi
echo "$name $(readlink -f "$dir/$name")"
