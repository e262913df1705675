#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes Debian packages of the tree that ci/release.sh installs: ci/release/deb.sh TREE FOLDER.
#   walkhammer     the command and its parts, a libasgst.so among them
#   libasgst0      libasgst.so, for profilers that are linked with it
#   libasgst-dev   its headers and asgst.pc
# They run where the tree runs, so one file serves each Debian since 11. $SOURCE_DATE_EPOCH is the time
# of all that is in them (default: the commit's), so two runs give the same files. $DEBFULLNAME and
# $DEBEMAIL say who makes them (default: the commit's author). Prints the paths of the packages.
# Exit codes: 0 done, 1 it failed, 2 usage.
set -eu
[ "${1:-}" != --help ] || exec sed -n '3,/^set/s/^# \{0,1\}//p' "$0"
if [ "$#" -ne 2 ] || [ ! -e "$1/lib/pkgconfig/asgst.pc" ]; then
  echo "deb: expected an installed tree and a folder, got $*" >&2
  exit 2
fi
tree=$(cd "$1" && pwd)
to=$(realpath -m "$2")
cd "$(dirname "$0")/../.."

# Below -1: a package that Debian makes itself would replace it.
version=$(sed -n 's/^Version: //p' "$tree/lib/pkgconfig/asgst.pc")-0.1
case $(od -An -tx1 -j18 -N1 "$tree/lib/walkhammer/walkhammer") in # the ELF header's e_machine
  *3e) architecture=amd64 triplet=x86_64-linux-gnu ;;
  *b7) architecture=arm64 triplet=aarch64-linux-gnu ;;
esac
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
maintainer="${DEBFULLNAME:-$(git log -1 --format=%an)} <${DEBEMAIL:-$(git log -1 --format=%ae)}>"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# fill FILE SIZE: prints a file of ci/release/debian with its blanks filled in.
fill() {
  sed "s|@VERSION@|$version|; s|@ARCHITECTURE@|$architecture|; s|@MAINTAINER@|$maintainer|
    s|@SIZE@|$2|; s|@YEAR@|$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y)|" "ci/release/debian/$1"
}

changelog() {
  printf 'walkhammer (%s) unstable; urgency=medium\n\n' "$version"
  printf '  * Release %s. What is new in it: changelog.gz of the package walkhammer.\n\n' "${version%-*}"
  printf ' -- %s  %s\n' "$maintainer" "$(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")"
}

# kilobytes ROOT: its size as the policy counts it: each file is rounded up, a folder counts 1.
kilobytes() {
  find "$1" -type f -printf '%s\n' -o -printf '1\n' |
    awk '{ sum += int(($1 + 1023) / 1024) } END { print sum }'
}

# package NAME: makes the package of what $work/NAME holds, and prints its path.
package() {
  root=$work/$1
  doc=$root/usr/share/doc/$1
  mkdir -p "$doc" "$root/DEBIAN"
  fill copyright 0 >"$doc/copyright"
  changelog | gzip -9n >"$doc/changelog.Debian.gz"
  if [ -e "ci/release/debian/$1.overrides" ]; then
    mkdir -p "$root/usr/share/lintian/overrides"
    cp "ci/release/debian/$1.overrides" "$root/usr/share/lintian/overrides/$1"
  fi
  (cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum >DEBIAN/md5sums)
  fill "$1.control" "$(kilobytes "$root/usr")" >"$root/DEBIAN/control"
  chmod -R u=rwX,go=rX "$root"
  find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
  # How many threads compress would show in the file.
  dpkg-deb --root-owner-group --threads-max=1 -Zxz --build "$root" \
    "$to/$1_${version}_$architecture.deb" >/dev/null
  echo "$to/$1_${version}_$architecture.deb"
}

# The command has its own libasgst.so, so that its package needs no other of these.
command_files() {
  root=$work/walkhammer/usr
  mkdir -p "$root/lib"
  cp -a "$tree/bin" "$tree/share" "$root/"
  cp -a "$tree/lib/walkhammer" "$root/lib/"
  rm "$root/lib/walkhammer/libasgst.so" "$root/share/doc/walkhammer/LICENSE"
  cp -L "$tree/lib/libasgst.so.0" "$root/lib/walkhammer/libasgst.so"
  gzip -9n <"$tree/share/doc/walkhammer/CHANGELOG.md" >"$root/share/doc/walkhammer/changelog.gz"
  rm "$root/share/doc/walkhammer/CHANGELOG.md"
  [ ! -d "$root/share/zsh" ] || mv "$root/share/zsh/site-functions" "$root/share/zsh/vendor-completions"
}

library_files() {
  libraries=$work/libasgst0/usr/lib/$triplet
  mkdir -p "$libraries" "$work/libasgst0/DEBIAN"
  cp -a "$tree"/lib/libasgst.so.* "$libraries/"
  echo "libasgst 0 libasgst0 (>= ${version%-*})" >"$work/libasgst0/DEBIAN/shlibs"
  echo 'activate-noawait ldconfig' >"$work/libasgst0/DEBIAN/triggers"
}

header_files() {
  libraries=$work/libasgst-dev/usr/lib/$triplet
  mkdir -p "$libraries/pkgconfig"
  cp -a "$tree/include" "$work/libasgst-dev/usr/"
  cp -a "$tree/lib/libasgst.so" "$libraries/"
  sed "s|^prefix=.*|prefix=/usr|; s|^libdir=.*|libdir=\${prefix}/lib/$triplet|" \
    "$tree/lib/pkgconfig/asgst.pc" >"$libraries/pkgconfig/asgst.pc"
}

mkdir -p "$to"
command_files
library_files
header_files
for name in walkhammer libasgst0 libasgst-dev; do
  package "$name"
done
