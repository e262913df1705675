# SPDX-License-Identifier: Apache-2.0
# The release in bare machines: builds it (ci/release.sh), unless WALKHAMMER_RELEASE names a folder
# with its files, and takes it to a minimal Debian of each of WALKHAMMER_SUITES (default: bullseye
# bookworm trixie sid).
#   packages   apt installs walkhammer, and what it recommends: a JVM. `fuzz` gives a verdict, lintian
#              has nothing to say, and a client compiles with libasgst-dev and runs
#   tarball    in a folder with a blank in its name, with that Debian's newest JDK, `fuzz` and `stress`
#              give a verdict
# A tarball for aarch64 beside it (ci/release.sh --for aarch64) runs under qemu, with the C library and
# JDK 17 of Debian 11: there `fuzz` gives a verdict. That takes Linux 6.7.
# Each run walks for WALKHAMMER_TIME (default: 15s); a verdict may be known or new. Fails also if the
# tree breaks a promise of ci/release/check.sh, or if the first verdict takes more than
# WALKHAMMER_BOUND seconds (default: 60). Needs root and 4 GB below ${TMPDIR:-/tmp}, which it frees.
# shellcheck shell=sh
# shellcheck disable=SC2154  # ci/soak.sh sets them
cannot() {
  lacks "$1"
}
# shellcheck source=ci/setup/bare_root.sh
. ci/setup/bare_root.sh
cleanup() { end_inside; }
reason=$(why_no_bare_root)
[ -z "$reason" ] || lacks "$reason"

files=${WALKHAMMER_RELEASE:-}
if [ -z "$files" ]; then
  files=$out
  ci/release.sh "$out" >"$out/build.log" 2>&1 || fail "ci/release.sh: see $out/build.log"
fi
tarball=$(find "$files" -maxdepth 1 -name "*-linux-$(uname -m).tar.gz")

# inside SUITE COMMAND...: runs COMMAND in the root of SUITE, in root's home.
inside() {
  root=$work/$1
  shift
  in_root "$root" root . env DEBIAN_FRONTEND=noninteractive "$@"
}

# installs SUITE PACKAGE...: false, and a failure, if apt cannot install these.
installs() {
  suite=$1
  shift
  { inside "$suite" apt-get -q -o Acquire::Retries=3 update &&
    inside "$suite" apt-get -q -o Acquire::Retries=3 install -y "$@"; } >>"$out/$suite-apt.log" 2>&1 && return
  fail "$suite: apt-get install $*: see $out/$suite-apt.log"
  return 1
}

# jdk_package SUITE: the newest JDK of that Debian that is not an early access.
jdk_package() {
  inside "$1" apt-cache search --names-only '^openjdk-[0-9]*-jdk-headless$' |
    sed -n 's/^openjdk-\([0-9]*\)-.*/\1/p' | grep -xE '8|11|17|21|25' | sort -n |
    sed -n '$s/.*/openjdk-&-jdk-headless/p'
}

# verdict SUITE NAME LOG: the first word that the run printed; fails the soak if it is not a verdict.
verdict() {
  word=$(sed -n 's/^\(KNOWN\|CLEAN\|FINDINGS\): .*/\1/p' "$3" | head -n 1)
  if [ -n "$word" ]; then
    good=$((good + 1))
    echo "$1: $2: $(grep -m 1 "^$word: " "$3")"
  else
    fail "$1: $2 gave no verdict: $(tail -n 1 "$3")"
  fi
}

# runs SUITE NAME FOLDER VERB ARGUMENT...: runs $command in that folder of root's home; $took is how
# long it took.
runs() {
  suite=$1 name=$2 folder=$3
  shift 3
  wanted=$((wanted + 1))
  log=$out/$suite-$name.log
  began=$(date +%s)
  code=0
  in_root "$work/$suite" root "$folder" "$command" "$@" >"$log" 2>&1 || code=$?
  took=$(($(date +%s) - began))
  [ "$code" -le 1 ] || fail "$suite: $name ended with $code"
  verdict "$suite" "$name, $took s" "$log"
}

# client SUITE: a C program finds the headers and the library as programs do.
client() {
  installs "$1" gcc libc6-dev pkg-config default-jdk-headless || return 0
  cat >"$work/$1/root/client.c" <<'END'
#include <asgst.h>
#include <stdio.h>
int main(void) {
  ASGST_CallFrame frames[1];
  ASGST_CallTrace trace = {0, frames, NULL};
  AsyncGetStackTrace(&trace, 1, NULL, 0);
  printf("%d", trace.num_frames);
  return trace.num_frames != ASGST_NO_CLASS_LOAD;
}
END
  # shellcheck disable=SC2016  # for the shell in the root
  inside "$1" sh -euc 'jdk=/usr/lib/jvm/default-java/include
    gcc client.c $(pkg-config --cflags --libs asgst) -I$jdk -I$jdk/linux -o client && ./client
    sed "s|<asgst|<asgst/asgst|" client.c >plain.c
    gcc plain.c -lasgst -I$jdk -I$jdk/linux -o plain && ./plain' >"$out/$1-client.log" 2>&1 ||
    fail "$1: no client of libasgst-dev: $(tail -n 1 "$out/$1-client.log")"
}

