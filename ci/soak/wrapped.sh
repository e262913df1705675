# SPDX-License-Identifier: Apache-2.0
# Whatever people paste: WALKHAMMER_TEXTS (default: 20000) texts, each a log of
# harness/hs_err/testdata in a wrapping of collectors, builds or trackers, whole, cut and damaged.
# Fails if a whole one is not read like the bare log, or if a cut stack does not say so.
# shellcheck shell=sh
# shellcheck disable=SC2154  # ci/soak.sh sets them
test=$(dirname "$walkhammer")/hs_err_test
[ -x "$test" ] || lacks "no $test: build it"
if WALKHAMMER_TEXTS=${WALKHAMMER_TEXTS:-20000} "$test" --gtest_filter='WrappedLog.*' \
  >"$out/texts.txt" 2>&1; then
  echo "  ok      ${WALKHAMMER_TEXTS:-20000} texts"
else
  fail "a text was not read as it should be: see $out/texts.txt"
fi
