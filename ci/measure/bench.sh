#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs every benchmark of the release build on every JDK of this machine: ci/measure/bench.sh [FOLDER].
# Google Benchmark writes one JSON file for each benchmark and JDK into FOLDER (default: out/bench).
# Exit code 1: on some JDK the line costs far more beside the bare call than it did.
set -eu
cd "$(dirname "$0")/../.."
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

# dear OUTPUT: prints the rates, as shares of the bare call's, that are too low. What was measured is
# in docs/reference/figures.md; the bounds lie below the worst of it, as machines and runs differ.
dear() {
  awk '/^  AdapterGuardOracles / && $2 < 0.7 || /^  WholeRandomLine / && $2 < 0.9' "$1"
}

build/release/walkhammer show jdks | sed 's/  .*//' >"$folder/jdks"
failed=0
# Machines are shared and noisy: repetitions are interleaved, and their median is what counts.
while read -r jdk; do
  for bench in $benches; do
    output=$folder/$(basename "$bench")-$(basename "$jdk").txt
    "$bench" --jdk="$jdk" --benchmark_min_time=0.5 --benchmark_repetitions=9 \
      --benchmark_enable_random_interleaving=true --benchmark_report_aggregates_only=true \
      --benchmark_out="$folder/$(basename "$bench")-$(basename "$jdk").json" \
      --benchmark_out_format=json | tee "$output"
    if [ -n "$(dear "$output")" ]; then
      echo "bench: too slow beside the bare call, on $jdk: $(dear "$output")" >&2
      failed=1
    fi
  done
done <"$folder/jdks"
echo "bench: results are in $folder" >&2
exit "$failed"
