#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The torture workloads: every program passes, and fails when something is wrong.
# TORTURE_JAR names the jar, JAVA the launcher; defaults: the release build's, and the one in PATH.
# shellcheck disable=SC2154  # bats sets stderr

load lib

setup() {
  jar=${TORTURE_JAR:-$root/build/release/walkhammer-torture.jar}
  java=${JAVA:-java}
  catalogue=$root/workloads/torture.catalogue
  [ -f "$jar" ] || {
    echo "no $jar: run cmake --preset release && cmake --build build/release"
    return 1
  }
}

torture() {
  timeout 60 "$java" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp "$jar" wh.torture.Main "$@"
}

programs() {
  torture --list | cut -f 1
}

# value NAME KEY: prints the value of KEY in the catalogue's stanza NAME, or else in its defaults.
value() {
  awk -v name="$1" -v key="$2" '
    BEGIN { RS = ""; FS = "\n" }
    {
      delete of
      for (i = 1; i <= NF; i++) {
        at = index($i, ": ")
        if (at && $i !~ /^#/) of[substr($i, 1, at - 1)] = substr($i, at + 2)
      }
      if (("defaults" in of || of["name"] == name) && key in of) found = of[key]
    }
    END { print found }' "$catalogue"
}

# play NAME OPTIONS...: runs the program as the catalogue does, one round of each thread; prints the
# exit code, then all output.
play() {
  local name=$1 code=0 args
  local -a flags
  shift
  args=$(value "$name" args)
  args=${args//"{seconds}"/30}
  args=${args//"{seed}"/7}
  args=${args//"{threads}"/2}
  args=${args//"{scale}"/1}
  read -ra flags <<<"$(value "$name" flags)"
  flags=("${flags[@]//"{home}/walkhammer-torture.jar"/$jar}")
  flags=("${flags[@]//"{scratch}"/$tmp}")
  # shellcheck disable=SC2086  # arguments are words without blanks
  timeout 60 "$java" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC "${flags[@]}" -cp "$jar" \
    "$(value "$name" main)" $args --rounds 1 "$@" >"$tmp/$name.out" 2>"$tmp/$name.err" || code=$?
  echo "$code $(cat "$tmp/$name.out" "$tmp/$name.err")"
}

# play_all OPTIONS...: plays all programs, two at a time; writes a line for each to $tmp/played.
play_all() {
  local name
  for name in $(programs); do
    while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n; done
    echo "$name $(play "$name" "$@")" >"$tmp/played.$name" 3>&- &
  done
  wait
  cat "$tmp"/played.* >"$tmp/played"
  cat "$tmp/played"
}

# lacks NAME: the JDK is too old for the program; prints what it says then.
lacks() {
  local feature
  feature=$("$java" -XshowSettings:properties -version 2>&1 |
    sed -n 's/^ *java.specification.version = \(1\.\)*//p')
  case $1 in
    virtual) [ "$feature" -lt 21 ] && echo "JDK $feature has no virtual threads" ;;
    recordings) [ "$feature" -lt 17 ] && echo 'It uses the API of JFR as of JDK 17' ;;
    *) return 1 ;;
  esac
}

# refused PART ARGUMENTS...: one sentence that contains PART.
refused() {
  one_sentence 2 "$1" torture "${@:2}"
  [[ "$stderr" == "torture "*. ]]
}

@test "every program passes a round, and says so in one line" {
  play_all
  for name in $(programs); do
    if reason=$(lacks "$name"); then
      grep -qx "$name 3 torture $name: $reason\." "$tmp/played"
    else
      grep -qx "$name 0 torture $name: 2 rounds, ok" "$tmp/played"
    fi
  done
}

@test "every program finds a planted wrong result" {
  play_all --break
  for name in $(programs); do
    ! lacks "$name" || continue
    grep -q "^$name 1 torture $name: in round 1 of torture-$name-[01] with seed 7, .*\.$" \
      "$tmp/played"
    [ ! -s "$tmp/$name.out" ]
    [ "$(wc -l <"$tmp/$name.err")" -eq 1 ]
  done
}

@test "the catalogue has every program once, with the time, seed and threads asked for" {
  programs | sort >"$tmp/programs"
  sed -n 's/^name: //p' "$catalogue" | sort | diff "$tmp/programs" -
  while read -r name; do
    [ -n "$(value "$name" what)" ]
    [ "$(value "$name" args)" = \
      "$name --seconds {seconds} --seed {seed} --threads {threads} --scale {scale}" ]
  done <"$tmp/programs"
}

@test "redefine without its agent says what it lacks" {
  run --separate-stderr torture redefine --seconds 1
  [ "$status" -eq 3 ]
  [[ "$stderr" == *"-javaagent"* ]]
}

@test "--seconds ends a run, and 0 does not" {
  run torture interfaces --seconds 1 --threads 1
  [ "$status" -eq 0 ]
  run timeout 3 "$java" -cp "$jar" wh.torture.Main interfaces --seconds 0 --threads 1
  [ "$status" -eq 124 ]
  [ -z "$output" ]
}

@test "bad arguments are refused" {
  refused "a program must come first"
  refused "no program \"recursoin\"" recursoin
  refused "no option --thread" osr --thread 2
  refused "--threads must be a whole number from 1 to 1000, not \"0\"" osr --threads 0
  refused "--seconds must be a whole number" osr --seconds soon
  refused "--seed needs a value" osr --seed
}
