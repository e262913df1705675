#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ci/walker_mutants.sh and its tool: JDKs whose walker is broken in one place.
# shellcheck disable=SC2154  # bats sets stderr

load lib

setup() {
  tool=$(dirname "$walkhammer")/walker_mutants
  [ -x "$tool" ] || skip "no $tool"
  [ "$(uname -m)" = x86_64 ] || skip "mutants are made of x86_64 code"
  for jdk in $(jdks); do
    "$tool" list "$jdk" - 1 1 >/dev/null 2>&1 && "$jdk/bin/java" -version 2>/dev/null && return
  done
  skip "no JDK that keeps its symbols and runs by itself"
}

# mutant WORD [FUNCTION]: the first mutant of this kind, in that function.
mutant() {
  "$tool" list "$jdk" - 1 100000 | awk -F'\t' -v kind="$1-" -v place="${2:-}" \
    'index($1, kind) == 1 && index($2, place) == 1 && !found { found = $1 } END { print found }'
}

# broken ID: makes the mutant; prints the bytes that differ from the JDK's libjvm.so.
broken() {
  rm -rf "$tmp/jdk"
  "$tool" make "$jdk" "$1" "$tmp/jdk" || return
  own=$(find "$tmp/jdk/" -name libjvm.so)
  cmp -l "$jdk/${own#"$tmp/jdk/"}" "$own" || [ "$?" -eq 1 ]
}

@test "a list has each kind in turn, and one seed gives one list" {
  "$tool" list "$jdk" - 7 60 >"$tmp/a"
  "$tool" list "$jdk" - 7 30 >"$tmp/b"
  head -n 30 "$tmp/a" | cmp - "$tmp/b"
  is "$(cut -f1 "$tmp/a" | sed 's/-[0-9a-f]*$//' | sort | uniq -c | tr -s ' \n' ' ')" \
    ' 10 answer-0 10 answer-1 10 branch 10 constant 10 offset 10 skip '
  is "$(awk -F'\t' 'length($3) != length($4) || $3 == $4' "$tmp/a")" ''
  "$tool" list "$jdk" - 8 60 >"$tmp/c"
  run ! cmp -s "$tmp/a" "$tmp/c"
}

@test "only reached blocks are broken" {
  "$tool" list "$jdk" - 1 1000 | cut -f1 | sed 's/.*-//' | sort -u >"$tmp/all"
  # The entry of a function is a block's address, as is any inverted branch's successor.
  address=$("$tool" list "$jdk" - 1 100000 | awk -F'\t' '$2 ~ /\+0x0$/ { sub(/.*-/, "", $1); print $1; exit }')
  [ -n "$address" ] || skip "no function begins with a mutant"
  printf '%d\n' "0x$address" >"$tmp/reached"
  "$tool" list "$jdk" "$tmp/reached" 1 1000 >"$tmp/few"
  [ -s "$tmp/few" ]
  [ "$(wc -l <"$tmp/few")" -lt "$(wc -l <"$tmp/all")" ]
}

@test "a mutant boots, and differs in one jump and in its build id" {
  id=$(mutant branch 'vframeStreamForte::forte_next()')
  differences=$(broken "$id")
  is "$(echo "$differences" | wc -l)" 9 "bytes of a condition and of a build id"
  is "$("$tmp/jdk/bin/java" -XshowSettings:properties -version 2>&1 | sed -n 's/ *java.home = //p')" "$tmp/jdk"
  # The condition: of opcodes whose lowest bit differs.
  is "$(echo "$differences" | tail -n 1 | awk '{ d = $2 - $3; print d * d }')" 1
}

@test "what cannot be made is refused" {
  one_sentence 2 'no mutant' "$tool" make "$jdk" branch-0 "$tmp/jdk"
  mkdir "$tmp/jdk"
  one_sentence 2 'exists' "$tool" make "$jdk" "$(mutant branch)" "$tmp/jdk"
  one_sentence 2 'not a whole number' "$tool" list "$jdk" - 1 x
  one_sentence 2 'use:' "$tool" list
  one_sentence 2 'is not a JDK' "$root/ci/walker_mutants.sh" "$tmp"
}

