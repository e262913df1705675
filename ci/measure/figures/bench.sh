# SPDX-License-Identifier: Apache-2.0
# 3 minutes a JDK: what the harness costs, and the reference walk beside AsyncGetCallTrace.
# shellcheck shell=sh
# shellcheck disable=SC2154  # ci/measure.sh sets them
build=$(dirname "$walkhammer")
# interleaved BENCH FILTER: medians of 9 interleaved repetitions, in $work/BENCH-NAME.
interleaved() {
  bench=$1
  filter=$2
  shift 2
  "$build/$bench" --jdk="$jdk" "$@" --benchmark_filter="$filter" --benchmark_min_time=0.1 \
    --benchmark_repetitions=9 --benchmark_enable_random_interleaving=true \
    --benchmark_report_aggregates_only=true >"$work/$bench-$name" 2>&1
}
# share BENCH ROW...: the shares of these rows, joined by commas.
share() {
  bench=$1
  shift
  for row; do
    awk -v row="$row" '$1 == row && NF < 6 { printf "%.2f\n", $2 }' "$work/$bench-$name"
  done | awk '{ printf "%s%s", (NR > 1 ? ", " : ""), $0 } END { print "" }'
}
# instructions WALKER ROW NUMBER ROW NUMBER: instructions of a walk of each further frame, as
# NUMBER frames of each row have them.
instructions() {
  awk -v first="$1/$2" -v last="$1/$4" -v frames=$(($5 - $3)) '$1 == first { from = $NF }
    $1 == last { to = $NF }
    END { if (from != "" && to != "") printf "%.0f\n", (to - from) / frames }' \
    "$work/reference_bench-$name"
}
each interleaved walk_bench .
row 'Cost of the harness' "guarded call, as a share of the bare call's rate" \
  "$(each share walk_bench GuardedBareCall)" 'walk_bench'
row 'Cost of the harness' 'adapter, guard and oracles' \
  "$(each share walk_bench AdapterGuardOracles)" 'walk_bench'
row 'Cost of the harness' 'whole random engine (edited stacks end a walk early)' \
  "$(each share walk_bench WholeRandomLine)" 'walk_bench'
asprof=$(library asprof-4.6)
each interleaved reference_bench '^(agct|asgst|uncached|enqueue|asprof-vm)/' ${asprof:+"--asprof=$asprof"}
share_of() {
  row 'The reference walker' "$1, as a share of AsyncGetCallTrace's time" \
    "$(shift; each share reference_bench "$@")" 'reference_bench'
}
share_of '10, 30 and 100 compiled frames' asgst/c2-10 asgst/c2-30 asgst/deep-recursion-100
[ -z "$asprof" ] || share_of "the same by async-profiler 4.6's \`walkVM\`" \
  asprof-vm/c2-10 asprof-vm/c2-30 asprof-vm/deep-recursion-100
share_of '10 and 24 interpreted frames' asgst/interpreted-recursion-10 asgst/interpreted-recursion-24
share_of '10, 30 and 100 compiled frames, none of whose call sites an earlier walk has met' \
  uncached/c2-10 uncached/c2-30 uncached/deep-recursion-100
share_of '10,000 compiled frames with as many call sites' asgst/call-sites-10000
for of in 'compiled frame:c2-10 10 c2-30 30' \
  'interpreted frame:interpreted-recursion-10 10 interpreted-recursion-24 24'; do
  # shellcheck disable=SC2086  # words
  row 'The reference walker' "instructions for each further ${of%%:*}, by AsyncGetCallTrace" \
    "$(each instructions agct ${of#*:})" 'reference_bench'
  # shellcheck disable=SC2086  # words
  row 'The reference walker' "instructions for each further ${of%%:*}, by the reference" \
    "$(each instructions asgst ${of#*:})" 'reference_bench'
done
enqueue() {
  awk '$1 == "enqueue/c2-10" && NF >= 4 { print $3 }' "$work/reference_bench-$name"
}
row 'The reference walker' "\`ASGST_Enqueue\` of a thread with 10 compiled frames, in ns" \
  "$(each enqueue)" 'reference_bench'
