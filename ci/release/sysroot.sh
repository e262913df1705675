#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Unpacks, without installing, what releases for ARCH, x86_64 or aarch64, are linked with:
# ci/release/sysroot.sh DIR ARCH.
#   Debian 12's headers and static libraries
#   Debian 11's C library, and its unwinder: Debian 12's calls _dl_find_object of glibc 2.35
#   elfutils, compiled from Debian 12's source: Debian's static ones fit programs, not libraries
# A DIR of the same packages is left as it is. Needs m4.
# Exit codes: 0 done, 1 elfutils does not build, 2 usage, 3 packages cannot be downloaded.
set -eu
[ "${1:-}" != --help ] || exec sed -n '3,/^set/s/^# \{0,1\}//p' "$0"
dir=${1:?usage: ci/release/sysroot.sh DIR ARCH}
triplet=${2:?usage: ci/release/sysroot.sh DIR ARCH}-linux-gnu
part=$dir.part
apt_trees=$dir.apt
apt_kinds='deb deb-src'
# shellcheck source=ci/setup/debian_packages.sh
. "$(dirname "$0")/../setup/debian_packages.sh"

libraries='libstdc++-12-dev libboost1.74-dev libbz2-dev libcapstone-dev libcli11-dev libdw-dev
  libelf-dev libfmt-dev libfmt9 liblzma-dev libsqlite3-dev libtomlplusplus-dev nlohmann-json3-dev
  zlib1g-dev'
prefix=
if [ "$triplet" != "$(g++ -print-multiarch)" ]; then
  prefix=$triplet-
  libraries="$libraries libclang-rt-14-dev" # this machine's clang brings its own
fi
c_library='libc6 libc6-dev linux-libc-dev libgcc-10-dev'
packages="$libraries $c_library elfutils"
[ "$(cat "$dir/packages" 2>/dev/null)" != "$packages" ] || exit 0

case $2 in
  x86_64) architecture=amd64 ;;
  aarch64) architecture=arm64 ;;
  *)
    echo "sysroot: expected x86_64 or aarch64, got $2" >&2
    exit 2
    ;;
esac
static=$part/usr/lib/$triplet

# shellcheck disable=SC2086  # lists of words
unpack_all() {
  unpack "$architecture" bookworm "$part" $libraries
  unpack "$architecture" bullseye "$part" $c_library
  one_lib_folder "$part"
  make_links_relative "$part"
  # The C library stays shared, so its static files must not be found.
  for name in anl c crypt dl g m m-2.31 mcheck mvec nsl pthread resolv rt util; do
    rm -f "$static/lib$name.a"
  done
  mv "$part/usr/lib/gcc/$triplet/10/libgcc_eh.a" "$static/"
}

# build_elfutils: libelf.a and libdw.a that may be linked into shared libraries.
build_elfutils() {
  sources=$(mktemp -d)
  trap 'rm -rf "$sources"' EXIT
  (
    cd "$sources"
    apt_tree "$architecture" bookworm source --download-only elfutils
    tar -xf elfutils_*.orig.tar.bz2
  ) >"$part/elfutils.log" 2>&1 || return 3
  # A cross compiler prefers the headers of its own C library.
  cc="${prefix}gcc --sysroot=$part -B$static -L$static"
  [ -z "$prefix" ] || cc="$cc -nostdinc -isystem $("${prefix}gcc" -print-file-name=include) \
    -isystem $part/usr/include/$triplet -isystem $part/usr/include"
  (
    cd "$sources"/elfutils-*/
    ./configure --disable-debuginfod --disable-libdebuginfod --disable-nls --without-bzlib \
      --without-lzma --without-zstd --host="$triplet" CC="$cc" CXX="${prefix}g++${cc#*gcc}" CFLAGS='-O2 -fPIC -w'
    for library in lib/libeu libelf/libelf libcpu/libcpu backends/libebl_backends libebl/libebl \
      libdwelf/libdwelf libdwfl/libdwfl libdw/libdw; do
      make -C "${library%/*}" -j "$(nproc)" "${library#*/}.a"
    done
    cp libelf/libelf.a libdw/libdw.a "$static/"
  ) >>"$part/elfutils.log" 2>&1 || return 1
}

rm -rf "$part" "$dir"
mkdir -p "$(dirname "$dir")"
unpack_all
build_elfutils || {
  code=$?
  tail -n 20 "$part/elfutils.log" >&2
  exit "$code"
}
# shellcheck disable=SC2086  # words
$cc -O2 -fPIC -c "$(dirname "$0")/older_glibc.c" -o "$part/older_glibc.o"
rm -rf "$apt_trees"
echo "$packages" >"$part/packages"
mv "$part" "$dir"
