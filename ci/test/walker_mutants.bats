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
  # The first branch of the function decides whether there is anything to walk.
  id=$("$tool" list "$jdk" - 1 100000 | grep '^branch' | grep 'AsyncGetCallTrace+' |
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
