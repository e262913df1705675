#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs every benchmark of the release build on every JDK of this machine: ci/bench.sh [FOLDER].
# Google Benchmark writes one JSON file for each benchmark and JDK into FOLDER (default: out/bench).
set -eu
cd "$(dirname "$0")/.."
folder=${1:-out/bench}

ci/setup.sh
cmake --preset release
cmake --build build/release

benches=$(find build/release -maxdepth 1 -name '*_bench' -type f | sort)
if [ -z "$benches" ]; then
  echo "bench: build/release holds no *_bench" >&2
  exit 4
fi
mkdir -p "$folder"
# Machines are shared and noisy: repetitions are interleaved, and their median is what counts.
build/release/walkhammer show jdks | sed 's/  .*//' | while read -r jdk; do
  for bench in $benches; do
    "$bench" --jdk="$jdk" --benchmark_min_time=0.5 --benchmark_repetitions=9 \
      --benchmark_enable_random_interleaving=true --benchmark_report_aggregates_only=true \
      --benchmark_out="$folder/$(basename "$bench")-$(basename "$jdk").json" \
      --benchmark_out_format=json
  done
done
echo "bench: results are in $folder" >&2
