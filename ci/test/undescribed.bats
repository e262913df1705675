#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# JVMs without vmStructs, such as OpenJ9, under stress: a JDK whose libjvm.so hides them, and one
# that also says that it is OpenJ9, by whose published source a walk that faults is the JVM's to
# end.
# shellcheck disable=SC2154  # bats sets stderr

load lib

setup() {
  # The newest with the layout of JDK 17.
  jdk=$("$walkhammer" show jdks | sed -n 's|^\(/.*[^ ]\)  .*|\1|p' | while IFS= read -r home; do
    [ ! -e "$home/lib/libjli.so" ] || [ ! -e "$home/lib/server/libjvm.so" ] || echo "$home"
  done | tail -n 1)
  [ -n "$jdk" ] || skip "no JDK on this machine"
  home=$BATS_TEST_TMPDIR/home
  out=$BATS_TEST_TMPDIR/run
}

# hide [SED_SCRIPT]: lays out $home, the JDK without vmStructs. The launcher and the JVM find their
# home by the files that they are loaded from: these are copies.
hide() {
  mkdir -p "$home/bin" "$home/lib/server"
  ln -s "$jdk"/lib/* "$home/lib/" 2>/dev/null || true
  ln -s "$jdk/conf" "$home/conf"
  cp "$jdk/release" "$home"
  cp -L --remove-destination "$jdk/lib/libjli.so" "$jdk/lib/libjava.so" "$home/lib"
  cp "$jdk/bin/java" "$home/bin"
  LC_ALL=C sed "s/gHotSpotVMStructs/gHotSpotVMStructX/g; $1" "$jdk/lib/server/libjvm.so" \
    >"$home/lib/server/libjvm.so"
}

# stress CODE WALKERS [ARGUMENT]...
stress() {
  local code=$1 walkers=$2
  shift 2
  rm -rf "$out"
  run --separate-stderr timeout 100 "$walkhammer" stress --workload torture:mixed \
    --walker "$walkers" --jdk "$home" --time 3s --out "$out" "$@"
  echo "stress --walker $walkers: exit code $status: $output $stderr"
  with_report
  [ "$status" -eq "$code" ]
}

# is_one STATEMENT: the value is 1.
is_one() {
  echo "$1: $(ask "$1")"
  [ "$(ask "$1")" = 1 ]
}

@test "AsyncGetCallTrace is sampled, and what is not known is said" {
  hide
  stress 0 agct
  is_one "select status = 'passed' from cell"
  is_one "select sum(count) > 100 from count where code = 'frames'"
  # No thread state is invented; a pc is in a library or in generated code.
  is_one "select group_concat(distinct state) = 'undeclared' from count"
  is_one "select group_concat(distinct region) = 'code-cache,library'
    from (select region from count order by region)"
  [[ "$output" == *"not in force: vmStructs "*"this JVM has none: thread states"* ]]
  "$walkhammer" report "$out" --flame "$BATS_TEST_TMPDIR/flame.html"
  grep -q 'wh.torture.Mixed' "$BATS_TEST_TMPDIR/flame.html"
}

@test "its threads are as of any JVM, and a planted crash is contained" {
  hide
  stress 1 agct,puzzle-crash --no-guard
  is_one "select status = 'died' from cell"
  stress 1 agct,puzzle-crash
  is_one "select status = 'passed' from cell"
  is_one "select count(*) > 0 from finding where oracle = 'crash'"
  [[ "$output" == *"replay not walked"*"exports no gHotSpotVMStructs"* ]]
  grep -q '100.00 % of .* anywhere' <<<"$output"
}

@test "where the JVM is OpenJ9, a walk that faults is left to the JVM" {
  grep -q 'OpenJDK 64-Bit Server VM' "$jdk/lib/server/libjvm.so" || skip "$jdk is no OpenJDK by name"
  hide 's/OpenJDK 64-Bit Server VM/Eclipse OpenJ9 VM (fake)/g'
  "$home/bin/java" -version 2>&1 | grep -F 'Eclipse OpenJ9 VM (fake)'
  stress 0 agct
  is_one "select sum(count) > 100 from count where code = 'frames'"
  # This one is a HotSpot yet, and dies of such a fault.
  stress 1 agct,puzzle-crash
  is_one "select status = 'died' from cell"
  is_one "select count(*) = 1 from finding where oracle = 'survival'"
  is_one "select count(*) = 0 from finding where oracle = 'crash'"
}

@test "what needs vmStructs is refused with a word" {
  hide
  stress 3 asgst
  [[ "$output" == *"not-hotspot"*"this libjvm exports no vmStructs"* ]]
  run --separate-stderr timeout 100 "$walkhammer" step --workload torture:mixed --jdk "$home" \
    --time 2s --out "$BATS_TEST_TMPDIR/steps"
  echo "$status $output $stderr"
  [ "$status" -eq 3 ]
  with_report "$BATS_TEST_TMPDIR/steps"
  [[ "$output" == *"this JVM has no vmStructs, which steps and scenes need"* ]]
  run --separate-stderr timeout 100 "$walkhammer" fuzz --jdk "$home" --time 1s --out "$out.fuzz"
  [ "$status" -eq 3 ]
  [[ "$stderr" == *"exports no vmStructs"* ]]
}
