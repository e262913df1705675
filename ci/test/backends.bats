#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Other profilers as the load: JFR and agents, on the oldest and the newest JDK of this machine.
# shellcheck disable=SC2154  # bats sets stderr

load lib

setup_file() {
  # An agent whose option is ACTION:FILE; it does ACTION with FILE: write, few, rubbish, recording,
  # nothing, abort, refuse.
  cat >"$BATS_FILE_TMPDIR/agent.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int Agent_OnLoad(void *vm, char *options, void *reserved) {
  (void)vm, (void)reserved;
  char *path = strchr(options, ':');
  *path++ = 0;
  if (strcmp(options, "abort") == 0) abort();
  if (strcmp(options, "refuse") == 0) return -1;
  if (strcmp(options, "nothing") == 0) return 0;
  FILE *file = fopen(path, "w");
  if (file == NULL) return -1;
  if (strcmp(options, "write") == 0) fputs("java/lang/Thread.run;a/B.c 400\n[unknown_Java] 20\n", file);
  if (strcmp(options, "few") == 0) fputs("a;b 99\n", file);
  if (strcmp(options, "rubbish") == 0) fputs("a;b 1\na;", file);
  if (strcmp(options, "recording") == 0) fwrite("FLR\0rubbish\n", 1, 12, file);
  return fclose(file);
}
C
  "${CC:-gcc}" -shared -fPIC -o "$BATS_FILE_TMPDIR/agent.so" "$BATS_FILE_TMPDIR/agent.c"
}

setup() {
  agent=$BATS_FILE_TMPDIR/agent.so
  mapfile -t jdks < <("$walkhammer" show jdks | sed -n 's|^\(/[^ ]*\)  .*|\1|p' | sed -n '1p;$p' |
    uniq)
  [ "${#jdks[@]}" -gt 0 ] || skip "no JDK on this machine"
}

# stress CODE WALKER ARGUMENTS...: a short run of the newest JDK, whose exit code must be CODE.
stress() {
  local code=$1 walker=$2
  shift 2
  rm -rf "$tmp/run"
  run --separate-stderr timeout 100 "$walkhammer" stress --workload torture:interfaces \
    --walker "$walker" --jdk "${jdks[-1]}" --out "$tmp/run" "$@"
  echo "stress --walker $walker: exit code $status, stdout '$output', stderr '$stderr'"
  with_report "$tmp/run"
  [ "$status" -eq "$code" ]
}

# refused PART ARGUMENTS...: one sentence that contains PART, before a run.
refused() {
  refuses 2 "$@" --workload torture:mixed --out "$tmp/run"
  [ ! -e "$tmp/run" ]
}

@test "jfr: samples on each JDK, whose recording reads back" {
  local homes=()
  for jdk in "${jdks[@]}"; do homes+=(--jdk "$jdk"); done
  run --separate-stderr timeout 100 "$walkhammer" stress --workload torture:mixed --walker jfr \
    --time 4s "${homes[@]}" --out "$tmp/run"
  echo "$output" "$stderr"
  [ "$status" -eq 0 ]
  [[ "${lines[0]}" == "CLEAN: "* ]]
  with_report "$tmp/run"
  [ "$(grep -c "sampled  *jfr: " <<<"$output")" -eq "${#jdks[@]}" ]
  [ "$(grep -c "^ .* ExecutionSample .* frames" <<<"$output")" -eq "${#jdks[@]}" ]
  grep -Eq "^ *signals +[1-9][0-9,]* delivered" <<<"$output"
}

# A thread's CPU timer expires once a clock tick: 250 times a second on Debian.
@test "jfr: its sampler of CPU time walks more often than timers expire" {
  [ "$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "${jdks[-1]}/release")" -ge 25 ] ||
    skip "no JDK 25 or later, which has that sampler"
  [ -r /proc/self/timers ] || skip "this kernel has no /proc/PID/timers"
  stress 0 jfr --interval 50us --time 5s
  grep -Eq "with [1-9][0-9]* signals as its timers send them" <<<"$output"
  local samples
  samples=$(sqlite3 "$tmp/run/run.db" "select sum(count) from count where state = 'CPUTimeSample'")
  echo "$samples samples"
  [ "$samples" -gt $((5 * 2 * 300)) ]
}

@test "agent: what it wrote is its samples" {
  stress 0 "agent:$agent=write:{out}" --time 1s
  [[ "$output" == "CLEAN: "* ]]
  grep -Eq "walks +420, 95.24 % successful" <<<"$output"
  grep -Eq "420 +collapsed +95.24 % frames, 4.76 % \[unknown_Java\]" <<<"$output"
}

@test "agent: nothing written, unreadable output, an abort of the JVM, and one that does not start" {
  while IFS='|' read -r code action verdict part; do
    stress "$code" "agent:$agent=$action" --time 1s
    [[ "${lines[0]}" == "$verdict: "* ]]
    [[ "$output" == *"$part"* ]]
  done <<'END'
4|nothing:{out}|VACUOUS|it wrote nothing into {out}
4|rubbish:{out}|FAILED|bad-output (profile-0: line 2 is not a collapsed stack: a;)
4|few:{out}|VACUOUS|(only 99 walks were made, and a verdict requires 100: a longer
4|recording:{out}|FAILED|bad-output (profile-0: its JDK cannot read the recording
1|abort:x|FINDINGS|SIGABRT
3|refuse:x|SKIPPED|the JVM did not start:
END
}

@test "bad usage is refused before a run" {
  refused "no library $tmp/no.so" stress --walker "agent:$tmp/no.so=start"
  refused "agent:PATH=OPTIONS" stress --walker agent:
  refused "walks alone" stress --walker jfr --walker agct
  refused "in its own way" stress --walker jfr --mode parked
  refused "for stress with" step --walker jfr
}

# As OpenJ9's: what such backends need of a JVM is its command alone.
@test "a JVM without vmStructs and AsyncGetCallTrace can be the load of other profilers' backends" {
  home=$tmp/home
  mkdir -p "$home/bin" "$home/lib/server"
  echo 'int JNI_CreateJavaVM = 1;' |
    "${CC:-gcc}" -x c -shared -fPIC -o "$home/lib/server/libjvm.so" -
  cp "${jdks[-1]}/release" "$home"
  printf '#!/bin/sh\nexec "%s/bin/java" "$@"\n' "${jdks[-1]}" >"$home/bin/java"
  chmod +x "$home/bin/java"
  jdks=("$home")
  stress 0 "agent:$agent=write:{out}.txt" --time 2s
  stress 4 "agent:$agent=nothing:{out}.txt" --time 2s
  stress 1 "agent:$agent=abort:{out}.txt" --time 2s
  stress 3 agct --time 2s
  [[ "$output" == *"exports no AsyncGetCallTrace"* ]]
  rm -rf "$tmp/run"
  WALKHAMMER_JDK=$home run timeout 100 "$walkhammer" stress --workload torture:interfaces \
    --walker "agent:$agent=write:{out}.txt" --time 2s --out "$tmp/run"
  [ "$status" -eq 0 ]
  [ "$(sqlite3 "$tmp/run/run.db" "select jdk_path from cell")" = "$home" ]
}
