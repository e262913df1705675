#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The example profiler, end to end: it uses libasgst.so alone, as another profiler would.
# shellcheck disable=SC2154  # lib.bash sets these

load lib

setup() {
  build=$(dirname "$walkhammer")
  flames=$BATS_TEST_TMPDIR/flames.svg
}

# profile JDK MODE [SECONDS]: two seconds of the torture program `interfaces`, which unloads no class.
profile() {
  run timeout 90 "$1/bin/java" -Xmx256m \
    "-agentpath:${profiler:-$build/libexample_profiler.so}=$2,1000,$flames" \
    -cp "$build/walkhammer-torture.jar" wh.torture.Main interfaces --seconds "${3:-2}" --threads 2
  echo "$1 $2: exit code $status: $output"
}

# samples METHOD: the largest number of samples of a frame of that name in the flame graph; 0 if
# there is none.
samples() {
  sed -n "s|^<g><title>$1: \([0-9]*\) samples.*|\1|p" "$flames" | sort -n | tail -n 1 | grep . || echo 0
}

@test "each way to walk draws the program's flames" {
  for jdk in $(jdks); do
    for mode in agct iterator queue; do
      for seconds in 2 8 30; do # a busy machine needs longer
        profile "$jdk" "$mode" "$seconds"
        [ "$status" -eq 0 ]
        all=$(samples all)
        [ "$all" -le 100 ] || break
      done
      [ "$all" -gt 100 ]
      # The program's own work is at least a third of the samples; the rest is the JVM's start.
      [ "$(samples "wh/torture/Run.lambda[$]play[$]0")" -gt $((all / 3)) ]
      [ "$(samples "(unknown)")" -le $((all / 50)) ]
      [ "$(head -c 4 "$flames")" = "<svg" ]
      [ "$(tail -n 1 "$flames")" = "</svg>" ]
      failed=$(sed -n 's/.* stacks, \([0-9]*\) failed.*/\1/p' <<<"$output")
      [ "$mode" = agct ] || [ "$failed" -le $((all / 100)) ]
    done
  done
}

@test "bad options are reported, and the JVM does not start" {
  jdk=$(jdks | head -n 1)
  profile "$jdk" nonsense
  [ "$status" -ne 0 ]
  [[ "$output" == *"the options are MODE,MICROSECONDS,FILE"* ]]
}

@test "built against what is installed, with pkg-config alone, it does the same" {
  jdk=$(jdks | head -n 1)
  [ -d "$jdk/include" ] || skip "$jdk has no jni.h"
  to=$BATS_TEST_TMPDIR/installed
  cmake --install "$build" --component asgst --prefix "$to" >/dev/null
  find "$to" -printf '%P\n'
  export PKG_CONFIG_PATH=$to/lib/pkgconfig
  grep -q "define ASGST_API_VERSION 0$" "$to/include/asgst/asgst.h"
  profiler=$BATS_TEST_TMPDIR/profiler.so
  # shellcheck disable=SC2046  # words
  c++ -std=c++20 -O1 -fPIC -shared "$BATS_TEST_DIRNAME/../../docs/examples/profiler.cc" \
    $(pkg-config --cflags --libs asgst) -I"$jdk/include" -I"$jdk/include/linux" -o "$profiler"
  readelf -d "$profiler" | grep -q 'NEEDED.*\[libasgst.so.0\]'
  LD_LIBRARY_PATH=$to/lib profile "$jdk" iterator
  [ "$status" -eq 0 ]
  [ "$(samples all)" -gt 100 ]
}
