#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One run of a test of playlist.xml: run.sh JDK TIME VERB [OPTION]... [-- JVM OPTION...]
# WALKHAMMER_TIME, if set, replaces TIME. `bugs check` takes no time (-); it fails if replays show an
# issue that this version has fixed. The run and its JUnit XML go to the current folder, which is
# the test's $(REPORTDIR). build.xml has put walkhammer beside this script.
# Exit codes: 0 passed, 1 failed, 3 this machine or JDK cannot do it: the playlist says skipped then.
set -eu
[ "${1:-}" != --help ] || exec sed -n '3,/^set/s/^# \{0,1\}//p' "$0"
walkhammer=$(dirname "$0")/release/bin/walkhammer
jdk=$1 time=${WALKHAMMER_TIME:-$2} verb=$3
shift 3

# ends CODE: ends the script by walkhammer's exit code.
ends() {
  echo "walkhammer $verb ended with $1"
  case $1 in
    0 | 3) exit "$1" ;;
    *) exit 1 ;;
  esac
}

# issues: judges by the table, for most JDKs have some known issue.
issues() {
  code=0
  "$walkhammer" bugs "$@" --jdk "$jdk" >issues.txt || code=$?
  cat issues.txt
  grep -q '^  affected by ' issues.txt || ends "$code"
  ! grep -qE '^ +[^ ]+ +AFFECTED +no ' issues.txt || {
    echo "known issues are back"
    exit 1
  }
}

"$walkhammer" --version >version.txt || ends 3 # for another machine, or a newer one
if [ "$verb" = bugs ]; then
  issues "$@"
else
  code=0
  "$walkhammer" "$verb" --jdk "$jdk" --time "$time" --out "run-$verb" "$@" || code=$?
  [ ! -f "run-$verb/run.db" ] ||
    "$walkhammer" report "run-$verb" --junit "$verb.xml" >/dev/null || true
  ends "$code"
fi
