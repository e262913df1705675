#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ci/examples for the harnesses of JVM teams, in the real harness, with a stand-in for walkhammer:
# what each verdict becomes. `ci/soak.sh harnesses` runs them with walkhammer itself.
# shellcheck disable=SC2154  # bats and lib.bash set these variables

load lib

setup() {
  examples=$root/ci/examples
  cd "$BATS_TEST_TMPDIR" || return
}

# needs PROGRAM...: skips the test without one of these.
needs() {
  for program; do
    command -v "$program" >/dev/null || skip "$program is not installed: ci/setup.sh harnesses"
  done
}

# need_javac: sets $jdk to a JDK that compiles.
need_javac() {
  for jdk in /usr/lib/jvm/*; do
    [ ! -x "$jdk/bin/javac" ] || return 0
  done
  skip "no JDK with a compiler in /usr/lib/jvm"
}

# stand_in CODE [ROW] [SHORT]: a release in the folder `release`, whose runs end with CODE, with a
# finding if that is 1; with SHORT, if it is the short fuzz run of a smoke test. ROW is one of
# `bugs check`.
stand_in() {
  mkdir -p release/bin
  cat >release/bin/walkhammer <<END
#!/bin/sh
code=$1
case "\$*" in *--confirm-time*) code=${3:-$1} ;; esac
echo "\$*" >>"$PWD/calls"
case \$1 in
--version) exit ;;
bugs)
  printf '%s\n' '${2:-}' '  affected by 9 of 9 known issues'
  exit 1
  ;;
esac
while [ "\$1" != --out ]; do shift; done
mkdir -p "\$2/crashes/one"
touch "\$2/run.db"
echo explained >"\$2/crashes/one/explain.txt"
echo requested >"\$2/crashes/one/input.walk"
[ \$code -ne 1 ] || echo "    walkhammer show \$2/crashes/one/input.walk"
exit \$code
END
  chmod +x release/bin/walkhammer
}

# tests_of_jtreg ARGUMENT...: runs these; what tests print is in .jtr files of the folder work.
tests_of_jtreg() {
  rm -rf work
  run jtreg -agentvm "-jdk:$jdk" -w:work -r:report -nr -v1 \
    "-Djdk.test.lib.artifacts.walkhammer=$PWD/release" -vmoption:-Xmx99m "$@"
  echo "$output"
}

issues=applications/walkhammer/KnownIssues.java

# knows_all: fails if walkhammer lacks a verb or an option that it was called with.
knows_all() {
  [ "$(wc -l <calls)" -gt 1 ]
  while read -r verb words; do
    [ "$verb" != --version ] || continue
    [ "$verb" != bugs ] || verb="bugs check"
    for word in ${words%% -- *}; do
      # shellcheck disable=SC2086  # two words
      case $word in
      --*) "$walkhammer" $verb --help | grep -qw -e "$word" || { echo "$verb has no $word"; return 1; } ;;
      esac
    done
  done <calls
}

@test "jtreg: what is clean passes, and gets the options of the JVM" {
  needs jtreg
  need_javac
  stand_in 0 '  WH-01  AFFECTED  yes  3 of 3'
  tests_of_jtreg -Dwalkhammer.time=7s "$examples/jtreg:tier1_walkhammer" "$examples/jtreg/$issues"
  [ "$status" -eq 0 ]
  [[ "$output" == *"Test results: passed: 2"* ]]
  [[ "$output" != *Skipped* ]]
  is "$(grep -c -- "--time 7s .*--jdk $jdk --out .* -Xmx99m\$" calls)" 2
  is "$(grep -c "^bugs check --jdk $jdk\$" calls)" 1
  knows_all
}

@test "jtreg: findings fail, with their requests, as does an issue that is back; a skip is a skip" {
  needs jtreg
  need_javac
  stand_in 3 '  WH-01  AFFECTED  no  3 of 3' 1
  tests_of_jtreg "$examples/jtreg:hotspot_walkhammer"
  [ "$status" -eq 2 ]
  [[ "$output" == *"Test results: passed: 2; failed: 2; skipped: 2"* ]]
  grep -A3 -x explained work/applications/walkhammer/Smoke.jtr | grep -qx requested
  grep -q "known issues are back: \[  WH-01" work/applications/walkhammer/KnownIssues.jtr
}

@test "jtreg: a release for another machine is skipped, and one that is not there is an error" {
  needs jtreg
  need_javac
  stand_in 0
  printf '\x7fELF' >release/bin/walkhammer
  tests_of_jtreg "$examples/jtreg/$issues"
  [[ "$output" == *"skipped: 1"* ]]
  rm release/bin/walkhammer
  tests_of_jtreg "$examples/jtreg/$issues"
  [ "$status" -eq 2 ]
  grep -q "there is no bin/walkhammer in " work/applications/walkhammer/KnownIssues.jtr
}

@test "jtreg: the artifact's revision is this version" {
  version=$(sed -n 's/^project(walkhammer VERSION \([0-9.]*\) .*/\1/p' "$root/CMakeLists.txt")
  grep -q "revision = \"$version\"" "$examples/jtreg/applications/walkhammer/WalkhammerRunner.java"
}
