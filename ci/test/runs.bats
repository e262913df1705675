#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests of runs: places that they cannot write to, what they leave, and what they survive.
# shellcheck disable=SC2154  # bats sets stderr and stderr_lines

load lib

setup() {
  out=$tmp/run
  pid=
  mounted=
}

teardown() {
  if [ -n "$pid" ]; then
    local children
    children=$(children_of "$pid")
    for process in "$pid" $children; do
      kill -9 "$process" 2>/dev/null || true
    done
    wait "$pid" 2>/dev/null || true
  fi
  [ -z "$mounted" ] || umount "$mounted"
}

# start ARGUMENTS...: starts the command in the background, as $pid, with SIGINT at its default: the
# shell would make it ignored.
start() {
  env --default-signal=INT "$walkhammer" "$@" >"$tmp/stdout" 2>"$tmp/stderr" 3>&- &
  pid=$!
}

# await SECONDS COMMAND...: repeats COMMAND until it succeeds; fails after SECONDS.
await() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    if [ "$SECONDS" -gt "$end" ]; then
      echo "waited in vain for: $*"
      cat "$tmp/stderr"
      return 1
    fi
    sleep 0.1
  done
}

# start_walking OPTIONS...: starts a fuzz run of ten minutes; waits for a child that hosts a JVM.
start_walking() {
  start fuzz --jdk "$jdk" --time 10m --out "$out" "$@"
  await 60 has_child
  sleep 3
}

# True for zombies, too: in some containers no process reaps orphans.
is_gone() {
  [ ! -e "/proc/$1" ] || grep -q '^State:[[:space:]]*Z' "/proc/$1/status" 2>/dev/null
}

# await_end SECONDS: waits until $pid ends; its exit code goes to $status.
await_end() {
  await "$1" is_gone "$pid"
  status=0
  wait "$pid" || status=$?
  pid=
  echo "exit code $status, stderr: $(tail -n 5 "$tmp/stderr")"
}

children_of() {
  local file line process parent
  for file in /proc/[0-9]*/stat; do
    read -r line <"$file" || continue
    process=${line%% *}
    read -r _ parent _ <<<"${line##*) }"
    [ "$parent" != "$1" ] || echo "$process"
  done 2>/dev/null
}

# Sets $child to the child of $pid that hosts a JVM, and is not $not_this.
has_child() {
  local process
  for process in $(children_of "$pid"); do
    [ "$process" != "${not_this:-}" ] || continue
    case $(readlink "/proc/$process/exe") in
      */walkhammer_child)
        child=$process
        return 0
        ;;
    esac
  done
  return 1
}

is_readable_run() {
  [ "$(sqlite3 "$1/run.db" 'pragma integrity_check')" = ok ]
  [ "$(sqlite3 "$1/run.db" 'select count(*) > 0 from sqlite_master')" = 1 ]
}

clean_or_findings() {
  [ "$status" -eq 0 ] || [ "$status" -eq 1 ]
}

# ---- unusable places ----

@test "--out that is in use, a file or below one" {
  need_jdk
  mkdir "$tmp/full"
  echo mine >"$tmp/full/file"
  refuses 2 "$tmp/full" fuzz --jdk "$jdk" --time 1s --out "$tmp/full"
  refuses 2 "$tmp/full/file" fuzz --jdk "$jdk" --time 1s --out "$tmp/full/file"
  refuses 2 "$tmp/full/file/run" fuzz --jdk "$jdk" --time 1s --out "$tmp/full/file/run"
  [ "$(ls -A "$tmp/full")" = file ]
  [ "$(cat "$tmp/full/file")" = mine ]
}

@test "--out that is not writable" {
  need_jdk
  # Not even root may make folders there.
  refuses 2 "/proc/walkhammer" fuzz --jdk "$jdk" --time 1s --out /proc/walkhammer
  [ "$(id -u)" -ne 0 ] || return 0
  mkdir -m 555 "$tmp/locked"
  refuses 2 "$tmp/locked" fuzz --jdk "$jdk" --time 1s --out "$tmp/locked/run"
}

# Mounts a file system of 8 MiB at $mounted, or skips the test.
mount_small() {
  [ "$(id -u)" -eq 0 ] || skip "only root mounts"
  mkdir "$tmp/small"
  mount -t tmpfs -o size=8m none "$tmp/small" 2>/dev/null || skip "mounting is not permitted"
  mounted=$tmp/small
}

fill_up() {
  dd if=/dev/zero of="$mounted/filler" bs=4k 2>/dev/null || true
}

@test "--out on a full disk" {
  need_jdk
  mount_small
  mkdir "$mounted/run"
  fill_up
  run --separate-stderr timeout 60 "$walkhammer" fuzz --jdk "$jdk" --time 2s --out "$mounted/run"
  echo "exit code $status: $stderr"
  [ "$status" -eq 2 ] || [ "$status" -eq 4 ]
  [[ "${stderr_lines[-1]}" == "walkhammer: "* ]]
  [[ "${stderr_lines[-1]}" =~ full|space|$mounted ]]
}

