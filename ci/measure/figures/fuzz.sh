# SPDX-License-Identifier: Apache-2.0
# 2 minutes a JDK: a minute of the random engine; one seed, one request hash; the guided engines.
# shellcheck shell=sh
# shellcheck disable=SC2154  # ci/measure.sh sets them
minute() {
  run "minute-$name" fuzz --jdk "$jdk" --engine random --time 60s --seed 1 --no-confirm
}
walks() {
  thousands "$(ask "minute-$name" 'SELECT walks FROM run')"
}
sites() {
  ask "minute-$name" "SELECT COUNT(*) FROM bucket WHERE oracle = 'crash'"
}
lost() {
  ask "minute-$name" 'SELECT children_died + children_retired FROM run'
}
# rate ENGINE: walks a second of one worker.
rate() {
  run "$1-$name" fuzz --jdk "$jdk" --engine "$1" --workers 1 --time 20s --no-confirm
  thousands "$(ask "$1-$name" 'SELECT walks / 20 FROM run')"
}
# Two runs of one seed, the second by one worker.
hashes() {
  run "first-$name" fuzz --jdk "$jdk" --walks 400000 --seed 1 --no-confirm
  run "second-$name" fuzz --jdk "$jdk" --walks 400000 --seed 1 --no-confirm --workers 1
  for folder in first second; do
    ask "$folder-$name" 'SELECT request_hash FROM run'
  done | sort -u | wc -l
}
minute='fuzz --engine random --time 60s --seed 1 --no-confirm'
each minute
row Fuzzing 'random engine, walks in a minute' "$(each walks)" \
  "$minute"
row Fuzzing 'crash buckets of AsyncGetCallTrace in that minute' "$(each sites)" "$minute"
row Fuzzing 'processes that died or were retired in that minute' "$(each lost)" "$minute"
row Fuzzing 'libFuzzer, one worker, walks a second' "$(each rate libfuzzer)" \
  'fuzz --engine libfuzzer --workers 1 --time 20s'
row Fuzzing 'AFL++, one worker, walks a second' "$(each rate afl)" \
  'fuzz --engine afl --workers 1 --time 20s'
row Fuzzing 'request hashes of one seed, by all cores and by one worker' "$(each hashes)" \
  'fuzz --walks 400000 --seed 1 [--workers 1]'
