# SPDX-License-Identifier: Apache-2.0
# The reference walk, in two parts, side by side.
# 1. WALKHAMMER_TIME (default: 1h) of reference_fuzzer, with ASan and UBSan, for both architectures.
#    WALKHAMMER_FUZZER names it (default: that of the preset asan).
# 2. On each JDK, synthetic walks of all scenes by each walker of the reference, WALKHAMMER_WALKS
#    (default: 170000000) each, which is a billion on two JDKs.
# Fails at a finding of part 1, at a Forbidden finding of part 2, or if nothing was walked.
# shellcheck shell=sh
# shellcheck disable=SC2154  # ci/soak.sh sets them
fuzzer=${WALKHAMMER_FUZZER:-build/asan/reference_fuzzer}
if [ ! -x "$fuzzer" ]; then
  echo "$soak: no $fuzzer: build the presets release and asan" >&2
  exit 4
fi
need_jdks

mkdir -p "$out/corpus"
"$fuzzer" -max_total_time="$(seconds "${WALKHAMMER_TIME:-1h}")" -max_len=600 \
  -artifact_prefix="$out/" "$out/corpus" >"$out/fuzzer.log" 2>&1 &
sanitized=$!
running="$running $sanitized"

total=0
for jdk in $jdks; do
  for walker in asgst iterator iterator-frame; do
    run=$out/$(basename "$jdk")-$walker
    # 2 s: a real hang never ends, and a pause of the machine must not count as one.
    start "$run" fuzz --walker "$walker" --walks "${WALKHAMMER_WALKS:-170000000}" --workers 2 \
      --hang-limit 2s --no-confirm --no-minimize --jdk "$jdk"
    ended "$run" "$!" 0 1 || continue
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
running=
echo "sanitized: $(grep -a 'DONE' "$out/fuzzer.log")"