@test "a disk that runs full during a run" {
  need_jdk
  mount_small
  start fuzz --jdk "$jdk" --time 6s --out "$mounted/run"
  await 20 test -e "$mounted/run/run.db"
  await 20 has_child
  fill_up
  await_end 90
  [ "$status" -eq 2 ] || [ "$status" -eq 4 ]
  [[ "$(tail -n 1 "$tmp/stderr")" == "walkhammer: "* ]]
  # The run knows how it ended, as long as the disk is full, too.
  run --separate-stderr "$walkhammer" report "$mounted/run"
  echo "$output $stderr"
  [ "$status" -eq 4 ]
  [[ "$output" == *"the disk is full"* ]]
  [[ "$output" != *"was killed"* ]]
}

@test "two runs on one folder at once" {
  need_jdk
  start fuzz --jdk "$jdk" --walks 100000 --no-confirm --out "$out"
  await 20 test -e "$out/run.db"
  refuses 2 "$out" fuzz --jdk "$jdk" --time 1s --out "$out"
  await_end 90
  clean_or_findings
  is_readable_run "$out"
}

# ---- runs ----

@test "a short run ends in a readable run folder" {
  need_jdk
  run --separate-stderr timeout 120 "$walkhammer" fuzz --jdk "$jdk" --time 3s --seed 7 --scene c2 \
    --minimize-time 2s --out "$out"
  echo "exit code $status: $output $stderr"
  clean_or_findings
  [ -n "$output" ]
  is_readable_run "$out"
  found=$status
  run --separate-stderr "$walkhammer" report "$out" --json
  [ "$status" -eq "$found" ] || [ "$status" -eq 0 ]
  is_json "$output"
}

@test "a run of few walks, one scene, JVM flags and JSON" {
  need_jdk
  run --separate-stderr timeout 120 "$walkhammer" fuzz --jdk "$jdk" --walks 2000 --scene c1 \
    --scene interpreted-recursion --json --no-confirm --out "$out" -- -XX:+UseSerialGC
  echo "exit code $status: $stderr"
  clean_or_findings
  is_json "$output"
  is_readable_run "$out"
}

# Nineteen clean replays of twenty must not hide the one that could not be walked.
@test "a replay that could not be walked is not clean" {
  need_jdk
  gcc -shared -fPIC -x c - -o "$tmp/once.so" <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
__attribute__((constructor)) static void Begin(void) {
  if (strcmp(program_invocation_short_name, "walkhammer_child") == 0 &&
      mkdir(getenv("ONCE"), 0700) == 0)
    _exit(9);
}
END
  printf 'walk 1\nscene c2\n' >"$tmp/clean.walk"
  LD_PRELOAD=$tmp/once.so ONCE=$tmp/once run --separate-stderr timeout 120 \
    "$walkhammer" replay "$tmp/clean.walk" --jdk "$jdk" --times 3
  echo "exit code $status: $output" "$stderr"
  [ "$status" -eq 4 ]
  [[ "$output" == *"1 x      could not be walked: "* ]]
  [[ "$stderr" == *"clean.walk: 1 of 3 replays could not be walked: the child died before the walk"* ]]
  run --separate-stderr timeout 120 "$walkhammer" replay "$tmp/clean.walk" --jdk "$jdk" --times 3
  [ "$status" -eq 0 ]
  [ -z "$stderr" ]
}

@test "a found crash can be shown and replayed" {
  need_jdk
  run timeout 180 "$walkhammer" fuzz --jdk "$jdk" --walks 100000 --seed 1 --no-confirm \
    --out "$out"
  clean_or_findings
  file=$(find "$out" -name '*.walk' -type f | sort | head -n 1)
  [ -n "$file" ] || skip "no finding in 100,000 walks"
  run --separate-stderr "$walkhammer" show "$file"
  echo "$output" "$stderr"
  [ "$status" -eq 0 ]
  [[ "$output" =~ ^walk\ [1-4]$'\n' ]]
  run --separate-stderr timeout 120 "$walkhammer" replay "$file" --jdk "$jdk" --times 3
  echo "exit code $status: $output" "$stderr"
  clean_or_findings
  [[ "$output" =~ [0-9]\ ?(/|of)\ ?3 ]]
}

# ---- what a run survives ----

@test "SIGINT ends a run cleanly" {
  need_jdk
  start_walking
  kill -INT "$pid"
  await_end 60
  # 4: interrupted before the scenes had walked.
  clean_or_findings || [ "$status" -eq 4 ]
  is_readable_run "$out"
  await 5 is_gone "$child"
}

