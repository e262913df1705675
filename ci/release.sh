#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds walkhammer-VERSION-linux-ARCH.tar.gz of this checkout, which runs on each Linux of that
# architecture with glibc 2.31 or newer, in any folder, and the Debian packages walkhammer, libasgst0
# and libasgst-dev of the same files: ci/release.sh [--for ARCH] [FOLDER].
#   --for ARCH   this machine's (default), or aarch64, cross-built on x86_64
#   FOLDER       where they go (default: build/dist, with --for another machine build/dist-ARCH)
# Needs Debian 12, after ci/setup.sh, or ci/setup.sh aarch64.
# docs/maintainers/releases.md describes the steps.
# Exit codes: 0 done, 1 it does not build or breaks a promise of ci/release/check.sh, 2 usage, 3
# packages cannot be downloaded.
set -eu
[ "${1:-}" != --help ] || exec sed -n '3,/^set/s/^# \{0,1\}//p' "$0"
arch=$(uname -m)
if [ "${1:-}" = --for ]; then
  arch=${2:?--for must name an architecture}
  shift 2
fi
case $(uname -m),$arch in
  x86_64,x86_64 | aarch64,aarch64 | x86_64,aarch64) ;;
  *)
    echo "release: this machine builds no release for $arch" >&2
    exit 2
    ;;
esac
build=build/dist
[ "$arch" = "$(uname -m)" ] || build=build/dist-$arch
to=$(realpath -m "${1:-$(dirname "$0")/../$build}")
cd "$(dirname "$0")/.."

cache=${XDG_CACHE_HOME:-$HOME/.cache}/walkhammer
WALKHAMMER_SYSROOT=$cache/release/sysroot-$arch
export WALKHAMMER_SYSROOT
ci/release/sysroot.sh "$WALKHAMMER_SYSROOT" "$arch"
if [ "$arch" != "$(uname -m)" ]; then
  emulated=${WALKHAMMER_AARCH64:-$cache/aarch64}
  ci/setup/aarch64_sysroot.sh "$emulated"
  WALKHAMMER_EMULATOR=$emulated/qemu-$arch
  export WALKHAMMER_EMULATOR
fi

# All times in the release are the commit's.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
cmake --preset dist -B "$build"
cmake --build "$build"
tree=$build/tree
rm -rf "$tree"
cmake --install "$build" --prefix "$tree" >/dev/null
ci/release/check.sh "$tree"
# Two builds of a commit give the same file: cpack, which would do, takes names as the file system
# orders them.
name=$(sed -n 's/^set(CPACK_PACKAGE_FILE_NAME "\(.*\)")$/\1/p' "$build/CPackConfig.cmake")
mkdir -p "$to"
tar -C "$build" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
  --mode=u=rwX,go=rX --transform "flags=r;s,^tree,$name," -cf - tree | gzip -9n >"$to/$name.tar.gz"
echo "$to/$name.tar.gz"
ci/release/deb.sh "$tree" "$to"
