#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A fuzz campaign as a Slurm job array, one shard a task, and a job that merges them when all have
# ended:
#   ci/examples/slurm.sh N DIR OPTION...   OPTIONs are those of `walkhammer fuzz`
# DIR is new, and lies on a file system that all nodes share, as this clone and the JDK do. Logs are
# DIR/I.log, the report is DIR/merge.log. sbatch's own variables choose the rest, such as
# SBATCH_PARTITION and SBATCH_TIMELIMIT. A shard whose node fails is queued again by Slurm; what has
# failed for good is missing from the merged run, which says so.
# WALKHAMMER names the executable (default: the release build's).
# Exit codes: 0 submitted (stdout has the numbers of both jobs), 2 bad usage, else sbatch's.
set -eu
[ "${1:-}" != --help ] || exec sed -n '3,/^set/s/^# \{0,1\}//p' "$0"
here=$(cd "$(dirname "$0")" && pwd)

usage() {
  echo "slurm: $1; see the head of $0" >&2
  exit 2
}

[ "$#" -ge 2 ] || usage 'give N and DIR'
count=$1 dir=$2
shift 2
case $count in
'' | *[!0-9]* | 0*) usage "\"$count\" is not a number of shards" ;;
esac
[ ! -e "$dir" ] || usage "$dir exists"
command -v sbatch >/dev/null || usage 'there is no sbatch on this machine'
walkhammer=${WALKHAMMER:-$here/../../build/release/walkhammer}
[ -x "$walkhammer" ] || usage "there is no $walkhammer; build it, or set WALKHAMMER"
WALKHAMMER=$(realpath "$walkhammer") # sbatch copies shard.sh, which then has no clone around it
export WALKHAMMER
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)

shards=$(sbatch --parsable --job-name=walkhammer --array="1-$count" --requeue \
  --output="$dir/%a.log" "$here/shard.sh" "$count" "$dir" "$@")
merge=$(sbatch --parsable --job-name=walkhammer-merge --dependency="afterany:${shards%%;*}" \
  --output="$dir/merge.log" "$here/shard.sh" merge "$dir")
echo "${shards%%;*} ${merge%%;*}"
