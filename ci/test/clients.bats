#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Profilers that know the documents alone (harness/asgst/testing/clients), on libasgst.so: they are
# not linked with it, call nothing of it by its own names, and run while classes come and go.
# Each of them runs on each line of JDKs from 8 on that ci/setup/jdks.sh provides.
# shellcheck disable=SC2030,SC2031,SC2154  # bats sets stderr; each test has its own $output

load lib
# shellcheck source=ci/test/lib_clients.sh
. "$BATS_TEST_DIRNAME/lib_clients.sh"

setup_file() {
  cd "$BATS_TEST_DIRNAME/../.." || return 1
  export JDKS=$BATS_FILE_TMPDIR/jdks
  ci/setup/jdks.sh 8 11 17 21 25 28 >"$JDKS" 2>"$JDKS.err" || true
  sed 's/^/# /' "$JDKS.err" >&3
}

setup() {
  # LD_PRELOAD and jcmd divide paths at blanks.
  build=$BATS_TEST_TMPDIR/build
  ln -s "$(dirname "$walkhammer")" "$build"
  libasgst=$build/libasgst.so
}

# profile HOME CLIENT SECONDS [OPTION]: the client on a program that loads and unloads classes.
profile() {
  run run_client "$1" "$2" "${4:-}" "$3" 2 classes -Xmx256m
  echo "$1 $2 $3 s: exit code $status: $(grep -v '^torture' <<<"$output" | head -n 20)"
}

# count WHAT: the number behind this word in the client's line.
count() {
  sed -n "s/.* $1 \([0-9]*\).*/\1/p" <<<"$output" | head -n 1 | grep . || echo "no-$1"
}

# at_most PART WHOLE [SHARE]: PART is at most 1 / SHARE of WHOLE, by default 0.5 %.
at_most() {
  [ $((${3:-200} * $1)) -le "$2" ]
}

# What must hold however long a client of sampling.h has run.
sound() {
  [ "$status" -eq 0 ]
  [ "$(count other-codes)" -eq 0 ]
  [ "$(count wrong-names)" -eq 0 ]
  [[ "$output" != *libasgst:* ]]
}

# good SHARE: at most 1 / SHARE of the names are unknown, as those of a class that is gone when its
# names are asked for; at most 0.5 % of the samples failed, of threads that have Java frames, or met
# a full queue.
good() {
  [ "$(count samples)" -ge 200 ] && at_most $(($(count failed) + $(count full-queue))) "$(count samples)" &&
    at_most "$(count unknown-names)" "$(count names)" "$1"
}

@test "a profiler that walks by the iterator in its signal handler" {
  [ -s "$JDKS" ] || skip "no JDK is available: $(tail -n 1 "$JDKS.err")"
  while read -r _ home; do
    for seconds in 1 4 16; do # a busy machine needs longer
      profile "$home" iterator "$seconds"
      sound
      ! good 50 || break
    done
    good 50 # names are asked for some milliseconds after the sample, later on a busy machine
  done <"$JDKS"
}

# What waits when the program ends is dropped: where stops serve queues, as much as comes in half a
# second.
most_are_handled() {
  [ "$(count handled)" -ge $(($(count samples) * 9 / 10)) ]
}

@test "a profiler that enqueues in its signal handler, and handles the queue at safepoints" {
  [ -s "$JDKS" ] || skip "no JDK is available: $(tail -n 1 "$JDKS.err")"
  while read -r _ home; do
    for seconds in 1 4 16; do
      profile "$home" queue "$seconds"
      sound
      [ "$(count handled)" -le "$(count samples)" ]
      ! good 200 || ! most_are_handled || [ "$(count unloaded)" -eq 0 ] || break
    done
    good 200
    most_are_handled
    [ "$(count unknown-names)" -eq 0 ] # queues are handled before classes are unloaded
    [ "$(count unloaded)" -gt 0 ]
    [ "$(count unloaded-early)" -ge "$(count unloaded)" ]
    [ "$(count deregistered)" -eq 1 ]
  done <"$JDKS"
}

# Before JDK 17 the capability is off, and the client does nothing.
@test "a profiler that walks incrementally, with frame marks" {
  [ -s "$JDKS" ] || skip "no JDK is available: $(tail -n 1 "$JDKS.err")"
  while read -r name home; do
    for seconds in 1 4 16; do
      profile "$home" mark "$seconds" 1000
      sound
      [ "$name" -ge 17 ] || break
      [ "$(count left)" -lt 200 ] || break
    done
    if [ "$name" -lt 17 ]; then
      [ "$(count moved)" -eq 0 ]
      continue
    fi
    [ "$(count left)" -ge 200 ]
    at_most $(($(count left) - $(count at-caller))) "$(count left)" 100
    [ "$(count kept)" -gt 0 ]
    [ "$(count stale)" -eq 0 ]  # no marked frame has returned unnoticed
    [ "$(count astray)" -eq 0 ] # no mark was called for another thread
  done <"$JDKS"
}

