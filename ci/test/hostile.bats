#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Run folders and .walk files that an attacker wrote, and temporary folders that do not exist.
# shellcheck disable=SC2154,SC2030,SC2031  # bats sets stderr; each test is a subshell

load lib

setup() {
  escape=$(printf '\033]0;pwned\007\302\233')
}

# holds_no_escape FILE: FILE contains no control character that a terminal interprets.
holds_no_escape() {
  [ -s "$1" ]
  grep pwned "$1"
  ! LC_ALL=C grep "$(printf '[\001-\010\013-\037\177\233]')" "$1"
}

# walk_file NAME: writes a request whose words hold escape sequences.
walk_file() {
  printf 'walk 1\nwalker puzzle-honest\nscene c2\nexpect crash %s\n' "$escape" >"$1"
}

@test "show and replay print no escapes of a .walk file" {
  walk_file "$tmp/a.walk"
  "$walkhammer" show "$tmp/a.walk" >"$tmp/shown"
  holds_no_escape "$tmp/shown"
  cp "$tmp/a.walk" "$tmp/$escape.walk"
  "$walkhammer" show "$tmp/$escape.walk" "$tmp/a.walk" >"$tmp/shown"
  holds_no_escape "$tmp/shown"
  run -2 "$walkhammer" replay "$tmp/$escape"
  printf '%s\n' "$output" >"$tmp/said"
  holds_no_escape "$tmp/said"
}

@test "replay prints no escapes of a .walk file" {
  need_jdk
  walk_file "$tmp/a.walk"
  run "$walkhammer" replay --jdk "$jdk" "$tmp/a.walk"
  printf '%s\n' "$output" >"$tmp/said"
  holds_no_escape "$tmp/said"
}

@test "report prints no escapes of a run folder" {
  need_jdk
  run "$walkhammer" fuzz --jdk "$jdk" --walker puzzle-honest --scene c2 --walks 1000 --no-confirm \
    --out "$tmp/run"
  [ -s "$tmp/run/run.db" ]
  sqlite3 "$tmp/run/run.db" "update run set vm_version = '$escape', reason = '$escape'"
  run "$walkhammer" report "$tmp/run"
  printf '%s\n' "$output" >"$tmp/said"
  holds_no_escape "$tmp/said"
}

# refuses_tmpdir ARGUMENTS...: the command prints one sentence that names TMPDIR, and writes nothing
# to /.
refuses_tmpdir() {
  find / -maxdepth 1 | sort >"$tmp/before"
  TMPDIR=$tmp/nowhere refuses 4 "cannot make a temporary folder in $tmp/nowhere: " "$@"
  find / -maxdepth 1 | sort | diff "$tmp/before" -
}

@test "a TMPDIR that does not exist is one sentence" {
  need_jdk
  walk_file "$tmp/a.walk"
  refuses_tmpdir replay --jdk "$jdk" "$tmp/a.walk"
  refuses_tmpdir minimize --jdk "$jdk" "$tmp/a.walk"
  refuses_tmpdir doctor --jdk "$jdk"
  refuses_tmpdir fuzz --jdk "$jdk" --time 1s --out "$tmp/run"
  refuses_tmpdir stress --jdk "$jdk" --workload torture:recursion --time 1s --out "$tmp/run"
  [ ! -e "$tmp/run" ]
}
