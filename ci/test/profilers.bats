#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Walkers out of profilers' libraries: of fakes with planted bugs, and of the releases that
# ci/setup/profilers.sh has laid out.
# shellcheck disable=SC2154,SC2030,SC2031  # bats sets stderr; each test is a shell of its own

load lib

setup() {
  providers=$(dirname "$walkhammer")/providers
  released=${WALKHAMMER_PROFILERS:-${XDG_CACHE_HOME:-$HOME/.cache}/walkhammer/profilers}
  out=$BATS_TEST_TMPDIR/run
  walker=asprof-vm
}

# fuzz LIBRARY ARGUMENT...: with $walker, into $out, which is empty then.
fuzz() {
  rm -rf "$out"
  local library=$1
  shift
  run --separate-stderr timeout 100 "$walkhammer" fuzz --walker "$walker" --provider "$library" \
    --no-confirm --out "$out" "$@"
  echo "$walker $library $*: exit code $status: $output $stderr"
}

@test "both forms of the walker are known, and their frames are read" {
  for name in fake_profiler fake_profiler_registers; do
    fuzz "$providers/$name.so" --walks 10000
    [ "$status" -le 1 ]
    walks_truly 4000
    [ "$(ask "select count(*) from finding where oracle in
      ('return-code', 'method-id', 'buffer', 'frame-count', 'bci', 'own-protection')
      and grade = 'Forbidden'")" -eq 0 ]
    [ "$(ask "select count(*) > 0 from count where code = '-1'")" -eq 1 ]
  done
}

@test "a fault that the walker's own protection ends is told, and is no crash" {
  fuzz "$providers/fake_profiler_faults.so" --walks 10000
  [ "$(ask "select count(*) from bucket where title like
    'own-protection/contained-fault in %::Walk%'")" -ge 1 ]
  [ "$(ask "select count(*) from bucket where title like 'crash in %::Walk%'")" -eq 0 ]
  [ "$(ask "select count(*) from bucket where oracle = 'survival'")" -eq 0 ]
  [ "$(ask "select children_died from run")" -eq 0 ]
}

@test "a fault that escapes the walker's own protection is a crash" {
  fuzz "$providers/fake_profiler_escapes.so" --walks 10000
  [ "$status" -eq 1 ]
  [ "$(ask "select count(*) from bucket where title like 'crash in %::Walk%'")" -ge 1 ]
  [ "$(ask "select count(*) from bucket where oracle = 'own-protection'")" -eq 0 ]
  [ "$(ask "select contained_crashes > 0 from run")" -eq 1 ]
}

@test "a walker that is wrong is found, by scenes and by samples" {
  fuzz "$providers/fake_profiler_wrong.so" --walks 2000
  [ "$status" -eq 1 ]
  [ "$(ask "select count(*) > 0 from scene where pristine_true = 1")" -eq 1 ]
  [ "$(ask "select count(*) > 5 from scene where available = 1 and pristine_true = 0")" -eq 1 ]
  [ "$(ask "select count(*) from bucket where title like 'truth/wrong-frames%'")" -ge 1 ]
  rm -rf "$out"
  run --separate-stderr timeout 100 "$walkhammer" stress --workload torture:mixed \
    --walker asgst@ref,asprof-vm --provider "$providers/fake_profiler_wrong.so" --time 3s \
    --no-confirm --out "$out"
  echo "$output $stderr"
  [ "$(ask "select successful > 1000 from cell")" -eq 1 ]
  [ "$(ask "select count(*) > 0 from bucket where oracle in ('agreement', 'bci')")" -eq 1 ]
}

# walks_truly WALKS: 18 scenes or more are walked truly, and more than WALKS walks have frames.
walks_truly() {
  [ "$(ask "select count(*) from scene where pristine_true = 1")" -ge 18 ]
  [ "$(ask "select successful > $1 from run")" -eq 1 ]
}

# knows_right_and_wrong WRONG RIGHT...: $walker walks truly out of each right library, and out of
# the wrong one it is found to be wrong.
knows_right_and_wrong() {
  local wrong=$1
  shift
  for name in "$@"; do
    fuzz "$providers/$name.so" --walks 5000
    [ "$status" -le 1 ]
    walks_truly 2000
    [ "$(ask "select count(*) from finding where oracle in
      ('return-code', 'method-id', 'buffer', 'frame-count', 'bci') and grade = 'Forbidden'")" -eq 0 ]
    [ "$(ask "select count(*) from bucket where title like 'truth/wrong-frames%'")" -eq 0 ]
  done
  fuzz "$providers/$wrong.so" --walks 1000
  [ "$status" -eq 1 ]
  [ "$(ask "select count(*) from bucket where title like 'truth/wrong-frames%'")" -ge 1 ]
}

@test "async-profiler's walkers over AsyncGetCallTrace are known, in both forms" {
  for walker in asprof-fp asprof-dwarf; do
    knows_right_and_wrong fake_profiler_wrong fake_profiler fake_profiler_registers
  done
}

