# SPDX-License-Identifier: Apache-2.0
# 2 minutes a JDK: each load of a walk of released profilers' walkers fails once (ci/setup/profilers.sh).
# shellcheck shell=sh
# shellcheck disable=SC2154  # ci/measure.sh sets them
# loads WALKER LIBRARY
loads() {
  run "loads-$name" fuzz --jdk "$jdk" --walker "$1" --provider "$2" --engine faults --no-confirm \
    --no-minimize
  echo "$(thousands "$(ask "loads-$name" 'SELECT walks FROM run')"), $(
    ask "loads-$name" 'SELECT time_ms / 1000 FROM run'), $(
    ask "loads-$name" "SELECT COUNT(DISTINCT bucket) FROM finding WHERE grade = 'Forbidden'")"
}
measured=
for pair in asprof-vm:asprof-4.6 ddprof-vm:ddprof-1.44.0; do
  library=$(library "${pair#*:}")
  [ -n "$library" ] || continue
  measured=yes
  row "Profilers' walkers" \
    "each load of each undisturbed walk of \`${pair%:*}\` (${pair#*:}) fails once: walks, seconds, Forbidden buckets" \
    "$(each loads "${pair%:*}" "$library")" \
    "fuzz --walker ${pair%:*} --provider LIBRARY --engine faults --no-confirm --no-minimize"
done
[ -n "$measured" ] || {
  echo "measure: $part: no profiler is laid out: run ci/setup/profilers.sh" >&2
  exit 1
}
