# SPDX-License-Identifier: Apache-2.0
# 2 minutes a JDK: false alarms in samples, and what the reference costs beside agct.
# shellcheck shell=sh
# shellcheck disable=SC2154  # ci/measure.sh sets them
shadow() {
  run "shadow-$name" stress --jdk "$jdk" --workload torture:shadow --walker agct,asgst \
    --interval 50us --time 60s --no-confirm
  alarms=$(ask "shadow-$name" "SELECT COUNT(*) FROM finding
    WHERE grade = 'Forbidden' AND request LIKE '%walker asgst%'")
  echo "$alarms in $(thousands "$(ask "shadow-$name" 'SELECT SUM(walks) / 2 FROM cell')")"
}
# pair: samples by agct and asgst back to back, as a share of those by agct alone. Thrice, as
# machines are noisy; the median.
pair() {
  for turn in 1 2 3; do
    for walkers in agct agct,asgst; do
      run "$walkers-$turn-$name" stress --jdk "$jdk" --workload torture:mixed --walker "$walkers" \
        --interval 10us --time 8s --no-confirm
    done
    echo "$(ask "agct,asgst-$turn-$name" 'SELECT SUM(walks) / 2 FROM cell')" \
      "$(ask "agct-$turn-$name" 'SELECT SUM(walks) FROM cell')"
  done | awk '{ print $1 / $2 }' | sort -n | awk 'NR == 2 { printf "%.2f\n", $1 }'
}
row 'The reference walker' 'false alarms in samples of a minute' "$(each shadow)" \
  'stress --workload torture:shadow --walker agct,asgst --interval 50us --time 60s'
row 'The reference walker' 'samples of agct and asgst back to back, as a share of those of agct alone' \
  "$(each pair)" 'stress --workload torture:mixed --walker WALKERS --interval 10us --time 8s'