@test "java-profiler's three walkers are known, and their frames are read" {
  for walker in ddprof-vm ddprof-fp ddprof-dwarf; do
    knows_right_and_wrong fake_ddprof_wrong fake_ddprof
  done
}

# A library is parsed once, by its first mapping: one whose code is mapped in parts looks empty.
@test "the JVM's code is one mapping, though its traps are in it" {
  "$walkhammer" fuzz --walker agct --workers 1 --time 20s --no-confirm --out "$out" >/dev/null 2>&1 &
  local parent=$! process=''
  for _ in $(seq 200); do
    process=$(pgrep -P "$parent" | head -n 1) || true
    grep -q 'rwxp.*libjvm\.so' "/proc/$process/maps" 2>/dev/null && break
    sleep 0.1
  done
  grep 'x.*libjvm\.so' "/proc/$process/maps" >"$BATS_TEST_TMPDIR/maps" || true
  kill "$parent"
  wait "$parent" || true
  cat "$BATS_TEST_TMPDIR/maps"
  if ! grep -q rwxp "$BATS_TEST_TMPDIR/maps"; then
    skip 'no failed check of this JVM can be trapped'
  fi
  [ "$(wc -l <"$BATS_TEST_TMPDIR/maps")" -eq 1 ]
}

@test "samples of a running program are walked, with the walker's own protection in place" {
  for name in fake_profiler fake_profiler_faults; do
    rm -rf "$out"
    run --separate-stderr timeout 100 "$walkhammer" stress --workload torture:mixed \
      --walker asprof-vm --provider "$providers/$name.so" --time 3s --no-confirm --out "$out"
    echo "$output $stderr"
    [ "$status" -le 1 ]
    [ "$(ask "select successful > 1000 from cell")" -eq 1 ]
    [ "$(ask "select contained_crashes from cell")" -eq 0 ]
    [ "$(ask "select starts from cell")" -eq 1 ]
  done
  [ "$(ask "select count(*) from bucket where oracle = 'own-protection'")" -ge 1 ]
}

@test "what has no such walker, or does not want this JVM: exit code 3 and a sentence" {
  while IFS='|' read -r walker library sentence; do
    fuzz "$providers/$library.so" --walks 100
    [ "$status" -eq 3 ]
    [[ "$stderr" == *"$sentence"* ]]
  done <<END
asprof-vm|fake_profiler_form|has StackWalker::walkVM with an unknown signature: StackWalker::walkVM(void*, ASGCT_CallFrame*, long)
asprof-vm|fake_profiler_refuses|refuses this JVM: Agent_OnAttach returns 200
asprof-vm|fake_late|exports neither Agent_OnAttach nor JNI_OnLoad
ddprof-vm|fake_ddprof_form|has StackWalker::walkVM with an unknown signature: StackWalker::walkVM(void*, ASGCT_CallFrame*, int, void const*, void const*)
ddprof-vm|fake_ddprof_refuses|refuses this JVM: init0 returns false
ddprof-vm|fake_profiler|has StackWalker::walkVM with an unknown signature
ddprof-fp|fake_profiler|has no function StackWalker::walkFP
asprof-vm|fake_ddprof|has StackWalker::walkVM with an unknown signature
asprof-fp|fake_ddprof|has no function Profiler::getNativeTrace
asprof-dwarf|fake_ddprof|has StackWalker::walkDwarf with an unknown signature
END
  walker=asprof-vm
  rm -rf "$out"
  run --separate-stderr "$walkhammer" fuzz --walker asprof-vm --walks 100 --out "$out"
  [ "$status" -eq 3 ]
  [[ "$stderr" == *"name its library (--provider FILE.so)"* ]]
}

@test "another thread's stack is not walked: exit code 2 and a sentence" {
  for mode in parked running; do
    refuses 2 "asprof-vm cannot be walked in mode $mode: it walks no other thread" stress \
      --workload torture:mixed --walker asprof-vm --provider "$providers/fake_profiler.so" \
      --mode "$mode" --out "$out"
  done
  [ ! -e "$out" ]
}

@test "released libraries walk all scenes but those that docs/howto/profilers.md names" {
  need_release
  for library in "$released"/asprof-*.so; do
    fuzz "$library" --walks 20000
    [ "$status" -eq 0 ] # a release is quiet: what it gets wrong is known
    walks_truly 8000
    [ "$(ask "select group_concat(name) from scene where available = 1 and pristine_true = 0
      and name not in ('monitor-enter-c2', 'deoptimized', 'sampled')")" = '' ]
    [ "$(ask "select count(*) from bucket where oracle = 'own-protection'")" -ge 1 ]
    for walker in asprof-fp asprof-dwarf; do
      fuzz "$library" --walks 5000
      [ "$status" -eq 0 ]
      walks_truly 2000
      [ "$(ask "select group_concat(name) from scene where available = 1 and pristine_true = 0
        and name not in ('monitor-enter-c2', 'deoptimized')")" = '' ]
    done
    walker=asprof-vm
  done
}

