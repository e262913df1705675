#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The long soak of the reference walk: ci/soak/reference.sh [JDK...] runs two parts side by side,
# and then ci/soak/steps.sh on the same JDKs.
# 1. WALKHAMMER_TIME (default: 1h) of reference_fuzzer, with ASan and UBSan, for both architectures.
# 2. On each JDK (default: all JDKs of this machine), synthetic walks of all scenes by each walker
#    of the reference, WALKHAMMER_WALKS (default: 170000000) each, which is a billion on two JDKs.
# Fails at a finding of part 1, at a Forbidden finding of part 2, if the steps fail, or if nothing
# was walked.
# WALKHAMMER and WALKHAMMER_FUZZER name the executables (defaults: those of the presets release and
# asan), WALKHAMMER_OUT a new folder for the runs.
# Exit codes: 0 passed, 1 failed, 3 no JDK, 4 no build.
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=ci/soak/base.sh
. ci/soak/base.sh
fuzzer=${WALKHAMMER_FUZZER:-build/asan/reference_fuzzer}
out=${WALKHAMMER_OUT:-out/soak-reference-$(date +%Y%m%d-%H%M%S)}
walks=${WALKHAMMER_WALKS:-170000000}
seconds=$(echo "${WALKHAMMER_TIME:-1h}" | sed 's/h$/*3600/; s/m$/*60/; s/s$//')
seconds=$((seconds))

if [ ! -x "$fuzzer" ]; then
  echo "soak/reference: no $fuzzer: build the presets release and asan" >&2
  exit 4
fi

mkdir -p "$out/corpus"
"$fuzzer" -max_total_time="$seconds" -max_len=600 -artifact_prefix="$out/" "$out/corpus" \
  >"$out/fuzzer.log" 2>&1 &
sanitized=$!

total=0
for jdk in "$@"; do
  for walker in asgst iterator iterator-frame; do
    run=$out/$(basename "$jdk")-$walker
    code=0
    # 2 s: a real hang lasts for ever, and a pause of the machine must not count as one.
    "$walkhammer" fuzz --walker "$walker" --walks "$walks" --workers 2 --hang-limit 2s \
      --no-confirm --no-minimize --jdk "$jdk" --out "$run" >"$run.txt" 2>"$run.log" || code=$?
    [ "$code" -le 1 ] || fail "$run: walkhammer ended with $code: $(tail -n 1 "$run.log")"
    done=$(ask "$run" "SELECT walks FROM run")
    bad=$(ask "$run" "SELECT COUNT(*) FROM finding WHERE grade = 'Forbidden'")
    echo "$run: $done walks, $bad forbidden findings"
    [ "$bad" -eq 0 ] || fail "$run"
    total=$((total + done))
  done
done
[ "$total" -gt 0 ] || fail "nothing was walked"
echo "$total synthetic walks"

wait "$sanitized" || fail "sanitized: $(grep -m 1 'ERROR\|reference_fuzzer:' "$out/fuzzer.log")"
echo "sanitized: $(grep -a 'DONE' "$out/fuzzer.log")"
WALKHAMMER="$walkhammer" WALKHAMMER_OUT="$out/steps" ci/soak/steps.sh "$@" || fail "steps"
exit "$failed"
