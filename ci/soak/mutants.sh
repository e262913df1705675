# SPDX-License-Identifier: Apache-2.0
# The unit tests must kill the mutants of ci/test/mutants.txt. Prints which of WALKHAMMER_MUTANTS
# (default: 30) fresh ones, another choice each day, survive: these are to be judged.
# shellcheck shell=sh
# shellcheck disable=SC2154  # ci/soak.sh sets them
export MUTANTS="$out/clone"
ci/test/mutate.sh --list ci/test/mutants.txt >"$out/listed.txt" ||
  fail "not all mutants of the list were killed: see $out/listed.txt"
ci/test/mutate.sh --folder harness --folder stress --count "${WALKHAMMER_MUTANTS:-30}" \
  --seed "$(date +%Y%m%d)" >"$out/fresh.txt" || fail "ci/test/mutate.sh ended with $? on fresh ones"
sed -n '/^survivors/,$p' "$out/fresh.txt"
