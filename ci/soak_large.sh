#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An hour of stress on a large program, by two walkers every 50 us of CPU time: is every stack drawn,
# does the run stay small, and does the supervisor neither take much of the machine nor stall?
#   ci/soak_large.sh [WORKLOAD]    default: the largest of those below that is at hand
# Fails if a stack was cut, if run.db and its journal took more than 200 MB, if the supervisor took
# more than 5 % of a core, or if it stalled for 250 ms.
# WALKHAMMER_SOAK_SECONDS (default 3600) is how long is sampled, WALKHAMMER_OUT a new run folder.
# WALKHAMMER names the executable (default: the release build's), WALKHAMMER_JDK the JDK.
# Exit codes: 0 within all bounds, 1 not, 3 no program is at hand, 4 no build, or the run failed.
set -eu
cd "$(dirname "$0")/.."
walkhammer=${WALKHAMMER:-build/release/walkhammer}
seconds=${WALKHAMMER_SOAK_SECONDS:-3600}
out=${WALKHAMMER_OUT:-out/soak-large-$(date +%Y%m%d-%H%M%S)}

if [ ! -x "$walkhammer" ]; then
  echo "soak_large: no $walkhammer: run cmake --preset release && cmake --build build/release" >&2
  exit 4
fi
workload=${1:-}
if [ -z "$workload" ]; then
  at_hand=$("$walkhammer" show workloads | awk '/^[^ ]/ { name = $1 } /: available/ { print name }')
  for name in renaissance:dotty dacapo:eclipse debian:scalac debian:ecj debian:h2; do
    if echo "$at_hand" | grep -qx "$name"; then
      workload=$name
      break
    fi
  done
fi
if [ -z "$workload" ]; then
  echo "soak_large: no large program is at hand: workloads/fetch.sh renaissance fetches one" >&2
  exit 3
fi

work=$(mktemp -d)
run=
trap '[ -z "$run" ] || kill -TERM "$run" 2>/dev/null || true; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

ask() {
  sqlite3 -readonly "$out/run.db" "$1"
}

# CPU time of $run alone, user and system, in milliseconds.
cpu_ms() {
  sed 's/^.*) //' "/proc/$run/stat" 2>/dev/null |
    awk -v ticks="$(getconf CLK_TCK)" '{ printf "%d", ($12 + $13) * 1000 / ticks }'
}

# judge WHAT VALUE MOST: prints the figure; `failed` becomes 1 if it is more.
judge() {
  word=ok
  if awk "BEGIN { exit !($2 > $3) }"; then
    word=FAILED
    failed=1
  fi
  printf '  %-6s  %s: %s, at most %s\n' "$word" "$1" "$2" "$3"
}

begun=$(date +%s)
"$walkhammer" stress --workload "$workload" --walker agct,asgst --interval 50us --jobs 1 \
  --time "${seconds}s" --hung-after 300s --no-confirm ${WALKHAMMER_JDK:+--jdk "$WALKHAMMER_JDK"} --out "$out" \
  >"$work/text" 2>"$work/log" &
run=$!
cpu=0
size=0
while kill -0 "$run" 2>/dev/null; do
  sleep 1
  now=$(cpu_ms)
  if [ "${now:-0}" -gt "$cpu" ]; then
    cpu=$now
    took=$(($(date +%s) - begun))
  fi
  now=$(cat "$out/run.db" "$out/run.db-wal" 2>/dev/null | wc -c)
  [ "$now" -le "$size" ] || size=$now
done
code=0
wait "$run" || code=$?
run=
case $code in
  0 | 1) ;;
  *)
    echo "soak_large: walkhammer ended with $code: $(tail -n 1 "$work/log")" >&2
    exit 4
    ;;
esac

walks=$(ask 'SELECT SUM(walks) FROM cell')
stacks=$(ask 'SELECT COALESCE(SUM(count), 0) FROM stack')
distinct=$(ask 'SELECT COUNT(*) FROM stack WHERE count > 0')
cut=$(ask "SELECT COALESCE(SUM(count), 0) FROM note WHERE kind = 'dropped' AND name = 'stacks'")
stall=$(ask "SELECT COALESCE(MAX(CAST(SUBSTR(detail, 9) AS INTEGER)), 0) FROM note
  WHERE name = 'supervisor stalls'")
echo "$workload, $seconds s: $walks walks, $stacks stacks, $distinct of them distinct; in $out"
if [ "$stacks" -eq 0 ]; then
  echo 'soak_large: vacuous, no stack was drawn' >&2
  exit 4
fi
failed=0
judge "stacks that are not drawn whole, of $stacks" "$cut" 0
judge 'run.db and its journal, MB' "$(awk "BEGIN { printf \"%.1f\", $size / 1000000 }")" 200
judge "the supervisor's CPU time, % of a core" \
  "$(awk "BEGIN { printf \"%.2f\", $cpu / 10 / $took }")" 5
judge 'longest stall of the supervisor, ms (0: none of 250)' "$stall" 249
exit "$failed"
