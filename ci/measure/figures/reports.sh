# SPDX-License-Identifier: Apache-2.0
# 5 minutes a JDK: crashes that their hs_err logs alone, or their cores alone, reproduce.
# shellcheck shell=sh
# shellcheck disable=SC2154,SC2086  # ci/measure.sh sets them; words
ci/measure/round_trip.sh -f 15s -t 20s -m 10 $jdks >"$work/trips" || {
  cat "$work/trips" >&2
  exit 1
}
for from in log core; do
  row 'Crash reports' "crashes that the $from alone reproduces; median" \
    "$(sed -n "s/^$from: \([0-9]* of [0-9]*\) reproduced.* median/\1;/p" "$work/trips")" \
    'ci/measure/round_trip.sh -f 15s -t 20s -m 10 JDK...'
done
