#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The long soak of the reference walk, in two parts side by side: WALKHAMMER_TIME (default 1h) under
# libFuzzer with ASan and UBSan, by the rules of both architectures; and on each JDK given (default:
# every JDK found) synthetic walks of all scenes by each of its walkers, WALKHAMMER_WALKS (default
# 170000000) each, which is a billion on two JDKs. Fails at the first finding of the first part, at a
# Forbidden finding of the second, or when a run proves nothing.
# WALKHAMMER and WALKHAMMER_FUZZER name the executables (defaults: release's and asan's builds),
# WALKHAMMER_OUT a new folder for the runs.
set -eu
cd "$(dirname "$0")/.."
walkhammer=${WALKHAMMER:-build/release/walkhammer}
fuzzer=${WALKHAMMER_FUZZER:-build/asan/reference_fuzzer}
out=${WALKHAMMER_OUT:-out/soak-reference-$(date +%Y%m%d-%H%M%S)}
walks=${WALKHAMMER_WALKS:-170000000}
seconds=$(echo "${WALKHAMMER_TIME:-1h}" | sed 's/h$/*3600/; s/m$/*60/; s/s$//')
seconds=$((seconds))

for program in "$walkhammer" "$fuzzer"; do
  if [ ! -x "$program" ]; then
    echo "soak_reference: no $program: build the presets release and asan" >&2
    exit 4
  fi
done
if [ "$#" -eq 0 ]; then
  # shellcheck disable=SC2046  # no blanks in the paths of JDKs
  set -- $("$walkhammer" list jdks | sed 's/  .*//')
fi
if [ "$#" -eq 0 ]; then
  echo "soak_reference: no JDK on this machine" >&2
  exit 3
fi
failed=0
fail() {
  echo "FAILED  $1"
  failed=1
}

mkdir -p "$out/corpus"
"$fuzzer" -max_total_time="$seconds" -max_len=600 -artifact_prefix="$out/" "$out/corpus" \
  >"$out/fuzzer.log" 2>&1 &
sanitized=$!

total=0
for jdk in "$@"; do
  for walker in asgst iterator iterator-frame; do
    run=$out/$(basename "$jdk")-$walker
    code=0
    # A hang is endless; a machine that stands still for a moment is none.
    "$walkhammer" fuzz --walker "$walker" --walks "$walks" --workers 2 --hang-limit 2s \
      --no-confirm --no-minimize --jdk "$jdk" --out "$run" >"$run.txt" 2>"$run.log" || code=$?
    [ "$code" -le 1 ] || fail "$run: walkhammer ended with $code: $(tail -n 1 "$run.log")"
    done=$(sqlite3 -readonly "$run/run.db" "SELECT walks FROM run")
    bad=$(sqlite3 -readonly "$run/run.db" "SELECT COUNT(*) FROM finding WHERE grade = 'Forbidden'")
    echo "$run: $done walks, $bad forbidden findings"
    [ "$bad" -eq 0 ] || fail "$run"
    total=$((total + done))
  done
done
[ "$total" -gt 0 ] || fail "nothing was walked"
echo "$total synthetic walks"

wait "$sanitized" || fail "sanitized: $(grep -m 1 'ERROR\|reference_fuzzer:' "$out/fuzzer.log")"
echo "sanitized: $(grep -a 'DONE' "$out/fuzzer.log")"
exit "$failed"
