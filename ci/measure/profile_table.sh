#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs each flag profile on JDKs and prints the table of docs/reference/jdks.md:
# ci/measure/profile_table.sh [VERSION...]. A VERSION is a name of ci/setup/jdks.sh (default: one
# for each feature version).
# Each cell is 5 s of torture:mixed, sampled every 100 us, with agct and asgst. It shows the number
# of samples, and the percentage of the samples walked by both whose methods agree; "-" if the JDK
# does not know the profile's flags; the cell's status if it failed otherwise.
# WALKHAMMER names the executable (default: the release build's), WALKHAMMER_STRESS_TIME another
# duration than 5s.
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=ci/measure/lib_measure.sh
. ci/measure/lib_measure.sh

[ "$#" -gt 0 ] || set -- 8 11 17 21 25 26 27 28
ci/setup/jdks.sh "$@" >"$work/jdks" 2>"$work/jdks.err" || cat "$work/jdks.err" >&2
profiles=$("$walkhammer" show profiles | sed 's/ .*//')
set --
while read -r _ home; do set -- "$@" --jdk "$home"; done <"$work/jdks"
[ "$#" -gt 0 ] || {
  echo 'profile_table: none of these JDKs is available' >&2
  exit 3
}
# shellcheck disable=SC2046  # one word each
"$walkhammer" stress --workload torture:mixed --walker agct,asgst "$@" \
  $(echo "$profiles" | sed 's/^/--profile /') --time "${WALKHAMMER_STRESS_TIME:-5s}" --no-confirm \
  --out "$work/run" >"$work/said" 2>&1 || [ -e "$work/run/run.db" ] || {
  tail -n 5 "$work/said" >&2
  exit 3
}

# cell PROFILE HOME: prints one cell of the table.
cell() {
  sqlite3 -readonly "$work/run/run.db" "
    SELECT CASE WHEN status <> 'passed' THEN CASE
        WHEN reason LIKE '%Unrecognized VM option%' OR reason LIKE '%Unsupported%' OR
             reason LIKE '%not supported%' OR reason LIKE '%has no%' THEN '-'
        ELSE status END
      ELSE printf('%d, %.1f %%', walks / 2, COALESCE((SELECT $agree
        FROM agreement WHERE cell = position AND $compared), 0)) END
    FROM cell WHERE profile = '$1' AND jdk_path = '$2'"
}

heads='| profile |' line='| --- |'
while read -r name _; do heads="$heads $name |" line="$line --- |"; done <"$work/jdks"
printf '%s\n%s\n' "$heads" "$line"
for profile in $profiles; do
  row="| \`$profile\` |"
  while read -r _ home; do row="$row $(cell "$profile" "$home") |"; done <"$work/jdks"
  echo "$row"
done
sqlite3 -readonly "$work/run/run.db" "SELECT label || ': ' || status || ': ' || reason FROM cell
  WHERE status NOT IN ('passed', 'unavailable', 'not-for-jdk')
  UNION ALL SELECT 'finding ' || title FROM bucket WHERE id IN
    (SELECT bucket FROM finding WHERE grade = 'Forbidden')" >&2
