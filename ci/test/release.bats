#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What is installed: it works in any folder, and ci/release/check.sh notices each breach of what a
# release promises.
# shellcheck disable=SC2154  # bats and lib.bash set these variables

load lib

# program NAME FLAG...: a program or library of $tree, of the C text on stdin.
program() {
  gcc -x c - -x none -o "$tree/$1" "${@:2}"
}

empty_tree() {
  tree="$tmp/a tree"
  mkdir "$tree"
}

# A tree whose parts are sound on this machine: a program that finds its library beside itself.
sound_tree() {
  empty_tree
  echo 'int one(void) { return 1; }' | program libone.so -shared -Wl,-soname,libone.so
  echo 'int one(void); int main(void) { return one(); }' |
    program main "$tree/libone.so" "-Wl,-rpath,\$ORIGIN"
}

@test "a sound tree passes the check, and one without programs does not" {
  sound_tree
  run -0 "$root/ci/release/check.sh" "$tree" 2.99
  [[ "$output" == "check: 2 programs and libraries are sound"* ]]
  rm "$tree"/*
  run -1 "$root/ci/release/check.sh" "$tree" 2.99
  [[ "$output" == *"has no program"* ]]
  run -2 "$root/ci/release/check.sh"
}

@test "the check names a library that is not in the tree, and one that is not to be found" {
  sound_tree
  echo 'int zlibVersion(void); int main(void) { return zlibVersion(); }' | program zlib -lz
  run -1 "$root/ci/release/check.sh" "$tree" 2.99
  is "$output" "zlib: needs libz.so.1"
  rm "$tree/zlib" "$tree/libone.so"
  run -1 "$root/ci/release/check.sh" "$tree" 2.99
  [[ "$output" == *"main: needs libone.so"* && "$output" == *"main: libone.so => not found"* ]]
}

@test "the check names symbols that are newer than the C library of the oldest system" {
  sound_tree
  echo '#include <stdlib.h>
    int main(void) { return atexit(0) + (getenv("A") != 0); }' | program old
  rm "$tree/main" "$tree/libone.so"
  # main itself moved in 2.34
  run "$root/ci/release/check.sh" "$tree" 2.33
  [ "$status" -eq 1 ] || skip "this machine's C library is older than 2.34"
  is "$output" "old: __libc_start_main of glibc 2.34"
  run -0 "$root/ci/release/check.sh" "$tree" 2.34
}

@test "the check names the undefined symbols of a library" {
  sound_tree
  echo 'int nobody(void); int two(void) { return nobody(); }' | program libtwo.so -shared
  run -1 "$root/ci/release/check.sh" "$tree" 2.99
  [[ "$output" == "libtwo.so: undefined symbol: nobody"* ]]
}

@test "the check asks the loader of another machine about its programs" {
  export WALKHAMMER_EMULATOR=${WALKHAMMER_AARCH64:-${XDG_CACHE_HOME:-$HOME/.cache}/walkhammer/aarch64}/qemu-aarch64
  export WALKHAMMER_SYSROOT=${WALKHAMMER_EMULATOR%/*}/sysroot
  command -v aarch64-linux-gnu-gcc >/dev/null || skip 'no cross compiler'
  [ -x "$WALKHAMMER_EMULATOR" ] || skip 'no emulator'
  empty_tree
  gcc() { aarch64-linux-gnu-gcc "$@"; }
  echo 'int one(void) { return 1; }' | program libone.so -shared
  run -0 "$root/ci/release/check.sh" "$tree" 2.99
  echo 'int nobody(void); int two(void) { return nobody(); }' | program libtwo.so -shared
  run -1 "$root/ci/release/check.sh" "$tree" 2.99
  [[ "$output" == "libtwo.so: undefined symbol: nobody"* ]]
}

@test "the check names files that tell where they were built" {
  sound_tree
  echo "built in $root/build" >"$tree/a file.txt"
  run -1 "$root/ci/release/check.sh" "$tree" 2.99
  is "${lines[-1]}" "a file.txt: names $root"
  run -1 grep -v '^a file.txt: names ' <<<"$output"
}

@test "the installed command says that a system without glibc cannot run it" {
  mkdir -p "$tmp/at/bin" "$tmp/at/lib/walkhammer"
  sed 's|^loader=.*|loader=/none/ld.so|; s/aarch64 \]/none ]/' "$root/ci/release/walkhammer.sh" >"$tmp/at/bin/walkhammer"
  printf '#!/bin/sh\necho "ran: $*"\n' >"$tmp/at/lib/walkhammer/walkhammer"
  chmod +x "$tmp"/at/*/walkhammer "$tmp/at/lib/walkhammer/walkhammer"
  one_sentence 3 "lacks /none/ld.so: walkhammer needs glibc" "$tmp/at/bin/walkhammer" fuzz
  cp "$root/ci/release/walkhammer.sh" "$tmp/at/bin/walkhammer"
  run -0 "$tmp/at/bin/walkhammer" 'one word' two
  is "$output" "ran: one word two"
}

