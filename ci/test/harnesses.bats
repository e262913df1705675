#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ci/harness.sh, and ci/examples for the harnesses of JVM teams, beside a stand-in for walkhammer: what
# each verdict becomes. `ci/soak.sh harnesses` runs the harnesses with walkhammer itself.
# shellcheck disable=SC2030,SC2031,SC2154  # bats and lib.bash set these variables

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
  mkdir -p release/bin release/lib/walkhammer/ci
  cp "$root/ci/harness.sh" release/lib/walkhammer/ci
  ln -sf ../../bin/walkhammer release/lib/walkhammer/walkhammer
  cat >release/bin/walkhammer <<END
#!/bin/sh
code=$1
case "\$*" in *--confirm-time*) code=${3:-$1} ;; esac
echo "\$*" >>"$PWD/calls"
case \$1 in
--version) exit ;;
report)
  echo "<testsuites/>" >"\$4"
  exit
  ;;
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
  is "$(grep -c -- "--time 7s .*--jdk $jdk -- .*-Xmx99m\$" calls)" 2
  is "$(grep -c "^bugs check --jdk $jdk\$" calls)" 1
  knows_all
}

@test "jtreg: findings fail, with their requests, as does an issue that is back; a skip is a skip" {
  needs jtreg
  need_javac
  stand_in 3 '  WH-01  AFFECTED  no  3 of 3' 1
  suite=openjdk/test/hotspot/jtreg # as in OpenJDK's tree
  mkdir -p "$suite"
  cp -R "$examples/jtreg/applications" "$examples/jtreg/TEST.groups" "$suite"
  cp -R "$examples/jtreg/test/lib" openjdk/test/lib
  printf '%s\n' groups=TEST.groups external.lib.roots=../../.. 'keys=external-dep stress' >"$suite/TEST.ROOT"
  tests_of_jtreg "$suite:hotspot_walkhammer"
  [ "$status" -eq 2 ]
  [[ "$output" == *"Test results: passed: 2; failed: 2; skipped: 2"* ]]
  grep -A3 -x explained work/applications/walkhammer/Smoke.jtr | grep -qx requested
  grep -q "known issues are back" work/applications/walkhammer/KnownIssues.jtr
}

@test "jtreg: a release for another machine is skipped, and one that is not there is an error" {
  needs jtreg
  need_javac
  stand_in 0
  printf '\x7fELF' >release/bin/walkhammer
  tests_of_jtreg "$examples/jtreg/$issues"
  [[ "$output" == *"skipped: 1"* ]]
  rm release/lib/walkhammer/ci/harness.sh
  tests_of_jtreg "$examples/jtreg/$issues"
  [ "$status" -eq 2 ]
  grep -q "lib.walkhammer.ci.harness.sh is not in " work/applications/walkhammer/KnownIssues.jtr
}

@test "the version in each example is this one" {
  version=$(sed -n 's/^project(walkhammer VERSION \([0-9.]*\) .*/\1/p' "$root/CMakeLists.txt")
  cd "$examples"
  grep -q "revision = \"$version\"" jtreg/applications/walkhammer/WalkhammerRunner.java
  grep -q "<walkhammer.version>$version<" maven/pom.xml
  grep -q "walkhammerVersion = '$version'" gradle/build.gradle
}

# harness WORD...: the harness.sh of the stand-in's release, with the reports in the folder reports.
harness() {
  unset WALKHAMMER
  run --separate-stderr release/lib/walkhammer/ci/harness.sh reports "$@"
  echo "$status: $output; $stderr"
  xmllint --noout reports/TEST-*.xml
}

# junit COUNT TAG: that many elements TAG are in the reports.
junit() { is "$(cat reports/TEST-*.xml | grep -o "<$2[ />]" | wc -l)" "$1" "<$2>"; }

