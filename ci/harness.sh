#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One run of walkhammer as a test of a build or of a test harness:
#   ci/harness.sh REPORTS VERB [OPTION]... [-- JVM FLAG...]
#   ci/harness.sh REPORTS bugs check --jdk HOME
# REPORTS gets three things, whatever the run ends with, in place of earlier ones: the run's folder
# walkhammer-VERB, its diagnostics walkhammer-VERB.log, and TEST-walkhammer-VERB.xml for JUnit readers.
# `bugs check` fails if replays show an issue that this version of the JDK has fixed. An issue that
# this version is known to have does not fail it.
# WALKHAMMER names the executable (default: the release build's).
# Exit codes: 0 passed, 1 failed, 2 bad usage, 3 this machine or JDK cannot do it: a skip.
set -eu
[ "${1:-}" != --help ] || exec sed -n '3,/^set/s/^# \{0,1\}//p' "$0"
here=$(dirname "$0")
[ ! -x "$here/../walkhammer" ] || : "${WALKHAMMER:=$here/../walkhammer}" # in a release
walkhammer=${WALKHAMMER:-$here/../build/release/walkhammer}

usage() {
  echo "harness: $1; see the head of $0" >&2
  exit 2
}

[ "$#" -ge 2 ] || usage 'give REPORTS and a VERB'
[ -x "$walkhammer" ] || usage "$walkhammer does not exist; build it, or set WALKHAMMER"
reports=$1 verb=$2
shift 2
run=$reports/walkhammer-$verb
log=$run.log
junit=$reports/TEST-walkhammer-$verb.xml
mkdir -p "$reports"
rm -rf "$run" "$junit"

# ends CODE TEXT: writes the report of a run that left none, and ends the script by walkhammer's exit
# code.
ends() {
  case $1 in
  0) result='' ;;
  3) result='<skipped/>' ;;
  *) result='<failure/>' ;;
  esac
  text=$(printf '%s' "$2" | tr -d '\000-\010\013-\037' | sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g')
  [ -f "$junit" ] || cat >"$junit" <<END
<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="walkhammer" tests="1" failures="$(($1 != 0 && $1 != 3))" errors="0" skipped="$(($1 == 3))">
<testcase classname="walkhammer" name="$verb">$result<system-out>$text</system-out></testcase>
</testsuite>
END
  case $1 in
  0 | 3) exit "$1" ;;
  *) exit 1 ;;
  esac
}

# issues WORD...: judges by the table, because most JDKs have some known issue.
issues() {
  code=0
  "$walkhammer" bugs "$@" >"$log" 2>&1 || code=$?
  cat "$log"
  grep -q '^  affected by ' "$log" || ends "$code" "$(tail -n 1 "$log")"
  back=$(grep -E '^ +[^ ]+ +AFFECTED +no ' "$log") || ends 0 "$(cat "$log")"
  echo 'harness: known issues are back' >&2
  ends 1 "$back"
}

"$walkhammer" --version >/dev/null || ends 3 'this walkhammer does not run on this machine'
[ "$verb" != bugs ] || issues "$@"
code=0
"$walkhammer" "$verb" --out "$run" "$@" 2>"$log" || code=$?
[ "$code" -le 1 ] || tail -n 1 "$log" >&2
[ ! -f "$run/run.db" ] || "$walkhammer" report "$run" --junit "$junit" >/dev/null || true
ends "$code" "$(tail -n 1 "$log")"
