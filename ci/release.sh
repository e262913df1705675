#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds walkhammer-VERSION-linux-ARCH.tar.gz of this checkout, which runs on each Linux of this
# machine's architecture with glibc 2.31 or newer, in any folder, and the Debian packages walkhammer,
# libasgst0 and libasgst-dev of the same files: ci/release.sh [FOLDER]. They go to FOLDER (default:
# build/dist), and the installed tree to build/dist/tree. Needs Debian 12, after ci/setup.sh.
# docs/releases.md says how it is done.
# Exit codes: 0 done, 1 it does not build or breaks a promise of ci/release/check.sh, 3 packages
# cannot be downloaded.
set -eu
[ "${1:-}" != --help ] || exec sed -n '3,/^set/s/^# \{0,1\}//p' "$0"
to=$(realpath -m "${1:-$(dirname "$0")/../build/dist}")
cd "$(dirname "$0")/.."

WALKHAMMER_SYSROOT=${XDG_CACHE_HOME:-$HOME/.cache}/walkhammer/release/sysroot-$(uname -m)
export WALKHAMMER_SYSROOT
ci/release/sysroot.sh "$WALKHAMMER_SYSROOT"

# All times in the release are the commit's.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
cmake --preset dist
cmake --build --preset dist
rm -rf build/dist/tree
cmake --install build/dist --prefix build/dist/tree >/dev/null
ci/release/check.sh build/dist/tree
# Two builds of a commit give the same file: cpack, which would do, takes names as the file system
# orders them.
name=$(sed -n 's/^set(CPACK_PACKAGE_FILE_NAME "\(.*\)")$/\1/p' build/dist/CPackConfig.cmake)
mkdir -p "$to"
tar -C build/dist --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
  --mode=u=rwX,go=rX --transform "flags=r;s,^tree,$name," -cf - tree | gzip -9n >"$to/$name.tar.gz"
echo "$to/$name.tar.gz"
ci/release/deb.sh build/dist/tree "$to"
