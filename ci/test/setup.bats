#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ci/setup.sh on systems without apt-get: it says what is missing, and nothing that is there.
# shellcheck disable=SC2154  # bats and lib.bash set these variables

load lib

# A system whose only programs are a shell's and those given. Each answers as its text says.
setup() {
  mkdir "$tmp/bin"
  for tool in cat dirname env grep id sed sh tr; do
    ln -s "$(command -v "$tool")" "$tmp/bin/"
  done
}

# has PROGRAM TEXT: adds a program that prints TEXT.
has() {
  printf '#!/bin/sh\necho "%s"\n' "$2" >"$tmp/bin/$1"
  chmod +x "$tmp/bin/$1"
}

set_up() {
  run -"$1" --separate-stderr env -i PATH="$tmp/bin" "$root/ci/setup.sh" "${@:2}"
  echo "$output $stderr"
  [ -z "$output" ]
}

has_all_programs() {
  has cmake ok
  has g++ ok
  has ninja ok
  ln -s /bin/true "$tmp/bin/pkg-config" # each module exists
  has javac "javac 21.0.1"
}

@test "without apt-get, the set-up names what is missing by the names of two systems" {
  has ninja ok
  set_up 3 run
  [[ "$stderr" == *"Fedora needs: dnf install "*"'pkgconfig(capstone)'"*"'gcc-c++'"*"'pkgconf-pkg-config'"* ]]
  [[ "$stderr" == *"openSUSE needs: zypper install "*"'pkgconfig(libdw)'"*"'java-21-openjdk-devel'"* ]]
  [[ "$stderr" != *ninja* ]]
}

@test "without apt-get, a machine that has everything is set up to run, and not to test" {
  [ -e /usr/include/boost/math/distributions.hpp ] || skip "this machine lacks Boost.Math"
  has_all_programs
  set_up 0 run
  is "$stderr" "setup: everything is installed"
  set_up 3
  [[ "$stderr" == *"tests"*"libgtest-dev"* ]]
  [[ "$stderr" != *dnf* ]]
}

@test "a JDK before 17 builds no jars, and JAVA_HOME goes before PATH" {
  has_all_programs
  has javac "javac 11.0.2"
  set_up 3 run
  [[ "$stderr" == *"'java-latest-openjdk-devel'"* ]]
  [[ "$stderr" != *cmake* ]]
  has javac "javac 17.0.2"
  mkdir -p "$tmp/jdk/bin"
  printf '#!/bin/sh\necho "javac 1.8.0_402"\n' >"$tmp/jdk/bin/javac"
  chmod +x "$tmp/jdk/bin/javac"
  run -3 env -i PATH="$tmp/bin" JAVA_HOME="$tmp/jdk" "$root/ci/setup.sh" run
  [[ "$output" == *"'java-latest-openjdk-devel'"* ]]
}

@test "the second of two scripts that fill one folder waits for the first" {
  # Another holds the folder until it may go.
  sh -c 'exec 9>"$0/.lock"; flock 9; touch "$0/held"
    until [ -e "$0/go" ]; do sleep 0.1; done' "$tmp" 3>&- &
  until [ -e "$tmp/held" ]; do sleep 0.1; done
  "$root/ci/setup/jdks.sh" --dir "$tmp" 17.0.15 >"$tmp/said" 2>&1 3>&- &
  second=$!
  sleep 1
  kill -0 "$second"
  [ ! -s "$tmp/said" ]
  touch "$tmp/go"
  wait "$second" || [ "$?" -eq 3 ]
  [ -s "$tmp/said" ]
}