@test "harness.sh: the exit code, and a report whatever happens" {
  stand_in 1
  harness stress --time 3s -- -Xmx99m
  [ "$status" -eq 1 ]
  grep -q -- "^stress --out reports/walkhammer-stress --time 3s -- -Xmx99m\$" calls
  junit 1 testsuites # walkhammer's own
  for code in 0 2 3 4; do
    stand_in "$code"
    sed -i 's/^touch.*run.db.*/echo "a < b \& c" >\&2/' release/bin/walkhammer # no run
    harness fuzz
    rm -rf reports/TEST-walkhammer-stress.xml
    case $code in
    0) wanted=(0 0 0) ;; # exit code, failures, skips
    3) wanted=(3 0 1) ;;
    *) wanted=(1 1 0) ;;
    esac
    is "$status" "${wanted[0]}" "exit code"
    junit "${wanted[1]}" failure
    junit "${wanted[2]}" skipped
    is "$(xmllint --xpath 'string(//system-out)' reports/TEST-walkhammer-fuzz.xml)" 'a < b & c'
  done
  printf '\x7fELF' >release/bin/walkhammer
  harness fuzz
  [ "$status" -eq 3 ]
  junit 1 skipped
  one_sentence 2 'give REPORTS and a VERB' "$root/ci/harness.sh" reports
  WALKHAMMER=/none one_sentence 2 '/none does not exist' "$root/ci/harness.sh" reports fuzz
}

@test "harness.sh: a known issue passes, and one that this version has fixed fails" {
  stand_in 0 '  WH-01  AFFECTED  yes  3 of 3'
  harness bugs check --jdk none
  [ "$status" -eq 0 ]
  junit 0 failure
  stand_in 0 '  WH-01  AFFECTED  no  3 of 3'
  harness bugs check --jdk none
  [ "$status" -eq 1 ]
  junit 1 failure
  stand_in 0
  sed -i 's/affected by/cannot/; s/exit 1/exit 3/' release/bin/walkhammer
  harness bugs check --jdk none
  [ "$status" -eq 3 ]
}

# playlist: runs the playlist's commands as TKG's makefiles do; prints a word for each.
playlist() {
  {
    printf 'Q="\nD=/\nTEST_RESROOT=%s\nTEST_JDK_HOME=/jdk\nJVM_OPTIONS=-Xmx99m\n' "$PWD/tests"
    # shellcheck disable=SC2016  # make's
    printf '%s\n' 'TEST_STATUS=if [ $$? -eq 0 ]; then echo $@_PASSED; else echo $@_FAILED; fi' \
      'TEST_SKIP_STATUS=$@_SKIPPED' '.ONESHELL:'
    for number in 1 2 3 4; do
      # shellcheck disable=SC2016  # make's
      printf 'all: test%s\ntest%s:\n\t@mkdir -p $@; cd $@; \\\n' "$number" "$number"
      xmllint --xpath "string((//command)[$number])" tests/playlist.xml | sed 's/^ */\t/'
    done
  } >Makefile
  rm -rf test[0-9]
  make -s all 2>/dev/null | grep -oE '_(PASSED|FAILED|SKIPPED)$' | tr -d '\n'
}

@test "aqavit: passed, failed and skipped are what TKG counts" {
  unset WALKHAMMER
  mkdir tests
  cp "$examples"/aqavit/walkhammer/* tests
  one_sentence 1 'no release found in /none' tests/put_release.sh /none
  stand_in 0
  mkdir lib tree
  cp -R release tree/walkhammer-9
  tar -czf "lib/walkhammer-9-linux-$(uname -m).tar.gz" -C tree walkhammer-9
  tests/put_release.sh "$PWD/lib"
  is "$(playlist)" _PASSED_PASSED_PASSED_PASSED
  is "$(grep -c -- '--time [0-9]*s .*-- -Xmx99m$' calls)" 4
  knows_all
  WALKHAMMER_RELEASE=$PWD/release tests/put_release.sh /none
  stand_in 3 '  WH-01  AFFECTED  no  3 of 3'
  is "$(playlist)" _SKIPPED_SKIPPED_FAILED_SKIPPED
  stand_in 4 '' 0
  is "$(WALKHAMMER_TIME=7s playlist)" _FAILED_FAILED_PASSED_FAILED
  is "$(grep -c -- '--time 7s' calls)" 4
}