# packages SUITE: what apt makes of the packages, and lintian's opinion of them.
packages() {
  home=$work/$1/root
  cp "$files"/*_"$(dpkg --print-architecture)".deb "$home/"
  installs "$1" "$(cd "$home" && ls ./walkhammer_*)" || return 0
  command=walkhammer
  runs "$1" package . fuzz --time "${WALKHAMMER_TIME:-15s}" --confirm-time 20s
  [ "$took" -le "${WALKHAMMER_BOUND:-60}" ] || fail "$1: $took s to the first verdict"
  # shellcheck disable=SC2046  # two names
  ! installs "$1" $(cd "$home" && ls ./libasgst*) || client "$1"
  lint "$1"
  inside "$1" apt-get -q -y purge walkhammer libasgst0 >>"$out/$1-apt.log" 2>&1
  left=$(find "$work/$1/usr" -name '*walkhammer*' -o -name '*asgst*')
  [ -z "$left" ] || fail "$1: purge leaves $left"
}

# lint SUITE: lintian has nothing to say. The policies of Debian 11 and of unstable are not ours.
lint() {
  case $1 in
    bullseye | sid) return ;;
  esac
  installs "$1" lintian || return 0
  inside "$1" sh -c 'lintian --fail-on error,warning ./*.deb' >"$out/$1-lintian.log" 2>&1 ||
    fail "$1: lintian: $(tail -n 1 "$out/$1-lintian.log")"
}

# unpacked SUITE: the tarball, with the newest JDK.
unpacked() {
  mkdir "$work/$1/root/a folder"
  tar -xzf "$tarball" -C "$work/$1/root/a folder"
  folder="a folder/$(basename "$tarball" .tar.gz)"
  [ -n "$checked" ] || ci/release/check.sh "$work/$1/root/$folder" || fail 'ci/release/check.sh'
  checked=yes
  installs "$1" --no-install-recommends "$(jdk_package "$1")" || return 0
  command=bin/walkhammer
  runs "$1" fuzz "$folder" fuzz --time "${WALKHAMMER_TIME:-15s}" --confirm-time 20s
  [ "$took" -le "${WALKHAMMER_BOUND:-60}" ] || fail "$1: $took s to the first verdict"
  runs "$1" stress "$folder" stress --workload torture:mixed --time "${WALKHAMMER_TIME:-15s}"
}

# arm_root ROOT: as much of Debian 11 for aarch64 as a shell and JDK 17 need.
arm_root() {
  # shellcheck disable=SC2154,SC2086  # a list of ci/setup/debian_packages.sh
  unpack arm64 bullseye "$1" $hotspot_libraries busybox-static openjdk-17-jre-headless || return 1
  one_lib_folder "$1"
  make_links_relative "$1"
  mkdir -p "$1/proc" "$1/dev" "$1/tmp" "$1/root" "$1/binfmt"
  for tool in sh env readlink dirname uname; do
    ln -s busybox "$1/bin/$tool"
  done
}

# What the kernel must start by an emulator: ELF programs and libraries of aarch64.
arm_programs=':aarch64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
arm_programs=$arm_programs':\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'

# in_arm ROOT COMMAND...: runs COMMAND there. The kernel knows the emulator in a user namespace alone,
# so no other process of this machine meets it.
in_arm() {
  root=$1
  shift
  # shellcheck disable=SC2016  # the other shell's
  unshare --user --map-root-user --mount --pid --fork --kill-child sh -euc '
    root=$1
    mount -t binfmt_misc none "$root/binfmt"
    printf %s "$2" >"$root/binfmt/register"
    shift 2
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    exec chroot "$root" /bin/env -i HOME=/root PATH=/bin QEMU_CPU=neoverse-n1 "$@"
  ' sh "$root" "$arm_programs:$emulator:PF" "$@" </dev/null
}

# arm NAME VERB ARGUMENT...: walkhammer in that root; fails the soak if it cannot do that.
arm() {
  name=$1
  shift
  code=0
  in_arm "$work/arm" "$command" "$@" >"$out/aarch64-$name.log" 2>&1 || code=$?
  [ "$code" -le 1 ] || fail "aarch64: $name ended with $code: see $out/aarch64-$name.log"
}

# emulated TARBALL: starts its programs; `fuzz` also starts those that work inside of a JVM.
emulated() {
  emulator=${WALKHAMMER_AARCH64:-${XDG_CACHE_HOME:-$HOME/.cache}/walkhammer/aarch64}/qemu-aarch64
  arm_root "$work/arm" || lacks 'packages for aarch64 cannot be downloaded'
  tar -xzf "$1" -C "$work/arm/root"
  command=/root/$(basename "$1" .tar.gz)/bin/walkhammer
  wanted=$((wanted + 1))
  arm version --version
  arm fuzz fuzz --time "${WALKHAMMER_TIME:-15s}" --out /root/run --no-confirm --no-minimize
  grep -q 'g++ .*for aarch64' "$out/aarch64-version.log" || fail 'aarch64: it is for another machine'
  verdict aarch64 fuzz "$out/aarch64-fuzz.log"
}

good=0
wanted=0
checked=
for suite in ${WALKHAMMER_SUITES:-bullseye bookworm trixie sid}; do
  make_bare "$suite" "$work/$suite"
  packages "$suite"
  unpacked "$suite"
  rm -rf --one-file-system "${work:?}/$suite"
done
for tarball in "$files"/*-linux-aarch64.tar.gz; do
  [ "$(uname -m)" = aarch64 ] || [ ! -e "$tarball" ] || emulated "$tarball"
done
echo "$good of $wanted runs gave a verdict"
