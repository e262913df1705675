# SPDX-License-Identifier: Apache-2.0
# 1 minute a JDK: each load of each undisturbed walk of AsyncGetCallTrace fails once.
# shellcheck shell=sh
# shellcheck disable=SC2154  # ci/measure.sh sets them
loads() {
  run "faults-$name" fuzz --jdk "$jdk" --engine faults --no-confirm --no-minimize
  echo "$(thousands "$(ask "faults-$name" 'SELECT walks FROM run')"), $(
    ask "faults-$name" 'SELECT time_ms / 1000 FROM run')"
}
row Fuzzing 'each load of each undisturbed walk of agct fails once: walks, seconds' "$(each loads)" \
  'fuzz --engine faults --no-confirm --no-minimize'
