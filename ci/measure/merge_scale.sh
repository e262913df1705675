#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Measures how the costs of merge grow with the number of runs. Merges a quarter of N copies of a
# run, and then all. Prints CPU time, memory and size of each merge. Fails if memory passes 256 MiB,
# if time grows by more than twice as much as the number of runs, or if the merged counts are not
# those of the runs.
#   ci/measure/merge_scale.sh [--runs N] RUN      N: default 1000
# WALKHAMMER names the executable (default: the release build's). The copies are in TMPDIR.
# Exit codes: 0 passed, 1 failed, 2 usage.
set -eu
walkhammer=${WALKHAMMER:-$(dirname "$0")/../../build/release/walkhammer}
runs=1000
if [ "${1:-}" = --runs ]; then
  runs=$2
  shift 2
fi
if [ "$#" -ne 1 ] || [ ! -f "${1:-}/run.db" ] || [ "$runs" -lt 4 ]; then
  echo "merge_scale: give --runs N from 4 on, and a run folder; see the head of $0" >&2
  exit 2
fi
run=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT INT TERM

# A run by another seed, as far as merge can tell.
index=0
while [ "$index" -lt "$runs" ]; do
  cp -r "$run" "$dir/run-$index"
  sqlite3 "$dir/run-$index/run.db" "PRAGMA synchronous = OFF; UPDATE run SET run_id = printf('%032x', $index)"
  index=$((index + 1))
done

# cost COMMAND...: its processor time and memory go to $ms and $kib.
cost() {
  env time -f '%U %S %M' -o "$dir/cost" "$@" >"$dir/said"
  ms=$(awk '{ printf "%d", 1000 * ($1 + $2) }' "$dir/cost")
  kib=$(awk '{ print $3 }' "$dir/cost")
}

# measure N: merges the first N.
measure() {
  # shellcheck disable=SC2046  # mktemp makes names without blanks
  set -- "$1" $(seq -f "$dir/run-%.0f" 0 $(($1 - 1)))
  count=$1
  shift
  rm -rf "$dir/merged"
  cost "$walkhammer" merge --out "$dir/merged" "$@"
  bytes=$(stat -c %s "$dir/merged/run.db")
  echo "merge_scale: $count runs: $ms ms, $kib KiB of memory, $bytes bytes, $((bytes / count)) a run"
  wanted=$(sqlite3 "$run/run.db" "SELECT sum(count) * $count FROM count")
  got=$(sqlite3 "$dir/merged/run.db" 'SELECT sum(count) FROM count')
  [ "$wanted" = "$got" ] || {
    echo "FAILED  the merged counts are $got, those of the runs $wanted"
    exit 1
  }
}

# grows COMMAND...: COMMAND N..., for a quarter of the runs and for all of them, is bounded in
# memory and linear in time.
grows() {
  command=$1
  shift
  "$command" $((runs / 4)) "$@"
  quarter=$ms
  "$command" "$runs" "$@"
  [ "$kib" -lt $((256 * 1024)) ] || {
    echo "FAILED  that takes more than 256 MiB"
    exit 1
  }
  # A start takes its time, too: below a tenth of a second it would decide.
  [ "$ms" -le $((8 * quarter)) ] || [ "$ms" -lt 100 ] || {
    echo "FAILED  four times as many runs take $ms ms instead of $quarter ms"
    exit 1
  }
}

grows measure