@test "a killed child has a successor" {
  need_jdk
  start_walking --workers 1 --no-confirm
  first=$child
  kill -9 "$first"
  not_this=$first
  await 60 has_child
  [ "$child" != "$first" ]
  await 120 walks_on 0
  kill -INT "$pid"
  await_end 120
  clean_or_findings
  is_readable_run "$out"
}

# walks_on BEFORE: whether the run has made 1000 walks more than BEFORE.
walks_on() {
  [ "$(ask "SELECT walks > 1000 + $1 FROM run")" = 1 ]
}

@test "a child that another process kills is not a finding" {
  need_jdk
  # The OOM killer sends the first signal.
  start fuzz --jdk "$jdk" --walker asgst --scene c2 --time 5m --workers 1 --no-confirm --out "$out"
  before=0
  for signal in KILL SEGV; do
    await 60 has_child
    await 60 walks_on "$before"
    kill -s "$signal" "$child"
    not_this=$child
    before=$(ask "SELECT walks FROM run")
  done
  await 60 has_child
  await 60 walks_on "$before"
  kill -INT "$pid"
  await_end 120
  cat "$tmp/stdout"
  [ "$status" -eq 0 ]
  grep -q "incident: 2x killed from outside: by SIGSEGV of pid $$" "$tmp/stdout"
  run ! grep -qi 'death' "$tmp/stdout"
}

@test "a killed parent leaves a readable run and no child" {
  need_jdk
  start_walking
  kill -9 "$pid"
  await_end 10
  await 10 is_gone "$child"
  # Wherever its journal is cut off, what stood in it until there is whole.
  size=$(stat -c %s "$out/run.db-wal")
  for part in 0 1 2 3 4 5 6 7; do
    cp -r "$out" "$tmp/cut"
    truncate -s "$((size * part / 8 + 37 * part))" "$tmp/cut/run.db-wal"
    rm "$tmp/cut/run.db-shm"
    [ "$(sqlite3 "$tmp/cut/run.db" 'pragma integrity_check')" = ok ]
    rm -r "$tmp/cut"
  done
  is_readable_run "$out"
  # All that was printed is there.
  [ "$(sqlite3 -readonly "$out/run.db" 'SELECT count(*) FROM bucket')" -ge \
    "$(grep -c '^met at ' "$tmp/stderr")" ]
}

@test "minimize keeps the signature with few edits, and has nothing left to do on its own output" {
  "$walkhammer" fuzz --walker puzzle-crash --scene c2 --walks 3000 --no-confirm --out "$out" \
    >/dev/null 2>&1 || [ $? -eq 1 ]
  input=$(find "$out" -path '*Misbehave*' -name input.walk)
  run --separate-stderr "$walkhammer" minimize "$input" --out "$tmp/small.walk"
  [ "$status" -eq 1 ]
  [ "$(grep -c '^edit' "$tmp/small.walk")" -eq 0 ]
  grep -q '^expect crash .*Misbehave' "$tmp/small.walk"
  "$walkhammer" minimize "$tmp/small.walk" --out "$tmp/smaller.walk" >/dev/null 2>&1 ||
    [ $? -eq 1 ]
  diff "$tmp/small.walk" "$tmp/smaller.walk"
}

# Whether the children of $pid, then in $children, are others than $former. has_child is too slow
# for children that live for a second.
has_another_child() {
  children=$(pgrep -P "$pid") && [ "$children" != "$former" ]
}

@test "the first Ctrl-C ends replay and minimize at once, and keeps what they know" {
  "$walkhammer" fuzz --walker puzzle-crash --scene c2 --walks 3000 --no-confirm --out "$out" \
    >/dev/null 2>&1 || [ $? -eq 1 ]
  input=$(find "$out" -path '*Misbehave*' -name input.walk)
  for verb in replay minimize; do
    options=
    [ "$verb" = replay ] || options="--out $tmp/small.walk"
    # shellcheck disable=SC2086  # no blank in it, or none at all
    start "$verb" "$input" --times 1000 $options
    former=
    await 20 has_another_child
    former=$children
    await 60 has_another_child # the first process has shown the finding
    kill -INT "$pid"
    await_end 1
    grep -q interrupted "$tmp/stderr"
    for child in $children; do await 5 is_gone "$child"; done
    case $verb in
      replay)
        [ "$status" -eq 1 ]
        grep -q 'reproduced  [1-9][0-9]* of [1-9][0-9]*$' "$tmp/stdout"
        run ! grep -q 'could not be walked' "$tmp/stdout"
        ;;
      minimize)
        [ "$status" -eq 4 ]
        grep -q '^expect crash .*Misbehave' "$tmp/small.walk"
        diff "$tmp/small.walk" "$tmp/stdout"
        ;;
    esac
  done
}

@test "minimize of a request without a finding says so" {
  printf 'walk 1\nwalker agct\nscene c2\nstate in_Java\n' >"$tmp/clean.walk"
  refuses 2 "nothing to minimise" minimize "$tmp/clean.walk"
}
