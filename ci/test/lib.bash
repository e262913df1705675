# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What the suites share, by `load lib`: $root is the project; $walkhammer and $WALKHAMMER are the
# executable, by default that of the release build; $tmp is the test's own folder.
# shellcheck disable=SC2034,SC2154  # the suites use these variables; bats sets stderr

bats_require_minimum_version 1.5.0

root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
export WALKHAMMER=${WALKHAMMER:-$root/build/release/walkhammer}
walkhammer=$(realpath -m "$WALKHAMMER")
[ -x "$walkhammer" ] || {
  echo "no $walkhammer: run cmake --preset release && cmake --build build/release" >&2
  exit 1
}
tmp=${BATS_TEST_TMPDIR:-}

# Prints the homes of this machine's JDKs, the newest last.
jdks() {
  "$walkhammer" show jdks | sed -n 's/  .*//p'
}

# Sets $jdk to the newest JDK of this machine.
need_jdk() {
  jdk=$(jdks | tail -n 1)
  [ -n "$jdk" ] || skip "no JDK on this machine"
}

# ask [RUN] SQL: queries the run.db of RUN, by default of $out.
ask() {
  [ "$#" -gt 1 ] || set -- "$out" "$1"
  sqlite3 "$1/run.db" "$2"
}

# with_report [RUN]: adds the whole report of RUN, by default of $out, to $output.
with_report() {
  output+=$'\n'$("$walkhammer" report "${1:-$out}" || true)
}

# is ACTUAL WANTED [WHAT]: fails and prints all three if ACTUAL is not WANTED.
is() {
  [ "$1" = "$2" ] && return
  echo "${3:-it}: $1; it should be: $2"
  return 1
}

# has_parts PART...: fails unless each PART is in $output, and names one that is missing.
has_parts() {
  local part
  for part in "$@"; do
    [[ "$output" == *"$part"* ]] || {
      echo "not printed: $part"
      return 1
    }
  done
}

# one_sentence CODE PART COMMAND...: exit code CODE, nothing on stdout, and on stderr one sentence
# that holds PART.
one_sentence() {
  local code=$1 part=$2
  shift 2
  run --separate-stderr "$@"
  echo "$*: exit code $status, stdout '$output', stderr '$stderr'"
  [ "$status" -eq "$code" ]
  [ -z "$output" ]
  [ "${#stderr_lines[@]}" -eq 1 ]
  [[ "$stderr" == *"$part"* ]]
}

# refuses CODE PART ARGUMENTS...: the same of walkhammer.
refuses() {
  one_sentence "$1" "$2" timeout 60 "$walkhammer" "${@:3}"
  [[ "$stderr" == "walkhammer: "* ]]
}

# in_terminal COLUMNS COMMAND...: what COMMAND prints on a terminal of so many columns.
in_terminal() {
  script -qec "stty cols $1; $(printf '%q ' "${@:2}")" /dev/null </dev/null | tr -d '\r'
}

# is_json TEXT: fails unless TEXT is JSON.
is_json() {
  printf '%s' "$1" >"$tmp/json"
  [ "$(sqlite3 :memory: "select json_valid(readfile('$tmp/json'))")" = 1 ]
}