# The codes are those of Java's threads, which may have no Java frame (0). What else failed must be
# 0.5 % and one at most: there are few samples.
@test "a profiler in C that calls AsyncGetStackTrace in its signal handler" {
  [ -s "$JDKS" ] || skip "no JDK is available: $(tail -n 1 "$JDKS.err")"
  while read -r name home; do
    option=
    [ "$name" != 17 ] || option=c
    for seconds in 1 4 16; do
      profile "$home" stack_trace "$seconds" $option
      [ "$status" -eq 0 ]
      [ "$(count odd)" -eq 0 ]
      [ "$(count kept-info)" -eq 0 ]
      [ "$(count samples)" -lt 100 ] || break
    done
    [ "$(count samples)" -ge 100 ]
    [ "$(count inlined)" -gt 0 ]
    at_most "$(count without-id)" "$(count java)"
    failed=$(sed -n 's/.* codes//p' <<<"$output" | xargs -n 1 |
      awk -F : '$1 != 0 && $1 != -10 { n += $2 } END { print n + 0 }')
    at_most $((failed - 1)) "$(count samples)"
    if [ -n "$option" ]; then [ "$(count cpp)" -gt 0 ]; else [ "$(count cpp)" -eq 0 ]; fi
  done <"$JDKS"
}

# preloaded CLIENT ARGUMENT...: the client alone finds libasgst's functions; no agent attaches.
preloaded() {
  need_jdk
  run --separate-stderr timeout 90 env "LD_PRELOAD=$libasgst" "$jdk/bin/java" \
    "-agentpath:$build/lib$1_client.so" -cp "$build/walkhammer-torture.jar" wh.torture.Main \
    classes --seconds 1 --threads 1
  echo "exit code $status: $output; $stderr"
  [ "$status" -eq 0 ]
}

@test "without the agent, the first walk that fails says what to do, and no other" {
  preloaded iterator
  [ "$(grep -c '^libasgst: walks fail, .* -agentpath:' <<<"$stderr")" -eq 1 ]
  [[ "$stderr" == *" samples 0 "* ]]
}

@test "without the agent, registering a queue attaches" {
  preloaded queue
  output=$stderr
  [[ "$output" != *libasgst:* ]]
  [ "$(count samples)" -gt 0 ]
  [ "$(count handled)" -gt 0 ]
  [ "$(count unloaded)" -gt 0 ]
}

@test "loaded into a running JVM, the agent attaches at once" {
  need_jdk
  [ -x "$jdk/bin/jcmd" ] || skip "$jdk has no jcmd"
  LD_PRELOAD=$libasgst "$jdk/bin/java" -XX:+IgnoreUnrecognizedVMOptions \
    -XX:+EnableDynamicAgentLoading "-agentpath:$build/libiterator_client.so" \
    -cp "$build/walkhammer-torture.jar" wh.torture.Main classes --seconds 30 --threads 1 \
    >"$tmp/said" 2>&1 3>&- &
  java=$!
  for ((i = 0; i < 100; i++)); do
    ! grep -q '^libasgst: walks fail' "$tmp/said" || break
    sleep 0.2
  done
  run timeout 60 "$jdk/bin/jcmd" "$java" JVMTI.agent_load "$libasgst" words
  echo "$output"
  [[ "$output" == *"return code: -1"* ]]
  run timeout 60 "$jdk/bin/jcmd" "$java" JVMTI.agent_load "$libasgst"
  echo "$output"
  [[ "$output" == *"return code: 0"* ]]
  sleep 1 # for samples; if there are none yet, the program samples on
  kill "$java"
  wait "$java" || true
  output=$(<"$tmp/said")
  echo "$output"
  [ "$(count samples)" -gt 0 ]
  [[ "$output" == *"libasgst: the option 'words' is unknown"* ]]
}

@test "an unknown option of the agent is reported, and the JVM does not start" {
  need_jdk
  run --separate-stderr timeout 60 "$jdk/bin/java" "-agentpath:$libasgst=words" -version
  echo "exit code $status: $output; $stderr"
  [ "$status" -ne 0 ]
  [ "$(grep -hc "^libasgst: the option 'words' is unknown: the agent takes none$" <<<"$stderr")" -eq 1 ]
}

@test "the installed profile.h and profile2.h compile as C and as C++, with all the documents' names" {
  need_jdk
  [ -d "$jdk/include" ] || skip "$jdk has no jni.h"
  cmake --install "$build" --component asgst --prefix "$tmp/installed" >/dev/null
  clients=$root/harness/asgst/testing/clients
  set -- -Wall -Wextra -Werror -pedantic -fsyntax-only -I"$tmp/installed/include/asgst" \
    -isystem "$jdk/include" -isystem "$jdk/include/linux"
  cc -std=c11 "$@" "$clients/names.c"
  c++ -std=c++20 "$@" "$clients/names.cc"
  for wrong in 'asgst.h profile.h' 'profile.h asgst.h' 'asgst_iterator.h profile2.h' \
    'profile_late.h asgst.h' 'profile_late.h profile2.h' 'profile.h profile_late.h'; do
    # shellcheck disable=SC2086  # words
    printf '#include <%s>\n' $wrong >"$tmp/wrong.c"
    run cc -std=c11 "$@" "$tmp/wrong.c"
    [ "$status" -ne 0 ]
    [[ "$output" == *"include only one"* ]]
  done
}

@test "libasgst exports no AsyncGetCallTrace, which would shadow libjvm's" {
  run nm -D --defined-only "$libasgst"
  [[ "$output" == *" asgst_get_call_trace"* ]]
  [[ "$output" != *" AsyncGetCallTrace"$'\n'* ]]
}

@test "no dlclose unmaps libasgst, whose hooks stay" {
  readelf -d "$libasgst" | grep -q 'FLAGS_1.*NODELETE'
}
