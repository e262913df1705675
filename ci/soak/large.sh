# SPDX-License-Identifier: Apache-2.0
# WALKHAMMER_TIME (default: 1h) of stress on a large program, by two walkers every 50 us of CPU
# time: is every stack drawn, does the run stay small, and does the supervisor neither take much of
# the machine nor stall? Fails if a stack was cut, if run.db and its journal took more than 200 MB,
# if the supervisor took more than 5 % of a core, or if it stalled for 250 ms.
# shellcheck shell=sh
# shellcheck disable=SC2154  # ci/soak.sh sets them
if [ -z "$workload" ]; then
  at_hand=$("$walkhammer" show workloads | awk '/^[^ ]/ { name = $1 } /: available/ { print name }')
  for name in renaissance:dotty dacapo:eclipse debian:scalac debian:ecj debian:h2; do
    if echo "$at_hand" | grep -qx "$name"; then
      workload=$name
      break
    fi
  done
fi
[ -n "$workload" ] || lacks 'no large program is available: workloads/fetch.sh renaissance fetches one'

# CPU time of $run alone, user and system, in milliseconds.
cpu_ms() {
  sed 's/^.*) //' "/proc/$run/stat" 2>/dev/null |
    awk -v ticks="$(getconf CLK_TCK)" '{ printf "%d", ($12 + $13) * 1000 / ticks }'
}

# judge WHAT VALUE MOST: prints the figure; it is a failure if it is more.
judge() {
  if awk "BEGIN { exit !($2 > $3) }"; then
    fail "$1: $2, at most $3"
  else
    echo "  ok      $1: $2, at most $3"
  fi
}

begun=$(date +%s)
jdk=${jdks# }
start "$out/run" stress --workload "$workload" --walker agct,asgst --interval 50us --jobs 1 \
  --time "${WALKHAMMER_TIME:-1h}" --hung-after 300s --no-confirm \
  ${jdk:+--jdk "${jdk%% *}"}
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
  now=$(cat "$out/run/run.db" "$out/run/run.db-wal" 2>/dev/null | wc -c)
  [ "$now" -le "$size" ] || size=$now
done
ended "$out/run" "$run" 0 1 || exit 4
walks=$(ask "$out/run" 'SELECT SUM(walks) FROM cell')
stacks=$(ask "$out/run" 'SELECT COALESCE(SUM(count), 0) FROM stack')
distinct=$(ask "$out/run" 'SELECT COUNT(*) FROM stack WHERE count > 0')
cut=$(ask "$out/run" "SELECT COALESCE(SUM(count), 0) FROM note WHERE kind = 'dropped' AND name = 'stacks'")
stall=$(ask "$out/run" "SELECT COALESCE(MAX(CAST(SUBSTR(detail, 9) AS INTEGER)), 0) FROM note
  WHERE name = 'supervisor stalls'")
echo "$workload, ${WALKHAMMER_TIME:-1h}: $walks walks, $stacks stacks, $distinct of them distinct"
[ "$stacks" -gt 0 ] || fail 'vacuous: no stack was drawn'
judge "stacks that are not drawn whole, of $stacks" "$cut" 0
judge 'run.db and its journal, MB' "$(awk "BEGIN { printf \"%.1f\", $size / 1000000 }")" 200
judge "the supervisor's CPU time, % of a core" \
  "$(awk "BEGIN { printf \"%.2f\", $cpu / 10 / $took }")" 5
judge 'longest stall of the supervisor, ms (0: none of 250)' "$stall" 249
