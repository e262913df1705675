#!/usr/bin/env bats
# The reference provider (libasgst.so) on live JVMs: scenes, samples, every instruction.
# WALKHAMMER names the executable; default is the release build.
# shellcheck disable=SC2154  # bats sets stderr and stderr_lines

bats_require_minimum_version 1.5.0

setup() {
  walkhammer=${WALKHAMMER:-$BATS_TEST_DIRNAME/../build/release/walkhammer}
  out=$BATS_TEST_TMPDIR/run
}

jdks() {
  "$walkhammer" list jdks | sed 's/  .*//'
}

ask() {
  sqlite3 "$out/run.db" "$1"
}

@test "every scene is walked truly, and nothing made up makes it crash" {
  [ -n "$(jdks)" ]
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

@test "it fails on at most half as many instructions as AsyncGetCallTrace" {
  [ -n "$(jdks)" ]
  for jdk in $(jdks); do
    for walker in agct asgst; do
      out=$BATS_TEST_TMPDIR/$walker
      rm -rf "$out"
      run timeout 100 "$walkhammer" step --scene mixed-tiers --walker "$walker" --jdk "$jdk" \
        --time 3s --no-confirm --out "$out"
      echo "$jdk $walker: exit code $status: $output"
      [ "$status" -le 1 ]
      [ "$(ask "select walks > 50000 from cell")" -eq 1 ]
    done
    share() { sqlite3 "$BATS_TEST_TMPDIR/$1/run.db" "select 1e6 - 1e6 * successful / walks from cell"; }
    echo "$jdk: failed of a million: agct $(share agct), asgst $(share asgst)"
    awk -v agct="$(share agct)" -v asgst="$(share asgst)" 'BEGIN { exit !(2 * asgst <= agct) }'
  done
}
