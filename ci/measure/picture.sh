#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes docs/report.png, the picture of README: the report page of a fuzz run on the newest JDK.
#   ci/measure/picture.sh [RUN]    RUN is a run folder to show (default: a run of 20 s)
# Needs Chromium (Debian: apt install chromium). WALKHAMMER names the executable (default: the
# release build's).
# Exit codes: 0 made, 1 the picture is empty or larger than 150 KB, 2 usage, 3 no Chromium.
set -eu
[ "${1:-}" != --help ] || exec sed -n '3,/^set/s/^# \{0,1\}//p' "$0"
root=$(cd "$(dirname "$0")/../.." && pwd)
walkhammer=${WALKHAMMER:-$root/build/release/walkhammer}
[ $# -le 1 ] || {
  echo "picture: expected one run folder at most, got $*" >&2
  exit 2
}
browser=$(command -v chromium || command -v chromium-browser) || {
  echo "picture: chromium is not installed: apt install chromium" >&2
  exit 3
}
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
trap 'exit 130' INT TERM
run=${1:-$made/run}
if [ $# -eq 0 ]; then
  "$walkhammer" fuzz --time 20s --seed 7 --out "$run" || [ $? -eq 1 ]
fi
"$walkhammer" report "$run" --html "$made/report.html" >"$made/said" || [ $? -eq 1 ]
"$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$made/profile" \
  --force-device-scale-factor=1 --window-size=1000,760 --screenshot="$made/report.png" \
  "file://$made/report.html" >"$made/said" 2>&1 || {
  cat "$made/said" >&2
  exit 1
}
size=$(wc -c <"$made/report.png")
if [ "$size" -le 5000 ] || [ "$size" -gt 153600 ]; then
  echo "picture: $size bytes; expected 5,000 to 153,600" >&2
  exit 1
fi
cp "$made/report.png" "$root/docs/report.png"
echo "docs/report.png: $size bytes"
