#!/bin/sh
# Runs every benchmark of the release build; one JSON file each goes to the folder given
# (default: reports/bench), as Google Benchmark writes it.
set -eu
cd "$(dirname "$0")/.."
folder=${1:-reports/bench}

ci/setup.sh
cmake --preset release
cmake --build build/release

benches=$(find build/release -maxdepth 1 -name '*_bench' -type f | sort)
if [ -z "$benches" ]; then
  echo "bench: build/release holds no *_bench" >&2
  exit 4
fi
mkdir -p "$folder"
for bench in $benches; do
  "$bench" --benchmark_out="$folder/$(basename "$bench").json" --benchmark_out_format=json
done
echo "bench: results are in $folder" >&2
