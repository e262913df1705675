#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests of stress on a JVM that runs already, and on one that another process kills.
# shellcheck disable=SC2154,SC2030,SC2031  # bats sets stderr; each test is a subshell

load lib_stress

@test "the agent attaches to a running JVM" {
  java -XX:+EnableDynamicAgentLoading -cp "$PROGRAMS" Work >/dev/null 2>&1 &
  pid=$!
  sleep 2
  stress --pid "$pid" --time 2s
  [ "$(cell status)" = passed ]
  # Findings of this JVM must replay on its own JDK, which need not be the newest one.
  [ "$(cell jdk_path)" = "$(dirname "$(dirname "$(readlink -f "$(command -v java)")")")" ]
  [ "$(cell 'successful > 50')" -eq 1 ]
  kill -0 "$pid"
  # An agent that is not preloaded comes after libc in symbol lookup, and the run says so.
  [ "$(ask "select detail from note where kind = 'not-in-force' and name = 'interposition'" |
    grep -c '^malloc is that of .*libc')" -eq 1 ]
  "$WALKHAMMER" report "$out" | grep -q 'not in force: interposition'
}

@test "a process of another user is not attached to" {
  [ "$(id -u)" -eq 0 ] || skip 'only root starts commands as another user'
  sleep 100 >/dev/null 3>&- &
  pid=$!
  open=$(mktemp -d)
  chmod 755 "$open"
  cp "$WALKHAMMER" "$open/"
  run --separate-stderr setpriv --reuid 65534 --regid 65534 --clear-groups \
    "$open/${WALKHAMMER##*/}" stress --pid "$pid" --time 1s --out "$open/out"
  rm -rf "$open"
  [ "$status" -eq 3 ]
  [[ "$stderr" == *"process $pid is another user's"* ]]
}

# Without walks: a JVM that is killed in a walk looks like one that the walk has killed.
@test "an attached JVM that is killed from outside is not a finding" {
  java -XX:+EnableDynamicAgentLoading -cp "$PROGRAMS" Work >/dev/null 2>&1 &
  pid=$!
  sleep 2
  (sleep 4 && kill -KILL "$pid") 3>&- &
  stress --pid "$pid" --time 60s --no-walk
  ended workload-failed 4 "did somebody kill it?"
  [ "$(ask "select count(*) from finding")" -eq 0 ]
}

@test "a SIGSEGV that another process sends is not a finding, even during a walk" {
  (until [ "$(ask 'select delivered > 1000 from cell' 2>/dev/null)" = 1 ]; do
    sleep 0.2
  done && kill -SEGV "$(pgrep -f "^[^ ]*java .*$PROGRAMS Work")") 3>&- &
  program Work --time 60s --interval 10us..20us
  ended workload-failed 4 "the JVM was killed from outside by SIGSEGV of pid"
  [ "$(ask "select count(*) from bucket where title like '%death%'")" -eq 0 ]
}

@test "an attached JVM that dies is a finding with its hs_err log" {
  cd "$BATS_TEST_TMPDIR"
  java -XX:+EnableDynamicAgentLoading -XX:-CreateCoredumpOnCrash -cp "$PROGRAMS" Crashes 6000 \
    >/dev/null 2>&1 &
  pid=$!
  sleep 2
  stress --pid "$pid" --time 60s --no-walk
  ended died 1 "the JVM died"
  [ "$(finding)" = survival/death ]
  grep -q SIGSEGV "$out"/crashes/*/hs_err.log
}
