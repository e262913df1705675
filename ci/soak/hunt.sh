# SPDX-License-Identifier: Apache-2.0
# A hunt for WALKHAMMER_TIME (default: 1h): stress runs of two torture programs, and of a Debian one
# if any is installed. Each program runs for WALKHAMMER_CELL_TIME (default: 20s), two runs at a time.
# WALKHAMMER_SEED (default: the time) draws each run's JDK, flags, interval and mode, and its walker:
# AsyncGetCallTrace, or one of the newest profilers in the folder WALKHAMMER_PROFILERS, if it is set.
# hunt.tsv has a row for each run: seconds walked, walks, exit code, arguments. Fails if a finding has
# no name.
# shellcheck shell=sh
# shellcheck disable=SC2154  # ci/soak.sh sets them
need_jdks
end=$(($(date +%s) + $(seconds "${WALKHAMMER_TIME:-1h}")))
seed=${WALKHAMMER_SEED:-$(date +%s)}
"$walkhammer" show workloads | awk '/^[a-z]/ { name = $1; names[name] } /every JDK: not available/ {
  delete names[name] } END { for (name in names) print name }' | sort >"$work/programs"
for suite in torture debian; do
  sed -n "s/^$suite:/ --workload &/p" "$work/programs" >"$work/$suite"
done
printf '%s\n' default default default serial parallel zgc shenandoah c1 xint c2 no-inline \
  stress-compiler small-code-cache no-compressed frame-pointers >"$work/profiles"
printf '%s\n' 100us 10us..100us 20us..200us 1ms >"$work/intervals"
printf '%s\n' handler handler handler nested >"$work/modes"
printf '%s\n' handler handler handler nested parked >"$work/modes-agct" # of another thread, too
{
  printf '%s\n' agct agct agct
  for profiler in asprof ddprof; do
    library=$(find "${WALKHAMMER_PROFILERS:-/nowhere}" -name "$profiler-*.so" 2>/dev/null |
      sort -V | tail -n 1)
    [ -z "$library" ] || printf "$profiler-%s --provider $library\n" vm fp dwarf
  done
} >"$work/walkers"

# drawn N FILE: prints a line of the file, for the N-th draw.
drawn() {
  awk -v seed="$seed" -v n="$1" '{ line[NR] = $0 } END {
    srand(seed * 1009 % 2147483647 + n); rand(); print line[1 + int(rand() * NR)] }' "$2"
}

# settled RUN PID: waits for a run, and adds its row.
settled() {
  keep=
  ended "$1" "$2" 0 3 || keep=yes
  seconds=0
  walks=0
  [ ! -f "$1/run.db" ] || {
    seconds=$(ask "$1" 'SELECT IFNULL(SUM(time_ms), 0) / 1000 FROM cell WHERE walks > 0')
    walks=$(ask "$1" 'SELECT IFNULL(SUM(walks), 0) FROM cell')
  }
  printf '%s\t%s\t%s\t%s\n' "$seconds" "$walks" "$code" "$(cat "$1.arguments")" >>"$out/hunt.tsv"
  if [ -n "$keep" ]; then sed -n '1p;/^New/,/^$/p' "$1.txt"; else rm -rf "$1" "$1".*; fi
}

# shellcheck disable=SC2086  # words
printf '%s\n' $jdks >"$work/jdks"
last=
number=0
while [ -z "$last" ] || [ "$(date +%s)" -lt "$end" ]; do
  number=$((number + 1))
  run=$out/$number
  n=$((number * 16))
  walker=$(drawn $((n + 1)) "$work/walkers")
  modes=$work/modes
  [ "$walker" != agct ] || modes=$modes-agct
  arguments="--jdk $(drawn "$n" "$work/jdks") --walker $walker \
--profile $(drawn $((n + 2)) "$work/profiles") --interval $(drawn $((n + 3)) "$work/intervals") \
--mode $(drawn $((n + 4)) "$modes")$(drawn $((n + 5)) "$work/torture")\
$(drawn $((n + 6)) "$work/torture")$(drawn $((n + 7)) "$work/debian") --seed $n"
  echo "$arguments" >"$run.arguments"
  # shellcheck disable=SC2086  # words
  start "$run" stress $arguments --time "${WALKHAMMER_CELL_TIME:-20s}" --jobs 1
  # shellcheck disable=SC2086  # words
  [ -z "$last" ] || settled $last
  last="$run $!"
done
# shellcheck disable=SC2086  # words
settled $last
awk -F '\t' '{ s += $1; w += $2 }
  END { printf "%d runs: %.2f hours walked, %d walks\n", NR, s / 3600, w }' "$out/hunt.tsv"
