# SPDX-License-Identifier: Apache-2.0
# 2 minutes a JDK: false alarms in samples, and what the reference costs beside agct.
# shellcheck shell=sh
# shellcheck disable=SC2154  # ci/measure.sh sets them
programs="stress --workload 'torture:*' --walker agct,asgst --interval 20us --time 5s --jobs 1"
all() {
  run "all-$name" stress --jdk "$jdk" --workload 'torture:*' --walker agct,asgst --interval 20us \
    --time 5s --jobs 1 --no-confirm
}
alarms() {
  echo "$(ask "all-$name" "SELECT COUNT(*) FROM finding
    WHERE grade = 'Forbidden' AND request LIKE '%walker asgst%'") in $(
    thousands "$(ask "all-$name" 'SELECT SUM(walks) / 2 FROM cell')")"
}
# Errors, and answers 0: a thread that is about to call Java for the first time is in Java, without a
# frame.
unanswered() {
  ask "all-$name" "SELECT printf('%d, %d of ', SUM(CASE WHEN code NOT IN ('frames', '0') THEN count
      ELSE 0 END), SUM(CASE WHEN code = '0' THEN count ELSE 0 END)) FROM count
    WHERE walker = 'asgst' AND state = 'in_Java'" | tr -d '\n'
  thousands "$(ask "all-$name" "SELECT SUM(count) FROM count
    WHERE walker = 'asgst' AND state = 'in_Java'")"
}
guessed() {
  echo "$(ask "all-$name" "SELECT COALESCE(SUM(count), 0) FROM walk_end
    WHERE walker = 'asgst' AND ended = 'guessed'") of $(
    thousands "$(ask "all-$name" "SELECT SUM(count) FROM walk_end WHERE walker = 'asgst'")")"
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
each all
row 'The reference walker' 'false alarms in samples of all torture programs' "$(each alarms)" \
  "$programs"
row 'The reference walker' 'samples of threads in Java that the reference answers with an error; with 0, no Java frame' \
  "$(each unanswered)" "$programs"
row 'The reference walker' 'walks that had to search the stack for a caller' "$(each guessed)" \
  "$programs"
row 'The reference walker' 'samples of agct and asgst back to back, as a share of those of agct alone' \
  "$(each pair)" 'stress --workload torture:mixed --walker WALKERS --interval 10us --time 8s'
