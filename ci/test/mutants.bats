#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests of ci/test/mutants.awk: each operator, and code that must not be mutated. Of
# ci/test/mutate.sh, which builds, only its refusals are tested.
# shellcheck disable=SC2030,SC2031,SC2154  # each test is a subshell, and bats sets stderr

bats_require_minimum_version 1.5.0

setup() {
  root=$BATS_TEST_DIRNAME/../..
}

# mutants_of LINE...: prints the mutated lines, without the other columns.
mutants_of() {
  printf '%s\n' "$@" | awk -f "$root/ci/test/mutants.awk" | cut -f 4
}

# becomes LINE MUTANT...: LINE has exactly these mutants.
becomes() {
  local line=$1
  shift
  diff <(mutants_of "$line" | sort) <(printf '%s\n' "$@" | sort)
}

@test "each operator makes its mutants" {
  becomes '  return a < b;' 'return a <= b;' 'return a >= b;' 'return !(a < b);'
  becomes 'const bool c = a >= b && d == e;' \
    'const bool c = a > b && d == e;' 'const bool c = a < b && d == e;' \
    'const bool c = a >= b || d == e;' 'const bool c = a >= b && d != e;'
  becomes 'if (Seen(a)) return false;' 'if (!(Seen(a))) return false;'
  becomes 'if (int x = f(); Good(x)) {' 'if (int x = f(); !(Good(x))) {'
  becomes 'while (!text.empty()) {' 'while (!(!text.empty())) {'
  becomes 'int x = 41;' 'int x = 42;' 'int x = 40;'
  becomes 'total += part;' '{}'
  becomes 'entries.push_back(entry);  // kept' '{}'
  becomes 'count++;' '{}'
  becomes 'return true;' 'return false;'
}

@test "other code is not mutated" {
  [ -z "$(mutants_of '// a < b && c == 1' '#include "a 1 b"' 'std::vector<int> names;' \
    'const char* text = "a < b && 1 == \" 2";' 'static_assert(a == b);' 'case kOne:' \
    'uint64_t x = 0x10;' "uint64_t y = 10'000;" 'auto word1 = x2;' 'Foo foo(bar);' \
    'for (const auto& [a, b] : c) {' 'return {};' 'return "a";' "char c = '1';" 'double d = 1.5;' \
    'if (auto x = f()) {' 'auto&& all = f();')" ]
}

@test "a statement that began on the line above is not deleted" {
  [ -z "$(mutants_of 'const auto x =' 'Call(a);')" ]
  [ "$(mutants_of 'if (a)' 'Call(a);' | tail -n 1)" = '{}' ]
}

@test "equal lines are numbered" {
  run awk -f "$root/ci/test/mutants.awk" <<<$'  i++;\n  j++;\n  i++;'
  [ "${lines[0]}" = $'1\t1\ti++;\t{}' ]
  [ "${lines[2]}" = $'3\t2\ti++;\t{}' ]
}

@test "no mutant is the line itself" {
  for file in "$root"/harness/request/*.cc "$root"/harness/oracles/*.cc; do
    awk -f "$root/ci/test/mutants.awk" "$file"
  done >"$BATS_TEST_TMPDIR/all"
  [ "$(wc -l <"$BATS_TEST_TMPDIR/all")" -gt 500 ]
  run awk -F '\t' 'NF != 4 || $3 == $4' "$BATS_TEST_TMPDIR/all"
  [ -z "$output" ]
}

@test "mutate.sh refuses what it cannot use" {
  for arguments in '--count many' '--folder nowhere' '--list nowhere' '--seed' '--other 1'; do
    # shellcheck disable=SC2086  # words
    run --separate-stderr -2 "$root/ci/test/mutate.sh" $arguments
    [ -z "$output" ]
    [ "${#stderr_lines[@]}" -eq 1 ]
  done
}

# They are built and tested by ci/test/mutate.sh --list; here, none may be lost without a word.
@test "each mutant of the list is one of its file" {
  grep -v '^#' "$root/ci/test/mutants.txt" >"$BATS_TEST_TMPDIR/list"
  [ "$(wc -l <"$BATS_TEST_TMPDIR/list")" -ge 10 ]
  cut -f 1 "$BATS_TEST_TMPDIR/list" | sort -u | while read -r file; do
    awk -f "$root/ci/test/mutants.awk" "$root/$file" | cut -f 2- | sed "s|^|$file\t|"
  done | sort >"$BATS_TEST_TMPDIR/all"
  run comm -13 "$BATS_TEST_TMPDIR/all" <(sort "$BATS_TEST_TMPDIR/list")
  [ -z "$output" ]
}