# known_jdk [VERSION]: the home of that JDK. By default one that each release of java-profiler knows;
# 1.22.0 is older than 25.
known_jdk() {
  "$BATS_TEST_DIRNAME"/../setup/jdks.sh "${1:-17}" 2>/dev/null | cut -d ' ' -f 2-
}

@test "java-profiler's releases walk all scenes but those that docs/howto/profilers.md names" {
  local library name jdk
  jdk=$(known_jdk)
  for library in "$released"/ddprof-*.so; do
    [ -e "$library" ] || skip 'no released library is here: ci/setup/profilers.sh lays them out'
    [ -n "$jdk" ] || skip 'JDK 17 is not available'
    name=$(basename "$library" .so)
    for walker in ddprof-vm ddprof-fp ddprof-dwarf; do
      case $walker-${name#ddprof-} in ddprof-vm-1.[0-9].* | ddprof-vm-1.1[0-9].*) continue ;; esac
      fuzz "$library" --walks 5000 --jdk "$jdk"
      [ "$status" -eq 0 ]
      walks_truly 2000
      [ "$(ask "select group_concat(name) from scene where available = 1 and pristine_true = 0
        and name not in ('monitor-enter-c2', 'deoptimized', 'sampled')")" = '' ]
    done
  done
}

# replay_all LIBRARY FOLDER ARGUMENT...: each regression of the folder is shown, in one of two fresh
# processes at least: one may be unlucky on a busy machine.
replay_all() {
  local library=$1 folder=$2
  shift 2
  run --separate-stderr "$walkhammer" replay --json --times 2 --jobs 2 --library "$library" "$@" \
    "$BATS_TEST_DIRNAME"/../../corpora/regressions/"$folder"/*.walk
  echo "$library: exit code $status: $output $stderr"
  [ "$status" -eq 1 ]
  echo "$output" >"$BATS_TEST_TMPDIR/json"
  [ "$(sqlite3 :memory: "select count(*) > 0 and min(json_extract(value, '\$.reproduced')) > 0
    from json_each(readfile('$BATS_TEST_TMPDIR/json'), '\$.replays')")" -eq 1 ]
}

# Sets $library to the newest release of async-profiler.
need_release() {
  for library in "$released"/asprof-*.so; do :; done
  [ -e "$library" ] || skip 'no released library is here: ci/setup/profilers.sh lays them out'
}

@test "regressions of the newest release that is laid out" {
  need_release
  replay_all "$library" asprof-vm
}

# Addresses on the stack are those of one build.
@test "regressions of the newest release on the reference build of JDK 25" {
  local build jdk
  need_release
  build=$(awk '$1 == 25 { print $2 }' "$BATS_TEST_DIRNAME/../../corpora/reference-builds")
  "$walkhammer" show jdks --json >"$BATS_TEST_TMPDIR/jdks"
  jdk=$(sqlite3 :memory: "select json_extract(value, '\$.name')
    from json_each(readfile('$BATS_TEST_TMPDIR/jdks'))
    where json_extract(value, '\$.build_id') = '$build' limit 1")
  [ -n "$jdk" ] || skip "the build $build is not on this machine"
  replay_all "$library" asprof-vm-jdk25 --jdk "$jdk"
}

# ddprof_regressions RELEASE FOLDER
ddprof_regressions() {
  local library=$released/ddprof-$1.so jdk
  [ -e "$library" ] || skip 'the library is not here: ci/setup/profilers.sh lays it out'
  jdk=$(known_jdk)
  [ -n "$jdk" ] || skip 'JDK 17 is not available'
  replay_all "$library" "$2" --jdk "$jdk"
}

@test "regressions of java-profiler 1.22.0" {
  ddprof_regressions 1.22.0 ddprof
}

@test "regressions of java-profiler 1.44.0" {
  ddprof_regressions 1.44.0 ddprof-1.44
}

# ddprof-fp answers on 25 what it does not answer on 28.
@test "threads in Java are others to java-profiler 1.44.0 on JDK 28" {
  local library=$released/ddprof-1.44.0.so newer older
  newer=$(known_jdk 28) older=$(known_jdk 25)
  [ -e "$library" ] && [ -n "$newer" ] && [ -n "$older" ] || skip 'the library, JDK 28 or 25 is not here'
  replay_all "$library" ddprof-1.44-jdk28 --jdk "$newer"
  run --separate-stderr "$walkhammer" replay --library "$library" --jdk "$older" \
    "$BATS_TEST_DIRNAME"/../../corpora/regressions/ddprof-1.44-jdk28/*.walk
  echo "$output $stderr"
  [ "$status" -eq 0 ]
}
