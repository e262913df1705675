# SPDX-License-Identifier: Apache-2.0
# 1 minute: what a merge of 1,000 runs takes.
# shellcheck shell=sh
# shellcheck disable=SC2154  # ci/measure.sh sets them
for jdk in $jdks; do :; done # the last
run tools fuzz --jdk "$jdk" --scene c2 --walks 20000 --no-confirm --no-minimize
ci/measure/merge_scale.sh "$work/tools" >"$work/merge" || {
  cat "$work/merge" >&2
  exit 1
}
row 'Machines, builds and tests' 'a merge of 1,000 runs: CPU time, memory' \
  "$(sed -n 's/^merge_scale: 1000 runs: \([0-9]* ms\), \([0-9]* KiB\) .*/\1, \2/p' "$work/merge")" \
  'ci/measure/merge_scale.sh RUN'
