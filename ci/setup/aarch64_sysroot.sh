#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Unpacks, without installing, the packages that a cross-build for aarch64 and its runs under
# emulation need: ci/setup/aarch64_sysroot.sh DIR [FEATURE,FEATURE...]. A FEATURE is a feature
# version of OpenJDK (default: 17).
#   DIR/qemu-aarch64   the emulator
#   DIR/sysroot        Debian 12's libraries and headers, and OpenJDK 17, with the C and C++ libraries
#                      that this Debian's cross compiler links with
#   DIR/sysroot-N      the C library and OpenJDK N of a newer Debian, for each other FEATURE, with
#                      the libraries of DIR/sysroot that walkhammer's programs are linked with
# Entries of DIR that exist are left as they are, but for a DIR/sysroot of other packages.
# Exit codes: 0 done, 2 usage, 3 packages cannot be downloaded.
set -eu

dir=${1:?usage: ci/setup/aarch64_sysroot.sh DIR [FEATURE,FEATURE...]}
features=$(echo "${2:-17}" | tr ',' ' ')

# suite FEATURE: prints the Debian suite that has this OpenJDK.
suite() {
  case $1 in
    17) echo bookworm ;;
    21 | 25) echo trixie ;;
    26 | 27 | 28) echo unstable ;;
    *)
      echo "aarch64_sysroot: OpenJDK $1 is not available: choose one of 17, 21, 25, 26, 27, 28" >&2
      return 2
      ;;
  esac
}

for feature in $features; do
  suite "$feature" >/dev/null
done
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)

# Libraries that walkhammer's programs are linked with, other than the C and C++ libraries.
libraries='libbenchmark1debian libbz2-1.0 libcapstone4 libdw1 libelf1 libfmt9 liblzma5 libsqlite3-0'
headers='libbenchmark-dev libboost1.74-dev libcapstone-dev libclang-rt-14-dev libcli11-dev libdw-dev libelf-dev
  libfmt-dev libgmock-dev libgtest-dev liblzma-dev libsqlite3-dev libtomlplusplus-dev
  nlohmann-json3-dev zlib1g-dev'

# The suite of the C and C++ libraries: that of this machine's cross compiler.
own=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
case $own in
  trixie | forky | sid) ;;
  *) own=bookworm ;;
esac
packages="$own $libraries $headers"

apt_trees=$dir/apt
# shellcheck source=ci/setup/debian_packages.sh
. "$(dirname "$0")/debian_packages.sh"

# once FILE COMMAND...: runs COMMAND, which makes FILE in one step, unless FILE exists.
once() {
  made=$1
  shift
  [ -e "$made" ] || "$@"
}

emulator() {
  unpack amd64 bookworm "$dir/qemu.part" qemu-user-static
  mv "$dir/qemu.part/usr/bin/qemu-aarch64-static" "$dir/qemu-aarch64"
  rm -rf "$dir/qemu.part"
}

# shellcheck disable=SC2086  # lists of words
sysroot() {
  rm -rf "$dir/sysroot.part"
  unpack arm64 "$own" "$dir/sysroot.part" $hotspot_libraries
  unpack arm64 bookworm "$dir/sysroot.part" $libraries $headers openjdk-17-jre-headless
  [ "$own" = bookworm ] || one_lib_folder "$dir/sysroot.part"
  make_links_relative "$dir/sysroot.part"
  echo "$packages" >"$dir/sysroot.part/packages"
  rm -rf "$dir/sysroot"
  mv "$dir/sysroot.part" "$dir/sysroot"
}

# shellcheck disable=SC2086
newer_sysroot() {
  part=$dir/sysroot-$1.part
  rm -rf "$part"
  unpack arm64 "$(suite "$1")" "$part" $hotspot_libraries "openjdk-$1-jre-headless"
  unpack arm64 bookworm "$part" $libraries
  one_lib_folder "$part"
  make_links_relative "$part"
  mv "$part" "$dir/sysroot-$1"
}

[ "$(uname -m)" = aarch64 ] || once "$dir/qemu-aarch64" emulator
# An older walkhammer needed fewer packages.
[ "$(cat "$dir/sysroot/packages" 2>/dev/null)" = "$packages" ] || sysroot
for feature in $features; do
  [ "$feature" = 17 ] || once "$dir/sysroot-$feature" newer_sysroot "$feature"
done
