#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The long step: at every instruction of torture:* and of two real programs, the calls that the
# thread has made (the stepped shadow stack, x86_64) are held against the callers that the reference
# and AsyncGetCallTrace name. On each JDK given (default: every JDK found), WALKHAMMER_STEP_TIME
# (default 60s) a program. Prints a table for each JDK and one of all. Fails if the calls contradict
# the reference at one of 100,000 instructions or more, at a Forbidden finding of the reference, if
# a JDK proves nothing, or if all together step less than WALKHAMMER_STEPS (default 10000000).
# WALKHAMMER names the executable (default: the release build's), WALKHAMMER_OUT a new folder for
# the runs.
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=ci/soak/base.sh
. ci/soak/base.sh
out=${WALKHAMMER_OUT:-out/soak-steps-$(date +%Y%m%d-%H%M%S)}
enough=${WALKHAMMER_STEPS:-10000000}

if [ "$(uname -m)" != x86_64 ]; then
  echo "soak/steps: calls are followed on x86_64 only" >&2
  exit 3
fi

# walk_steps RUN JDK ARGUMENTS...: a run in the folder RUN. The arguments name the thread, as the
# busiest may be a compiler's, without a Java frame.
walk_steps() {
  run=$1
  jdk=$2
  shift 2
  code=0
  "$walkhammer" step "$@" --walker asgst,agct --window 6000 --jdk "$jdk" \
    --time "${WALKHAMMER_STEP_TIME:-60s}" --jobs 1 --no-confirm --out "$run" \
    >"$run.txt" 2>"$run.log" || code=$?
  # 1: findings; 3: programs that this JDK or machine cannot have; 4: also a program that made no
  # step.
  case $code in
  0 | 1 | 3) ;;
  *)
    fail "$run: walkhammer ended with $code: $(tail -n 1 "$run.log")"
    [ -f "$run/run.db" ] || exit 1
    ;;
  esac
  ask "$run" "SELECT printf('  %s is %s: %s', label, status, reason) FROM cell
    WHERE status <> 'passed'"
  bad=$(ask "$run" "SELECT COUNT(*) FROM finding
    WHERE grade = 'Forbidden' AND request LIKE '%walker asgst%'")
  [ "$bad" -eq 0 ] || fail "$run: $bad forbidden findings of the reference"
}

# The instructions of a run by kind of code: kind|steps|proven|contradicted, and where
# AsyncGetCallTrace was judged, too: agct REGION|judged|contradicted.
figures() {
  ask "$1" "SELECT kind, SUM(steps), SUM(proven), SUM(contradicted) FROM step_region GROUP BY kind"
  ask "$1" "SELECT 'agct ' || region, SUM(samples),
      SUM(CASE WHEN against IN ('walker', 'both') THEN samples ELSE 0 END)
    FROM evidence WHERE witness = 'stepped-shadow-stack' GROUP BY region"
}

# table TITLE: the figures on stdin as a table.
table() {
  awk -F '|' -v title="$1" '
    /^agct / { judged[substr($1, 6)] += $2; wrong[substr($1, 6)] += $3; next }
    { steps[$1] += $2; proven[$1] += $3; against[$1] += $4 }
    END {
      print title
      for (kind in steps) {
        printf "  %-9s %9d instructions, proven %5.1f %%, reference contradicted at %d\n", kind,
          steps[kind], 100 * proven[kind] / steps[kind], against[kind] | "sort"
        all += steps[kind]; all_proven += proven[kind]; all_against += against[kind]
      }
      close("sort")
      for (region in judged)
        printf "  agct in %-9s contradicted at %d of %d\n", region, wrong[region], judged[region] | "sort"
      close("sort")
      printf "  in all %d instructions, %d of them judged, reference contradicted at %d\n", all,
        all_proven + all_against, all_against
    }'
}

mkdir -p "$out"
number=0
for jdk; do
  number=$((number + 1))
  name=$number-$(basename "$jdk")
  walk_steps "$out/$name-torture" "$jdk" --thread torture --workload 'torture:*'
  walk_steps "$out/$name-real" "$jdk" --thread main --workload debian:h2 --workload debian:xalan
  { figures "$out/$name-torture" && figures "$out/$name-real"; } >"$out/$name.figures"
  table "$name" <"$out/$name.figures"
  [ "$(awk -F '|' '!/^agct / { n += $3 } END { print n + 0 }' "$out/$name.figures")" -gt 0 ] ||
    fail "$name: nothing is proven"
done
cat "$out"/*.figures | table all
cat "$out"/*.figures | awk -F '|' -v enough="$enough" '
  !/^agct / { steps += $2; against += $4 }
  END {
    if (100000 * against >= steps) print "contradicted too often, or nothing was stepped"
    if (steps < enough) print "only " steps + 0 " of " enough " instructions"
  }' >"$out/verdict"
while read -r why; do fail "$why"; done <"$out/verdict"
exit "$failed"
