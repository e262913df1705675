# SPDX-License-Identifier: Apache-2.0
# The unit tests must notice each bug of ci/test/mutants.txt.
# shellcheck shell=sh
# shellcheck disable=SC2154  # ci/soak.sh sets them
MUTANTS=$out/clone ci/test/mutate.sh >"$out/bugs.txt" ||
  fail "the tests did not notice all planted bugs: see $out/bugs.txt"
