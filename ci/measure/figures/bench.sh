# SPDX-License-Identifier: Apache-2.0
# 2 minutes a JDK: what the harness costs, and the reference walk beside AsyncGetCallTrace.
# shellcheck shell=sh
# shellcheck disable=SC2154  # ci/measure.sh sets them
build=$(dirname "$walkhammer")
# interleaved BENCH FILTER: medians of 9 interleaved repetitions, in $work/BENCH-NAME.
interleaved() {
  "$build/$1" --jdk="$jdk" --benchmark_filter="$2" --benchmark_min_time=0.1 \
    --benchmark_repetitions=9 --benchmark_enable_random_interleaving=true \
    --benchmark_report_aggregates_only=true >"$work/$1-$name" 2>&1
}
# share BENCH ROW...: the shares of these rows, joined by commas.
share() {
  bench=$1
  shift
  for row; do
    awk -v row="$row" '$1 == row && NF < 6 { printf "%.2f\n", $2 }' "$work/$bench-$name"
  done | awk '{ printf "%s%s", (NR > 1 ? ", " : ""), $0 } END { print "" }'
}
each interleaved walk_bench .
row 'Cost of the harness' "guarded call, as a share of the bare call's rate" \
  "$(each share walk_bench GuardedBareCall)" 'walk_bench'
row 'Cost of the harness' 'adapter, guard and oracles' \
  "$(each share walk_bench AdapterGuardOracles)" 'walk_bench'
row 'Cost of the harness' 'whole random engine (edited stacks end a walk early)' \
  "$(each share walk_bench WholeRandomLine)" 'walk_bench'
each interleaved reference_bench '^(agct|asgst|uncached|enqueue)/'
row 'The reference walker' "10, 30 and 100 compiled frames, as a share of AsyncGetCallTrace's time" \
  "$(each share reference_bench asgst/c2-10 asgst/c2-30 asgst/deep-recursion-100)" \
  'reference_bench'
row 'The reference walker' "10 and 24 interpreted frames, as a share of AsyncGetCallTrace's time" \
  "$(each share reference_bench asgst/interpreted-recursion-10 asgst/interpreted-recursion-24)" \
  'reference_bench'
row 'The reference walker' '10, 30 and 100 compiled frames, none of whose call sites an earlier walk has met' \
  "$(each share reference_bench uncached/c2-10 uncached/c2-30 uncached/deep-recursion-100)" \
  'reference_bench'
row 'The reference walker' "10,000 compiled frames with as many call sites, as a share of AsyncGetCallTrace's time" \
  "$(each share reference_bench asgst/call-sites-10000)" 'reference_bench'
