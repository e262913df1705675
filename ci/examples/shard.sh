#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One shard of a fuzz campaign, for whatever starts programs on many machines:
#   ci/examples/shard.sh N DIR OPTION...   walks one of N shards into DIR/I, with these options of
#                                          `walkhammer fuzz`
#   ci/examples/shard.sh merge DIR         joins them into DIR/all, and reports on it
# I is SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX + 1 (Kubernetes), or PARALLEL_SEQ (GNU parallel).
# DIR is a folder that all machines share. A shard that is complete is not walked again, and one
# that was cut off is walked anew, so a job may be repeated.
# WALKHAMMER names the executable (default: the release build's).
# Exit codes: 0 the shard is complete, with findings or without; 2 bad usage, and whatever else
# `walkhammer fuzz` ends with. merge: those of `walkhammer report`.
set -eu
[ "${1:-}" != --help ] || exec sed -n '3,/^set/s/^# \{0,1\}//p' "$0"
walkhammer=${WALKHAMMER:-$(dirname "$0")/../../build/release/walkhammer}

usage() {
  echo "shard: $1; see the head of ci/examples/shard.sh" >&2
  exit 2
}

[ "$#" -ge 2 ] || usage 'give N or "merge", and DIR'
count=$1 dir=$2
shift 2
[ -x "$walkhammer" ] || usage "there is no $walkhammer; build it, or set WALKHAMMER"

if [ "$count" = merge ]; then
  set --
  for run in "$dir"/[0-9]*/run.db; do
    [ ! -f "$run" ] || set -- "$@" "${run%/run.db}"
  done
  [ "$#" -gt 0 ] || usage "$dir has no shards"
  "$walkhammer" merge --out "$dir/all" "$@" >&2 || [ "$?" -eq 1 ] || exit 4
  exec "$walkhammer" report "$dir/all"
fi

index=${SLURM_ARRAY_TASK_ID:-${PARALLEL_SEQ:-}}
[ -z "${JOB_COMPLETION_INDEX:-}" ] || index=$((JOB_COMPLETION_INDEX + 1))
for number in "$count" "$index"; do
  case $number in
  '' | *[!0-9]* | 0*) usage "\"$number\" is not a number of shards, or of a shard" ;;
  esac
done
out=$dir/$index
if [ -f "$out.done" ]; then
  echo "shard: $index/$count is complete" >&2
  exit 0
fi
rm -rf "$out"
code=0
"$walkhammer" fuzz --shard "$index/$count" --out "$out" "$@" || code=$?
case $code in
0 | 1) touch "$out.done" ;;
*) exit "$code" ;;
esac
