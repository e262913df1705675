#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# From a crash report to a verdict: import, reproduce, replay --keep-crash.
# shellcheck disable=SC2154  # lib.bash sets these

load lib

setup() {
  cd "$BATS_TEST_DIRNAME/../.." || return 1
  jdk=/usr/lib/jvm/java-17-openjdk-amd64
  [ -d "$jdk" ] || skip "no $jdk"
  out=$BATS_TEST_TMPDIR
  crash=corpora/regressions/jdk17/agct-frame-interpreter_frame_method-0x4.walk
}

# leave_log: makes $log of a JVM that the walk has ended; and $core, where this machine writes one.
leave_log() {
  "$walkhammer" replay "$crash" --jdk "$jdk" --keep-crash "$out/died" >"$out/said" 2>&1 || true
  log=$(ls "$out"/died/*.hs_err.log)
  core=$(find "$out/died" -name 'core*' | head -n 1)
}

# stored_log: makes $log of one that the tests of the reader have, without its expectations.
stored_log() {
  log=$out/stored.log
  sed '/^EXPECT /d' harness/hs_err/testdata/17.0.15-agct-3.log >"$log"
}

@test "a walk that is not contained ends the JVM and leaves its log" {
  leave_log
  grep -q 'death SIGSEGV frame::interpreter_frame_method' "$out/said"
  grep -q '^# V .*frame::interpreter_frame_method' "$log"
  grep -q 'AsyncGetCallTrace' "$log"
}

@test "inputs of one name in two folders leave a log each" {
  mkdir "$out/a" "$out/b"
  cp "$crash" "$out/a/input.walk"
  cp "$crash" "$out/b/input.walk"
  run -1 "$walkhammer" replay "$out/a/input.walk" "$out/b/input.walk" --jdk "$jdk" \
    --keep-crash "$out/died"
  [ "$(find "$out/died" -name 'input-*.hs_err.log' | wc -l)" -eq 2 ]
}

@test "import names the walker, and writes requests that show can read" {
  leave_log
  run -0 "$walkhammer" import "$log" --out "$out/requests"
  [[ $output == *"yes, AsyncGetCallTrace"* ]]
  [[ $output == *"frame::interpreter_frame_method"* ]]
  local requests
  requests=$(find "$out/requests" -name '*.walk' | wc -l)
  [ "$requests" -eq 8 ]
  [ "$(printf '%s\n' "$output" | grep -c "^    .*$out/requests/.*\.walk  .")" -eq 8 ]
  [[ $output == *"candidates   8, the likeliest of "* ]]
  [[ ${lines[-1]} == "  next         walkhammer import --reproduce $log --jdk JDK" ]]
  run -0 "$walkhammer" show "$out"/requests/*.walk
}

@test "import says that a profiler which is only loaded is not guilty" {
  leave_log
  # The same log without the walker's frames, as of a crash elsewhere.
  grep -v 'AsyncGetCallTrace\|forte_\|walkhammer_child\|frame::' "$log" >"$out/innocent.log"
  run -0 "$walkhammer" import "$out/innocent.log" --out "$out/requests"
  [[ $output == *"a walker?    no:"* ]]
  [[ ${lines[-1]} == "  next         walkhammer import --redact $out/innocent.log >attachment.log" ]]
  [ ! -e "$out/requests" ]
}

# cut_log: makes $cut of a log that ends within its native frames, before the walker's own.
cut_log() {
  stored_log
  cut=$out/cut.log
  # A function that no walk can show, so that no JDK does.
  sed '/vframeStreamForte/,$d; s/frame::sender/frame::of_no_jdk/' "$log" >"$cut"
}

@test "a log that is cut before the walker's frames is unknown, never a no" {
  cut_log
  run -0 "$walkhammer" import "$cut" --out "$out/requests"
  [[ $output == *"a walker?    unknown: "* ]]
  [[ $output == *"would help   the whole hs_err log"* ]]
  [[ ${lines[-1]} == '  next         gdb -batch -ex "thread apply all bt" JAVA -c CORE' ]]
  "$walkhammer" import "$log" --out "$out/whole" >"$out/said"
  grep -q 'a walker?    yes, AsyncGetCallTrace' "$out/said"
}

@test "reproduce of an unknown goes on, and ends with another code than that of a no" {
  cut_log
  run -3 "$walkhammer" import --reproduce "$cut" --jdk "$jdk" --time 2s --no-stress --no-known-inputs --out "$out/tried"
  [[ $output == *"it is unknown whether a walker crashed"* ]]
  [[ $output == *"tried        candidates"* ]]
  [[ $output != *"nothing to reproduce"* ]]
  # Neither a function nor a frame: nothing can be tried.
  sed '/^# V /d; /^V /d; /^C /d; /^j /d; /^v /d' "$cut" >"$out/empty.log"
  run -3 "$walkhammer" import --reproduce "$out/empty.log" --jdk "$jdk" --out "$out/none"
  [[ $output == *"cannot try to reproduce it"* ]]
  [ ! -e "$out/none" ]
  sed 's/^\(# \)\?V .*/\1V  [libjvm.so+0x1]  Thread::call_run()+0x1/' "$cut" >"$out/innocent.log"
  run -0 "$walkhammer" import --reproduce "$out/innocent.log" --jdk "$jdk" --out "$out/innocent"
  [[ $output == *"nothing to reproduce"* ]]
}

@test "reproduce takes the first crash of a text that may be a walker's" {
  cut_log
  sed 's/^\(# \)\?V .*/\1V  [libjvm.so+0x1]  Thread::call_run()+0x1/' "$cut" >"$out/innocent.log"
  cat "$out/innocent.log" "$log" >"$out/both.log"
  run --separate-stderr "$walkhammer" import --reproduce "$out/both.log" --jdk "$jdk" --time 1s \
    --no-stress --no-known-inputs --no-minimize --out "$out/both"
  echo "$output"
  [[ ${lines[0]} == "$out/both.log, crash 2 of 2" ]]
  [[ $output == *"a walker?    yes, AsyncGetCallTrace"* ]]
  [[ $output != *"nothing to reproduce"* ]]
}

@test "import refuses what is not a crash report, in one sentence" {
  echo 'nothing of interest' >"$out/text"
  run -2 "$walkhammer" import "$out/text"
  [[ $output == *"is not a crash report"* ]]
  run -2 "$walkhammer" import "$out/missing"
  run -2 "$walkhammer" import "$out"
}

@test "reproduce shows the crash of a log again, and minimises it" {
  leave_log
  run -1 "$walkhammer" import --reproduce "$log" --jdk "$jdk" --no-stress --out "$out/again"
  [[ $output == *"verdict      reproduced, "*"frame::interpreter_frame_method"* ]]
  [[ $output == *"input        a known input of walkhammer; realism: "[a-z]* ]]
  [[ ${lines[-1]} == "next           walkhammer bundle $out/again/minimized.walk --jdk $jdk --out $out/again/bundle" ]]
  # shellcheck disable=SC2086  # a command, as it is typed
  "$walkhammer" ${lines[-1]#next           walkhammer } || [ "$?" -le 1 ]
  [ -e "$out/again/bundle/replay.sh" ]
  run -1 "$walkhammer" replay "$out/again/reproduced.walk" --jdk "$jdk"
  run -1 "$walkhammer" replay "$out/again/minimized.walk" --jdk "$jdk"
}

@test "a core gives the walked context exactly" {
  leave_log
  [ -n "$core" ] || skip 'this machine writes no core into the working folder (core_pattern)'
  run -0 "$walkhammer" import "$core" --out "$out/requests"
  [[ $output == *"yes, AsyncGetCallTrace"* ]]
  [[ $output == *"without an assumption"* ]]
  run -1 "$walkhammer" replay "$out/requests/01.walk" --jdk "$jdk"
  [[ $output == *"crash frame::interpreter_frame_method"* ]]
}

@test "reproduce says what it tried if nothing shows the crash" {
  # A walker's frame that no walk of this JDK has: the chain is to blame, the function does not exist.
  leave_log
  sed 's/frame::interpreter_frame_method() const/frame::of_no_jdk() const/' "$log" >"$out/other.log"
  run -0 "$walkhammer" import --reproduce "$out/other.log" --jdk "$jdk" --time 4s --no-stress --out "$out/no"
  [[ $output == *"verdict      not reproduced"* ]]
  [[ $output == *"tried        candidates"* ]]
  [[ $output == *"tried        fuzzing by libfuzzer"* ]]
}

@test "reproduce shows how far it is" {
  leave_log
  sed 's/frame::interpreter_frame_method() const/frame::of_no_jdk() const/' "$log" >"$out/other.log"
  TERM=xterm in_terminal 200 "$walkhammer" import --reproduce "$out/other.log" --jdk "$jdk" --time 4s \
    --stress-time 4s --out "$out/shown" >"$out/drawn"
  sed -n 's|.*\(stage: [a-z ]*[a-z]\).*|\1|p' "$out/drawn" >"$out/stages"
  [ "$(cat "$out/stages")" = "stage: candidates
stage: fuzzing by libfuzzer
stage: fuzzing by random
stage: stress with" ]
  [ "$(grep -c ' walks, .* buckets (0 confirmed)' "$out/drawn")" -ge 2 ]
  grep -q ' of 8 cells done, ' "$out/drawn"
}

@test "reproduce tells of each JDK, also if one cannot be used" {
  stored_log
  "$walkhammer" import --reproduce "$log" --jdk "$jdk" --jdk "$jdk" --json --out "$out/both" -- -XX:NoSuchFlag=1 \
    >"$out/json" 2>"$out/said" && return 1
  [ "$?" -eq 3 ]
  [ "$(grep -c '"verdict": "failed"' "$out/json")" -eq 2 ]
  [ "$(grep -c "^walkhammer: $jdk: the JVM does not start with these flags" "$out/said")" -eq 2 ]
}

@test "reproduce refuses wrong options before it walks" {
  stored_log
  mkdir "$out/full"
  touch "$out/full/file"
  for options in "--time x" "--stress-time x" "--out $out/full"; do
    # shellcheck disable=SC2086  # two words
    refuses 2 "${options%% *}" import --reproduce "$log" --jdk "$jdk" $options
  done
  [ "$(ls "$out/full")" = file ]
}

# profiler_log LIBRARY FRAME: makes $log of a JVM that crashed in a function of a library, which a
# signal handler had called from Java code.
profiler_log() {
  log=$out/profiler.log
  local name
  name=$(basename "$1")
  cat >"$log" <<LOG
#
# A fatal error has been detected by the Java Runtime Environment:
#
#  SIGSEGV (0xb) at pc=0x00007f3535000e95, pid=184, tid=247
#
# JRE version: OpenJDK Runtime Environment (17.0.15+6) (build 17.0.15+6)
# Java VM: OpenJDK 64-Bit Server VM (17.0.15+6, mixed mode, sharing, tiered, g1 gc, linux-amd64)
# Problematic frame:
# C  [$name+0xe95]  $2+0x25
#

---------------  S U M M A R Y ------------

Command Line: -Xint -agentpath:/opt/libasyncProfiler.so=start,event=wall,file=/x.jfr App

---------------  T H R E A D  ---------------

Current thread (0x00007f353c1ecf80):  JavaThread "main" [_thread_in_Java, id=247, stack(0x00007f34c0c00000,0x00007f34c1c00000)]

Stack: [0x00007f34c0c00000,0x00007f34c1c00000],  sp=0x00007f34c1bf8670,  free space=16353k
Native frames: (J=compiled Java code, j=interpreted, Vv=VM code, C=native code)
C  [$name+0xe95]  $2+0x25
C  [$name+0x1234]  on_signal+0x58
C  [libc.so.6+0x3c050]  __restore_rt+0x0
j  wh.App.main([Ljava/lang/String;)V+12

siginfo: si_signo: 11 (SIGSEGV), si_code: 1 (SEGV_MAPERR), si_addr: 0x0000000000001000

Dynamic libraries:
7f3535000000-7f3535100000 r-xp 00000000 08:01 12 $1

END.
LOG
}

@test "a renamed library is known by what it exports, if its file is here" {
  printf 'int Java_one_profiler_AsyncProfiler_start0(void) { return 0; }\n' >"$out/a.c"
  "${CC:-cc}" -shared -fPIC -o "$out/blob.tmp" "$out/a.c"
  profiler_log "$out/blob.tmp" 'StackWalker::walkVM(void*, ASGCT_CallFrame*, int)'
  run -0 "$walkhammer" import "$log" --out "$out/known"
  [[ $output == *"yes, async-profiler's own walker"* ]]
  profiler_log "$out/gone.tmp" 'StackWalker::walkVM(void*, ASGCT_CallFrame*, int)'
  run -0 "$walkhammer" import "$log" --out "$out/unknown"
  [[ $output == *"yes, a profiler's own walker"* ]]
  mkfifo "$out/pipe.tmp"
  profiler_log "$out/pipe.tmp" 'StackWalker::walkVM(void*, ASGCT_CallFrame*, int)'
  run -0 timeout 20 "$walkhammer" import "$log" --out "$out/pipe"
  [[ $output == *"yes, a profiler's own walker"* ]]
}

@test "reproduce drives the profiler's own walker, out of its library" {
  local library=$out/walker.so # its path is printed as it is
  cp "$(dirname "$walkhammer")/providers/fake_profiler_escapes.so" "$library"
  profiler_log /opt/libasyncProfiler.so '(anonymous namespace)::Walk(void*, ASGCT_CallFrame*, int, int)'
  sed -i 's/^C .*on_signal.*/C  [libasyncProfiler.so+0x99]  StackWalker::walkVM(void*)+0x9\n&/' "$log"
  run --separate-stderr "$walkhammer" import --reproduce "$log" --jdk "$jdk" --time 20s --no-stress \
    --library "$library" --out "$out/own"
  echo "exit code $status: $output $stderr"
  [ "$status" -eq 1 ]
  [[ $output == *"verdict      reproduced, "*Walk* ]]
  [[ $stderr != *"stands in"* ]]
  grep -q '^walker asprof-vm' "$out/own/reproduced.walk"
  [[ ${lines[-1]} == *"--library $library --jdk $jdk"* ]]
  # Without its library, AsyncGetCallTrace stands in, and does not crash there.
  run --separate-stderr "$walkhammer" import --reproduce "$log" --jdk "$jdk" --time 2s --no-stress \
    --out "$out/other"
  [ "$status" -eq 0 ]
  [[ $output == *"not reproduced"* ]]
  [[ $stderr == *"with --library FILE.so, async-profiler's own walker itself is driven"* ]]
  # A library does not help where another walker crashed.
  stored_log
  run -2 "$walkhammer" import --reproduce "$log" --jdk "$jdk" --library "$library" --out "$out/agct"
  [[ $output == *"did not crash in a walker of this library"* ]]
}

@test "reproduce has the profiler itself profile, with the options of the report" {
  local library
  library=$(dirname "$walkhammer")/providers/fake_profiler_profiles.so
  profiler_log /opt/libasyncProfiler.so 'StackWalker::walkVM(void*, ASGCT_CallFrame*, int)'
  sed -i 's/ -Xint / /' "$log" # the flag would be a second profile, which doubles the time
  run --separate-stderr "$walkhammer" import --reproduce "$log" --jdk "$jdk" --time 1s \
    --stress-time 4s --library "$library" --out "$out/profiled"
  echo "exit code $status: $output $stderr"
  [ "$status" -eq 1 ]
  [[ $output == *"reproduced under load, without a request that replays: death SIGSEGV"*walkVM* ]]
  [[ $output == *"tried        the profiler itself (start,event=wall)"* ]]
  [[ ${lines[-1]} == *"walkhammer report $out/profiled/profiler" ]]
  # Without the option, this agent does not crash.
  sed -i 's/event=wall/event=cpu/' "$log"
  run --separate-stderr "$walkhammer" import --reproduce "$log" --jdk "$jdk" --time 1s \
    --stress-time 4s --library "$library" --out "$out/quiet"
  echo "exit code $status: $output $stderr"
  [ "$status" -eq 0 ]
  [[ $output == *"tried        the profiler itself (start,event=cpu)"* ]]
}
