# SPDX-License-Identifier: Apache-2.0
# Whatever people paste: WALKHAMMER_TEXTS (default: 20000) texts, each a log of
# harness/hs_err/testdata in a wrapping of collectors, builds or trackers, whole, cut and damaged.
# Fails if a whole one is not read like the bare log, if a cut stack does not say so, or if a verdict
# is a wrong "no" or blames a walker in a log that no walker is to blame for.
# shellcheck shell=sh
# shellcheck disable=SC2154  # ci/soak.sh sets them
for test in hs_err_test crash_test; do
  test=$(dirname "$walkhammer")/$test
  [ -x "$test" ] || lacks "no $test: build it"
  if WALKHAMMER_TEXTS=${WALKHAMMER_TEXTS:-20000} "$test" --gtest_filter='Wrapped*' \
    >"$out/$(basename "$test").txt" 2>&1; then
    echo "  ok      ${WALKHAMMER_TEXTS:-20000} texts in $(basename "$test")"
  else
    fail "a text was not read as it should be: see $out/$(basename "$test").txt"
  fi
done
