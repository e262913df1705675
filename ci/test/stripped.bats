#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# JDKs whose libjvm.so is stripped. SafeFetch faults on purpose, and its functions are local
# symbols, which a stripped library lacks: its faults must not count as crashes of a walker.
# shellcheck disable=SC2154  # lib.bash sets these

load lib

setup() {
  command -v strip >/dev/null || skip "no strip: apt-get install binutils"
  jdks=$("$walkhammer" show jdks | sed 's/  .*//' | sed -n '1p;$p' | sort -u)
  [ -n "$jdks" ] || skip "no JDK on this machine"
}

# copy JDK: makes $copy, the JDK with a stripped libjvm.so, whose path is $library.
copy() {
  copy=$tmp/jdk
  library=$copy/lib/server/libjvm.so
  rm -rf "$copy"
  cp -rs "$1" "$copy"
  rm "$library"
  strip -o "$library" "$1/lib/server/libjvm.so"
}

# fuzz JDK OUT ARGUMENTS...: a run of that JDK with the run folder OUT.
fuzz() {
  local jdk=$1 out=$2
  shift 2
  rm -rf "$out"
  run timeout 200 "$walkhammer" fuzz --jdk "$jdk" --walks 100000 --seed 1 --no-confirm \
    --no-coverage --out "$out" "$@"
  echo "$jdk: exit code $status: $output"
  [ "$status" -le 1 ]
}

# offsets JDK: prints the offsets of SafeFetch's functions in libjvm.so, in the form of findings.
offsets() {
  nm "$1/lib/server/libjvm.so" | sed -n 's/^0*\([0-9a-f]*\) t SafeFetch.*_impl$/libjvm.so+0x\1/p'
}

# crashes RUN OFFSET: prints the number of findings at that offset.
crashes() {
  ask "$1" "select count(*) from finding where oracle = 'crash'
    and (native || char(10)) like '$2' || char(10) || '%'"
}

# safefetch JDK: prints by what doctor found SafeFetch.
safefetch() {
  "$walkhammer" doctor --jdk "$1" --json >"$tmp/doctor.json"
  sqlite3 :memory: "select json_extract(readfile('$tmp/doctor.json'), '\$.jdks[0].safefetch')"
}

@test "a stripped build has the same crashes as the unstripped one" {
  for jdk in $jdks; do
    copy "$jdk"
    whole=$(safefetch "$jdk")
    stripped=$(safefetch "$copy")
    echo "$jdk: found by its $whole, stripped by its $stripped"
    case $whole in
      symbols) [ "$stripped" = code ] ;;
      *) [ "$stripped" = "$whole" ] ;;
    esac
    "$walkhammer" doctor --jdk "$copy" | grep -q "SafeFetch  *found by its $stripped"
    fuzz "$jdk" "$tmp/whole"
    fuzz "$copy" "$tmp/stripped"
    for offset in $(offsets "$jdk"); do
      [ "$(crashes "$tmp/stripped" "$offset")" -eq 0 ]
    done
    crashed="select sum(count) from count where code = 'crash'"
    # A few crashes depend on the contents of addresses that differ.
    of_whole=$(ask "$tmp/whole" "$crashed") of_stripped=$(ask "$tmp/stripped" "$crashed")
    echo "$of_whole crashes, stripped $of_stripped"
    [ $((20 * of_stripped)) -le $((21 * of_whole)) ]
    [ $((20 * of_whole)) -le $((21 * of_stripped)) ]
    [ "$(ask "$tmp/stripped" "select count(*) from finding where outcome = 'fault-or-safefetch'")" \
      -eq 0 ]
  done
}

# plant CODE OTHER PLACE: writes OTHER into each occurrence of CODE in the library, PLACE bytes from
# its beginning. The planted bug: SafeFetch works as before, but its code looks different.
plant() {
  LC_ALL=C grep -obUaP "$1" "$library" | while IFS=: read -r at _; do
    # shellcheck disable=SC2059  # bytes
    printf "$2" | dd of="$library" bs=1 seek=$((at + $3)) conv=notrunc 2>/dev/null
  done
}

@test "where SafeFetch is not found, the run says so and no walker is blamed" {
  [ "$(uname -m)" = x86_64 ] || skip "the planted code is x86_64's"
  for jdk in $jdks; do
    places=$(offsets "$jdk")
    [ -n "$places" ] || continue
    copy "$jdk"
    plant '\x8b\x07\xc3\x89\xf0\xc3' '\x8b\xc6' 3             # mov eax,esi
    plant '\x48\x8b\x07\xc3\x48\x89\xf0\xc3' '\x48\x8b\xc6' 4 # mov rax,rsi
    [ "$(safefetch "$copy")" = nowhere ]
    run "$walkhammer" doctor --jdk "$copy"
    [ "$status" -eq 0 ]
    [[ "$output" == *"SafeFetch"*"not found"*"no crash in the JVM's own code is blamed"* ]]
    [[ "$output" == *$'\n    fix '*"use a build whose libjvm.so is not stripped"* ]]

    fuzz "$copy" "$tmp/planted"
    seen=0
    for offset in $places; do
      seen=$((seen + $(crashes "$tmp/planted" "$offset")))
    done
    [ "$seen" -gt 0 ]
    [ "$(ask "$tmp/planted" "select count(*) from finding where oracle = 'crash'
      and (outcome <> 'fault-or-safefetch' or grade <> 'Interesting')")" -eq 0 ]

    # A crash in a library other than the JVM's is not a SafeFetch fault.
    fuzz "$copy" "$tmp/puzzle" --walker puzzle-crash
    [ "$(ask "$tmp/puzzle" "select count(*) from finding where oracle = 'crash'
      and grade = 'Forbidden' and native like '%Misbehave%'")" -gt 0 ]
  done
}
