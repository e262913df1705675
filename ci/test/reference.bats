#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The reference provider (libasgst.so) on live JVMs: scenes, samples, every instruction.
# shellcheck disable=SC2030,SC2031,SC2154  # bats sets stderr; each test has its own $out

load lib

setup() {
  out=$BATS_TEST_TMPDIR/run
  [ -n "$(jdks)" ]
}

# enough WHAT VERB ARGUMENT...: a run on $jdk into $out, long enough that the query of WHAT says 1; a
# busy machine needs longer.
enough() {
  local what=$1 verb=$2 time
  for time in 3s 10s 30s; do
    rm -rf "$out"
    run timeout 100 "$walkhammer" "$verb" --jdk "$jdk" --time "$time" --no-confirm --out "$out" "${@:3}"
    echo "$jdk ${*:2}: exit code $status: $output"
    [ "$status" -le 1 ] || return 1
    [ "$(ask "select $what")" != 1 ] || return 0
  done
  return 1
}

@test "every scene is walked truly, and no made-up request crashes the reference" {
  for jdk in $(jdks); do
    rm -rf "$out"
    run timeout 100 "$walkhammer" fuzz --walker asgst --jdk "$jdk" --walks 300000 --no-confirm \
      --out "$out"
    echo "$jdk: exit code $status: $output"
    [ "$status" -le 1 ]
    [ "$(ask "select count(*) from scene where available = 1 and pristine_true = 0")" -eq 0 ]
    [ "$(ask "select count(*) from scene where available = 1")" -ge 20 ]
    [ "$(ask "select count(*) from finding where grade = 'Forbidden'")" -eq 0 ]
  done
}

@test "it contradicts AsyncGetCallTrace in no scene, and is compared with it in edited scenes" {
  for jdk in $(jdks); do
    rm -rf "$out"
    run timeout 100 "$walkhammer" fuzz --walker agct,asgst --jdk "$jdk" --walks 10000 --no-confirm \
      --no-coverage --out "$out"
    echo "$jdk: exit code $status: $output"
    [ "$status" -le 1 ]
    # AsyncGetCallTrace fails on two scenes, or ends early there.
    [ "$(ask "select count(*) from agreement where realism = 'genuine'
        and kind not in ('none', 'one-failed', 'truncated')")" -eq 0 ]
    [ "$(ask "select sum(samples) > 100 from agreement where realism = 'genuine' and kind = 'none'")" -eq 1 ]
    [ "$(ask "select sum(samples) > 1000 from agreement where realism = 'edited-stack'")" -eq 1 ]
    with_report
    [[ "$output" == *"asgst with agct, edited-stack requests"* ]]
  done
}

@test "frames of virtual threads that are in the heap do not count as depth" {
  for jdk in $(jdks); do
    rm -rf "$out"
    run timeout 100 "$walkhammer" stress --walker asgst --jdk "$jdk" --workload torture:virtual --depth 6 \
      --time 2s --no-confirm --out "$out"
    [[ "$output" != *not-for-jdk* ]] || continue
    echo "$jdk: exit code $status: $output"
    [ "$status" -eq 0 ]
    [ "$(ask "select sum(count) from walk_end where ended = 'depth'")" -gt 1000 ]
    [ "$(ask "select count(*) from finding where oracle like 'thread-start%'")" -eq 0 ]
  done
}

@test "it fails on at most half as many instructions as AsyncGetCallTrace" {
  for jdk in $(jdks); do
    for walker in agct asgst; do
      out=$BATS_TEST_TMPDIR/$walker
      enough "walks > 50000 from cell" step --scene mixed-tiers --walker "$walker"
    done
    share() { sqlite3 "$BATS_TEST_TMPDIR/$1/run.db" "select 1e6 - 1e6 * successful / walks from cell"; }
    echo "$jdk: failed of a million: agct $(share agct), asgst $(share asgst)"
    awk -v agct="$(share agct)" -v asgst="$(share asgst)" 'BEGIN { exit !(2 * asgst <= agct) }'
  done
}

@test "what walks have found out before changes no answer, while code and classes come and go" {
  for jdk in $(jdks); do
    for workload in osr redefine; do
      # The small code cache is used again and again: without the compile id, 638 of 89,000 samples
      # of osr would differ.
      enough "sum(samples) > 5000 from agreement where kind = 'none'" stress \
        --workload "torture:$workload" --walker asgst,asgst-uncached \
        -- -XX:ReservedCodeCacheSize=3m -XX:InitialCodeCacheSize=2500k
      [ "$(ask "select count(*) from agreement where kind <> 'none'")" -eq 0 ]
    done
  done
}

api_test() { "$(dirname "$walkhammer")/harness/asgst/testing/api_test" "$@"; }

@test "each function, option and code does what asgst.h and asgst_iterator.h say, on each JDK" {
  for jdk in $(jdks); do
    WALKHAMMER_JDK=$jdk run api_test
    echo "$jdk: exit code $status: $(grep -A 30 'Failure\|FAILED' <<<"$output")"
    [ "$status" -eq 0 ]
    [ "$(sed -n 's/^\[  PASSED  \] \([0-9]*\) tests\.$/\1/p' <<<"$output")" -ge 100 ]
  done
}

@test "without hooks in libjvm, handlers are called as asgst_iterator.h says for such JVMs" {
  for jdk in $(jdks | sed -n '1p;$p'); do
    ASGST_HOOKS=0 WALKHAMMER_JDK=$jdk run api_test --gtest_filter='UnloadApi*:RedefineApi*:Queue*:MarksOffered*'
    echo "$jdk: exit code $status: $(grep -A 30 'Failure\|FAILED' <<<"$output")"
    [ "$status" -eq 0 ]
    [ "$(sed -n 's/^\[  PASSED  \] \([0-9]*\) tests\.$/\1/p' <<<"$output")" -ge 60 ]
  done
}

@test "docs/maintainers/api-tests.md names each function and constant, and only tests that exist" {
  table=$BATS_TEST_DIRNAME/../../docs/maintainers/api-tests.md
  headers=$BATS_TEST_DIRNAME/../../harness/asgst/include
  in_table() { grep -o "$1" "$table" | tr -d '`' | sort -u; }
  names=$({
    nm -D --defined-only "$(dirname "$walkhammer")/libasgst.so" | awk '{ print $3 }'
    grep -ho '^ *ASGST_[A-Z0-9_]* =' "$headers/asgst.h" "$headers/asgst_iterator.h" | tr -d ' ='
    grep -ho '^enum [A-Za-z_]*  *{ .* }\|^enum { .* }' "$headers/asgst.h" "$headers/asgst_iterator.h" | sed 's/^enum [^{]*//' | grep -o 'ASGST_[A-Z0-9_]*'
  } | sort -u)
  [ "$(wc -w <<<"$names")" -ge 80 ]
  echo 'not in the table:'
  # shellcheck disable=SC2016  # backquotes of Markdown
  run comm -23 <(echo "$names") <(in_table '`[^`]*`')
  echo "$output"
  [ -z "$output" ]
  # Parametrised tests are compared without the prefix and suffix of their names.
  tests=$(api_test --gtest_list_tests | awk '/^[^ ].*\.$/ { suite = $1; next } /^  / { print suite $1 }' |
    sed 's|^[A-Za-z]*/||; s|/[A-Za-z]*$||' | sort -u)
  echo 'not in the table, and in the table without such a test:'
  run comm -3 <(echo "$tests") <(in_table '[A-Z][A-Za-z]*\.[A-Z][A-Za-z0-9]*')
  echo "$output"
  [ -z "$output" ]
}
