#!/bin/sh
# Unpacks what cross-building for aarch64 needs, and what runs there under emulation, without
# installing it: ci/aarch64_sysroot.sh DIR [FEATURE,FEATURE...] (default: 17).
#   DIR/qemu-aarch64   the emulator
#   DIR/sysroot        Debian 12's libraries and headers, and OpenJDK 17
#   DIR/sysroot-N      the C library and OpenJDK N of Debian 13, for each other FEATURE, with the
#                      libraries of DIR/sysroot that walkhammer's programs are linked with
# Takes packages from the machine's own mirror, by an apt tree of its own: the machine's apt
# configuration and what is installed stay as they are. What is there already is left alone.
# Exit codes: 3 where packages cannot be had, 2 for a wrong word.
set -eu

dir=${1:?usage: ci/aarch64_sysroot.sh DIR [FEATURE,FEATURE...]}
features=$(echo "${2:-17}" | tr ',' ' ')
for feature in $features; do
  case $feature in
    17 | 21 | 25) ;;
    *)
      echo "aarch64_sysroot: there is no OpenJDK $feature in Debian 12 or 13: choose of 17, 21, 25" >&2
      exit 2
      ;;
  esac
done
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)

# What our own programs are linked with, beside the C and C++ libraries.
libraries='libbenchmark1debian libbz2-1.0 libcapstone4 libdw1 libelf1 libfmt9 liblzma5 libsqlite3-0'
headers='libbenchmark-dev libcapstone-dev libclang-rt-14-dev libcli11-dev libdw-dev libelf-dev
  libfmt-dev libgmock-dev libgtest-dev liblzma-dev libsqlite3-dev nlohmann-json3-dev zlib1g-dev'
runtime='libc6 libgcc-s1 libstdc++6 zlib1g'

# mirror: of this machine's Debian, the first that is named.
mirror() {
  # shellcheck disable=SC2016  # apt's own variables
  apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(LABEL)' 'Created-By: Packages' |
    sed -n 's/ Debian Debian$//p' | head -n 1
}

# apt ARCHITECTURE SUITE COMMAND...: in a tree of its own; downloads land in the folder at hand.
apt() {
  tree=$dir/apt/$2-$1
  if [ ! -d "$tree" ]; then
    mkdir -p "$tree/lists/partial" "$tree/archives/partial"
    : >"$tree/status"
    echo "deb $(mirror) $2 main" >"$tree/sources.list"
  fi
  architecture=$1
  shift 2
  apt-get -q -o Acquire::Retries=3 -o Dir::Etc::SourceList="$tree/sources.list" \
    -o Dir::Etc::SourceParts=- -o Dir::State="$tree" -o Dir::State::Status="$tree/status" \
    -o Dir::Cache="$tree" -o APT::Architecture="$architecture" \
    -o APT::Architectures="$architecture" -o Acquire::Languages=none \
    -o APT::Sandbox::User=root "$@"
}

# unpack ARCHITECTURE SUITE ROOT PACKAGE...
unpack() {
  echo "aarch64_sysroot: unpacking $2's $1 packages:" >&2
  architecture=$1 suite=$2 root=$3
  shift 3
  printf '  %s\n' "$@" | fmt -w 90 >&2
  downloads=$(mktemp -d "$dir/downloads-XXXXXX")
  if ! (cd "$downloads" && apt "$architecture" "$suite" update && apt "$architecture" "$suite" download "$@") \
    >"$downloads/log" 2>&1; then
    cat "$downloads/log" >&2
    rm -rf "$downloads"
    echo "aarch64_sysroot: $suite's $architecture packages cannot be had here" >&2
    exit 3
  fi
  mkdir -p "$root"
  for package in "$downloads"/*.deb; do
    dpkg-deb -x "$package" "$root"
  done
  rm -rf "$downloads"
}

# Absolute links would lead to the files of this machine.
make_links_relative() {
  find "$1" -type l -lname '/*' | while read -r link; do
    ln -sfnr "$1$(readlink "$link")" "$link"
  done
}

# once FILE COMMAND...: what it makes is whole or not there.
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
  unpack arm64 bookworm "$dir/sysroot.part" $runtime $libraries $headers openjdk-17-jre-headless
  make_links_relative "$dir/sysroot.part"
  mv "$dir/sysroot.part" "$dir/sysroot"
}

# shellcheck disable=SC2086
newer_sysroot() {
  part=$dir/sysroot-$1.part
  rm -rf "$part"
  unpack arm64 trixie "$part" $runtime "openjdk-$1-jre-headless"
  unpack arm64 bookworm "$part" $libraries
  # Debian 13 has one folder for both, and its packages lack the link.
  cp -a "$part/lib/." "$part/usr/lib/"
  rm -rf "${part:?}/lib"
  ln -s usr/lib "$part/lib"
  make_links_relative "$part"
  mv "$part" "$dir/sysroot-$1"
}

[ "$(uname -m)" = aarch64 ] || once "$dir/qemu-aarch64" emulator
once "$dir/sysroot" sysroot
for feature in $features; do
  [ "$feature" = 17 ] || once "$dir/sysroot-$feature" newer_sysroot "$feature"
done
