#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# walkhammer doctor --structs: what a JDK takes from those who read its vmStructs.
# shellcheck disable=SC2154  # bats sets stderr

load lib

setup() {
  need_jdk
  oldest=$(jdks | head -n 1)
}

# table LINE...: a table of what readers read, columns by "@@".
table() {
  printf '%s\n' "$@" | sed 's/@@/\t/g' >"$tmp/readers.tsv"
}

@test "a JDK breaks nothing that it has itself" {
  run "$walkhammer" doctor --structs --jdk "$jdk" --jdk "$jdk"
  echo "$output"
  [ "$status" -eq 0 ]
  [[ "$output" == "PASS: "* ]]
  [[ "$output" != *lost* ]]
  [ "$(echo "$output" | sed -n 's/^Entries: \([0-9]*\) compared.*/\1/p')" -gt 200 ]
}

@test "a lost entry that is needed fails, an optional one does not" {
  # nmethod::_verified_entry_offset came with JDK 23, which took _verified_entry_point away.
  case $("$oldest/bin/java" -version 2>&1) in *'"1.8'* | *'"11.'* | *'"17.'* | *'"21.'*) ;; *) skip "no JDK before 23" ;; esac
  case $("$jdk/bin/java" -version 2>&1) in *'"2'[3-9]*) ;; *) skip "no JDK from 23 on" ;; esac
  run "$walkhammer" doctor --structs --jdk "$oldest" --jdk "$jdk" --reader async-profiler@3.0
  echo "$output"
  [ "$status" -eq 1 ]
  [[ "$output" == "BROKEN: "*"lost     "*"_verified_entry_point"* ]]
  run "$walkhammer" doctor --structs --jdk "$oldest" --jdk "$jdk" --reader async-profiler@4.5 --json
  echo "$output"
  [ "$status" -eq 0 ]
  echo "$output" >"$tmp/json"
  is "$(sqlite3 :memory: "SELECT value ->> '\$.what' || ' ' || (value ->> '\$.since') || ' ' || (value ->> '\$.breaks')
    FROM json_each(readfile('$tmp/json'), '\$.changes')
    WHERE value ->> '\$.details' = 'nmethod::_verified_entry_offset'")" 'replaced 4.0 0'
  table 'mine@@optional@@stacks@@field@@nmethod::_verified_entry_point|CompiledMethod::_verified_entry_point'
  run "$walkhammer" doctor --structs --jdk "$oldest" --jdk "$jdk" --table "$tmp/readers.tsv"
  [ "$status" -eq 0 ]
  [[ "$output" == "PASS: "*"optional"*"lost "*"mine (stacks)"* ]]
  table 'mine@@needed@@stacks@@field@@nmethod::_verified_entry_point|CompiledMethod::_verified_entry_point'
  run -1 "$walkhammer" doctor --structs --jdk "$oldest" --jdk "$jdk" --table "$tmp/readers.tsv"
  # The other way round, nothing is lost by which this reader lives.
  run -0 "$walkhammer" doctor --structs --jdk "$jdk" --jdk "$oldest" --table "$tmp/readers.tsv"
}

@test "a file of a JDK that does not run here is read, too" {
  cp "$(find -L "$jdk" -path '*server/libjvm.so' | head -n 1)" "$tmp/libjvm.so"
  printf '\267\0' | dd of="$tmp/libjvm.so" bs=1 seek=18 conv=notrunc status=none # aarch64
  run "$walkhammer" doctor --structs --jdk "$jdk" --jdk "$tmp/libjvm.so"
  echo "$output"
  [ "$status" -eq 0 ]
  mkdir -p "$tmp/jdk/lib/server"
  mv "$tmp/libjvm.so" "$tmp/jdk/lib/server"
  run -0 "$walkhammer" doctor --structs --jdk "$jdk" --jdk "$tmp/jdk"
}

@test "bad usage is one sentence" {
  refuses 2 'two JDKs' doctor --structs
  refuses 2 'two JDKs' doctor --structs --jdk "$jdk"
  refuses 2 '--reader requires --structs' doctor --jdk "$jdk" --reader sa
  refuses 2 '--table requires --structs' doctor --table "$tmp/none"
  refuses 2 'no reader nobody' doctor --structs --jdk "$jdk" --jdk "$jdk" --reader nobody@1
  refuses 2 'does not exist, or is not a file' doctor --structs --jdk "$jdk" --jdk "$jdk" --table "$tmp/none"
  table 'mine needed'
  refuses 2 'readers.tsv:1:' doctor --structs --jdk "$jdk" --jdk "$jdk" --table "$tmp/readers.tsv"
  refuses 2 '' doctor --structs --jdk "$jdk" --jdk "$tmp"
  refuses 3 'no vmStructs' doctor --structs --jdk "$jdk" --jdk /bin/sh
}