# A tree as it is installed, with next to nothing in it.
small_tree() {
  tree="$tmp/a tree"
  home=$tree/lib/walkhammer
  mkdir -p "$tree"/{bin,include/asgst,lib/pkgconfig,share/doc/walkhammer,share/zsh/site-functions} "$home"
  echo 'int main(void) { return 0; }' | program lib/walkhammer/walkhammer
  echo 'int one(void) { return 1; }' | program lib/libasgst.so.1.2.3 -shared -Wl,-soname,libasgst.so.0
  ln -s libasgst.so.1.2.3 "$tree/lib/libasgst.so.0"
  ln -s libasgst.so.0 "$tree/lib/libasgst.so"
  ln -s ../libasgst.so.0 "$home/libasgst.so"
  ln -s ../lib/walkhammer/walkhammer "$tree/bin/walkhammer"
  echo 'int one(void);' >"$tree/include/asgst/asgst.h"
  sed 's/@PROJECT_VERSION@/1.2.3/' "$root/harness/asgst/asgst.pc.in" >"$tree/lib/pkgconfig/asgst.pc"
  for file in share/doc/walkhammer/{LICENSE,CHANGELOG.md} share/zsh/site-functions/_walkhammer; do
    echo "$file" >"$tree/$file"
  done
}

@test "the packages hold the tree, each file once, where Debian wants it" {
  command -v dpkg-deb >/dev/null || skip 'this system has no dpkg-deb'
  small_tree
  [ "$(id -u)" -ne 0 ] || chown -hR 12345 "$tree"
  SOURCE_DATE_EPOCH=4102444800 run -0 "$root/ci/release/deb.sh" "$tree" "$tmp/to"
  is "${#lines[@]}" 3
  for package in "${lines[@]}"; do
    is "$(dpkg-deb -f "$package" Version)" 1.2.3-0.1
    [[ "$(dpkg-deb -f "$package" Depends)" =~ ^(libc6 \(>= 2\.31\)|libasgst0 \(= 1\.2\.3-0\.1\))$ ]]
    [[ "$(dpkg-deb -f "$package")" != *@* || "$(dpkg-deb -f "$package" Maintainer)" == *@* ]]
    is "$(TZ=UTC dpkg-deb -c "$package" | grep -cv '^[dl-][rwx-]* root/root .* 2100-01-01 00:00 \./')" 0
    dpkg-deb -x "$package" "$tmp/x $(dpkg-deb -f "$package" Package)"
    (cd "$tmp/x $(dpkg-deb -f "$package" Package)" && dpkg-deb -I "$package" md5sums | md5sum -c --quiet)
  done
  at=$tmp/x\ walkhammer/usr
  "$at/bin/walkhammer"
  [ ! -L "$at/lib/walkhammer/libasgst.so" ]
  is "$(cat "$at/share/zsh/vendor-completions/_walkhammer")" share/zsh/site-functions/_walkhammer
  is "$(zcat "$at/share/doc/walkhammer/changelog.gz")" share/doc/walkhammer/CHANGELOG.md
  find "$tmp"/x* ! -type d -printf '%P\n' | sort >"$tmp/all"
  is "$(grep -cE 'LICENSE|CHANGELOG|site-functions' "$tmp/all")" 0
  is "$(uniq -d "$tmp/all")" "" 'files of two packages'
  # as apt would unpack both of them
  cp -a "$tmp/x libasgst0/." "$tmp/x libasgst-dev/"
  echo '#include <asgst.h>
    int main(void) { return one() - 1; }' >"$tmp/client.c"
  export PKG_CONFIG_SYSROOT_DIR="$tmp/x-dev"
  mv "$tmp/x libasgst-dev" "$tmp/x-dev"
  libraries=$(dirname "$tmp"/x-dev/usr/lib/*/libasgst.so)
  # shellcheck disable=SC2046  # words
  gcc "$tmp/client.c" $(pkg-config --with-path="$libraries/pkgconfig" --cflags --libs asgst) \
    -L"$libraries" -o "$tmp/client"
  LD_LIBRARY_PATH=$libraries "$tmp/client"
}

@test "the same tree gives the same packages, byte by byte" {
  command -v dpkg-deb >/dev/null || skip 'this system has no dpkg-deb'
  small_tree
  export SOURCE_DATE_EPOCH=86400
  "$root/ci/release/deb.sh" "$tree" "$tmp/one"
  cp -r "$tree" "$tmp/other tree"
  (umask 077 && "$root/ci/release/deb.sh" "$tmp/other tree" "$tmp/two")
  diff -r "$tmp/one" "$tmp/two"
  SOURCE_DATE_EPOCH=86401 "$root/ci/release/deb.sh" "$tree" "$tmp/three"
  run -1 diff -rq "$tmp/one" "$tmp/three"
  is "${#lines[@]}" 3
  run -2 "$root/ci/release/deb.sh" "$tmp" "$tmp/four"
}

@test "what is installed works in a folder with a blank, and through a link" {
  built=$(dirname "$walkhammer")
  [ -e "$built/cmake_install.cmake" ] || skip "$built is not a build folder"
  cmake --install "$built" --prefix "$tmp/before" >/dev/null
  mv "$tmp/before" "$tmp/a place"
  ln -s "$tmp/a place/bin/walkhammer" "$tmp/wh"
  cd /
  run -0 "$tmp/wh" show workloads
  [[ "$output" == *torture:mixed* ]]
  run -0 pkg-config --with-path="$tmp/a place/lib/pkgconfig" --modversion asgst
  [[ "$("$tmp/wh" --version)" == "walkhammer $output"* ]]
  share=$tmp/a\ place/share
  [ "$(find "$share/man/man1" -name '*.1.gz' | wc -l)" -eq 20 ]
  gunzip -c "$share/man/man1/walkhammer-bugs-check.1.gz" | grep -q '^.TH WALKHAMMER-BUGS-CHECK 1 '
  # Without a name and a time, so that two builds make the same.
  is "$(head -c 8 "$share/man/man1/walkhammer.1.gz" | od -An -tx1 | tr -d ' ')" 1f8b080000000000
  completion=$root/harness/cli/completion
  diff "$completion/walkhammer.bash" "$share/bash-completion/completions/walkhammer"
  diff "$completion/_walkhammer" "$share/zsh/site-functions/_walkhammer"
  diff "$completion/walkhammer.fish" "$share/fish/vendor_completions.d/walkhammer.fish"
  cd "$tmp"
  unset WALKHAMMER
  run "$tmp/a place/lib/walkhammer/ci/gate.sh" /none /none
  [ "$status" -ne 0 ]
  [[ "$output" == *"/none"* && "$output" != *"build it"* ]] # the command says what is wrong
  need_jdk
  run "$tmp/wh" fuzz --jdk "$jdk" --time 2s --confirm-time 6s
  echo "$status: $output"
  [ "$status" -le 1 ]
  [[ "$output" =~ (KNOWN|CLEAN|FINDINGS):\  ]]
  [[ "$output" == *"Page  out/20"* ]]
  [[ "$output" != *"$built"* ]] # nothing of it is used
  next=$(sed -n 's/^Next  //p' <<<"$output")
  [ -z "$next" ] || eval "$next"
}

@test "a release for a machine that cannot be built for is refused before anything is built" {
  one_sentence 2 "no release for sparc" "$root/ci/release.sh" --for sparc
  run ! "$root/ci/release.sh" --for
  [[ "$output" == *"--for must name"* ]]
}

@test "--version says what this walkhammer is" {
  run -0 "$walkhammer" --version
  [[ "${lines[0]}" =~ ^walkhammer\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
  [[ "${lines[1]}" =~ ^commit\ +([0-9a-f]{7,}\ of\ 20[0-9-]{8}(, with changes)?|unknown)$ ]]
  [[ "${lines[2]}" =~ ^compiler\ +(g\+\+|clang)\ [0-9] ]]
  [[ "${lines[4]}" =~ ^features\ +libasgst ]]
}
