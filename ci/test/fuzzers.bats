#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The fuzz targets as a fuzzing service uses them: laid out by ci/setup/build_fuzzers.sh, and run
# from another folder without any file of this tree.

setup_file() {
  root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  build=${WALKHAMMER_BUILD:-$root/build/release}
  [ -x "$build/walk_fuzzer" ] || skip "not built"
  OUT=$BATS_FILE_TMPDIR/out WALKHAMMER_BUILD=$build "$root/ci/setup/build_fuzzers.sh" >&2
  mkdir "$BATS_FILE_TMPDIR/seeds"
  (cd "$BATS_FILE_TMPDIR/seeds" && unzip -q ../out/agct_fuzzer_seed_corpus.zip)
  export root build
}

setup() {
  out=$BATS_FILE_TMPDIR/out
  seeds=$BATS_FILE_TMPDIR/seeds
  cd "$BATS_TEST_TMPDIR" || return
}

# Runs a target as a service does: in an environment and a folder of its own.
target() {
  env -i PATH=/usr/bin:/bin TMPDIR="$BATS_TEST_TMPDIR" "$out/agct_fuzzer" "$@" 2>&1
}

@test "each walker has a target with seeds, options and a dictionary" {
  [ -x "$out/agct_fuzzer" ]
  [ "$(find "$seeds" -name '*.walk' | wc -l)" -ge 20 ]
  grep -q '^handle_segv = 0$' "$out/agct_fuzzer.options"
  grep -q '^"scene"$' "$out/agct_fuzzer.dict"
  # No puzzle is a target.
  "$build/walkhammer" show walkers | grep -v -e '--provider ' -e 'for stress alone' | sed 's/  .*//' | grep -v '@jdk$' | sort >listed
  find "$out" -name '*_fuzzer' -printf '%f\n' | sed 's/_fuzzer$//' | sort >targets
  diff listed targets
  [ "$(wc -l <targets)" -ge 7 ]
}

@test "every target walks" {
  for target in "$out"/*_fuzzer; do
    corpus=$(mktemp -d new-XXXXXX)  # takes what it finds; the seeds stay as they are
    run env -i PATH=/usr/bin:/bin TMPDIR="$BATS_TEST_TMPDIR" "$target" -runs=100 "$corpus" "$seeds"
    echo "$target: $status: $output"
    [ "$status" -eq 0 ] || [ "$status" -eq 77 ]
    [[ $output == *"INITED"* ]]
  done
}

@test "the target brings its libraries and its JDK" {
  run env LD_DEBUG=libs "$out/agct_fuzzer" -runs=0 "$seeds"
  echo "$status: $output" | grep -v '^ *[0-9]*:'
  [ "$status" -eq 0 ]
  [[ $output == *"calling init: $out/lib/libcapstone"* ]]
  [[ $output == *"calling init: $out/jdk/lib/server/libjvm.so"* ]]
}

@test "-runs walks the seeds and goes on from them" {
  mkdir new
  run target -runs=200 new "$seeds"
  echo "$status: $output"
  [ "$status" -eq 0 ] || [ "$status" -eq 77 ]  # 77: it met a crash of this JDK
  [[ $output == *"INITED"* ]]
  [[ $output == *"LLVMFuzzerCustomMutator"* ]]
}

@test "-merge=1 keeps what adds coverage and works again on its own result" {
  mkdir merged again
  run target -merge=1 merged "$seeds"
  [ "$status" -eq 0 ]
  kept=$(find merged -type f | wc -l)
  [ "$kept" -ge 10 ]
  [ "$kept" -le 100 ]
  run target -merge=1 again merged
  [ "$status" -eq 0 ]
  [ "$(find again -type f | wc -l)" -ge $((kept * 9 / 10)) ]
}

@test "a reproducer given as argument reproduces, and a clean input does not" {
  feature=$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$out/jdk/release")
  reproducer=$(find "$root/corpora/regressions/jdk$feature" -name '*interpreter_frame_method*' | head -n 1)
  [ -n "$reproducer" ] || skip "no regression of JDK $feature"
  run target "$reproducer"
  [ "$status" -ne 0 ]
  [[ $output == *"ERROR: walkhammer: crash in "* ]]
  [[ $output == *"#0 0x"*" in libjvm.so "* ]]
  run target "$seeds/20-null-sender-pc.walk"
  [ "$status" -eq 0 ]
}