@test "a grave mutant is noticed, and its line is written once" {
  # Without the first call there, many stacks end early: the replays of known issues show it soon.
  id=$("$tool" list "$jdk" - 1 100000 | grep '^skip' | grep 'frame::is_interpreted_frame_valid' |
    awk -F'\t' '{ at = $2; sub(/.*\+/, "", at); print length(at), at, $1 }' | sort | awk 'NR == 1 { print $3 }')
  out=$tmp/out
  mkdir "$out"
  # What the script has measured before.
  echo 0 >"$out/reached"
  touch "$out/first" "$out/second"
  run "$root/ci/walker_mutants.sh" --only "$id" --out "$out" "$jdk"
  echo "$output"
  [ "$status" -eq 0 ]
  is "$(cut -f6 "$out/mutants.tsv")" noticed
  [[ "$(cut -f7 "$out/mutants.tsv")" =~ codes|no-stacks|known-issue|cannot-start ]]
  run "$root/ci/walker_mutants.sh" --only "$id" --out "$out" "$jdk"
  is "$(wc -l <"$out/mutants.tsv")" 1
}

# Stand-ins for the tool, walkhammer and the gate: mutant a-1 fails as known issue, b-2 as a crash of
# the fuzz run, c-3 passes with other answers, d-4 passes with the same, the gate has no verdict on e-5.
stand_ins() {
  mkdir -p "$tmp/ci" "$tmp/bin" "$tmp/home/bin"
  cp "$root/ci/walker_mutants.sh" "$tmp/ci"
  cp /bin/true "$tmp/home/bin/java"
  cat >"$tmp/bin/walker_mutants" <<'END'
#!/bin/sh
[ "$1" = list ] || { mkdir "$4"; echo "$3" >"$4/id"; exit; }
for id in a-1 b-2 c-3 d-4 e-5; do printf '%s\tf+0x0\t74\t75\tje 0\n' "$id"; done | head -n "$5"
END
  cat >"$tmp/bin/walkhammer" <<'END'
#!/bin/sh
case "$*" in gate*fuzz-1*) exit 1 ;; gate*/asked*) [ ! -e "$5/differs" ]; exit ;; gate*) exit 0 ;; esac
differs=
while [ "$#" -gt 0 ]; do
  case $1 in
  --jdk) [ "$(cat "$2/id" 2>/dev/null)" != c-3 ] || differs=1 ;;
  --out) run=$2 ;;
  esac
  shift
done
mkdir -p "$run"
touch "$run/answers"
[ -z "$differs" ] || touch "$run/differs"
sqlite3 "$run/run.db" "CREATE TABLE coverage_block (address, first_ms);
  INSERT INTO coverage_block VALUES (4096, 1)"
END
  cat >"$tmp/ci/gate.sh" <<'END'
#!/bin/sh
while [ "$#" -gt 2 ]; do shift; done
case $(cat "$2/id") in
a-1) echo "REGRESSION: known issues are back in $2"; echo '  fail  JDK-1  title'; exit 1 ;;
b-2) echo 'REGRESSION'; echo '  fail  new-crash      crash'; echo "$2/gate/candidate/fuzz-1/crashes"; exit 1 ;;
e-5) exit 3 ;;
esac
echo PASS
END
  chmod +x "$tmp/bin"/* "$tmp/ci"/*
}

@test "each verdict, and going on after a stop" {
  stand_ins
  for count in 2 5 5; do
    WALKHAMMER=$tmp/bin/walkhammer run -0 "$tmp/ci/walker_mutants.sh" --count "$count" --out "$tmp/out" "$tmp/home"
  done
  echo "$output"
  cut -f1,6-8 "$tmp/out/mutants.tsv" | tr '\t' ' ' >"$tmp/rows"
  printf '%s\n' 'a-1 noticed known-issue known-issues fuzz' 'b-2 noticed new-crash fuzz' \
    'c-3 survived - -' 'd-4 equivalent - -' 'e-5 unjudged - -' | diff - "$tmp/rows"
  [[ "$output" == *"noticed by"*"1  fuzz: new-crash"* ]]
}
