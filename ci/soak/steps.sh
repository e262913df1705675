# SPDX-License-Identifier: Apache-2.0
# At every instruction of torture:* and of two real programs, the calls that the thread has made
# (the stepped shadow stack, x86_64) are compared with the callers that the reference and
# AsyncGetCallTrace name. On each JDK, WALKHAMMER_TIME (default: 60s) a program. Prints a table for
# each JDK and one of all. Fails if the calls contradict the reference at one of 100,000
# instructions or more, at a Forbidden finding of the reference, if a JDK proves nothing, or if all
# together step less than WALKHAMMER_STEPS (default: 10000000). Fails also where the code alone puts
# a return address elsewhere than the calls do, unless ci/soak/frame_differences.txt lists that.
# shellcheck shell=sh
# shellcheck disable=SC2154  # ci/soak.sh sets them
[ "$(uname -m)" = x86_64 ] || lacks 'calls are followed on x86_64 only'

# walk_steps RUN JDK ARGUMENTS...: a run in the folder RUN. The arguments name the thread, as the
# busiest may be a compiler's, without a Java frame.
walk_steps() {
  run=$1
  jdk=$2
  shift 2
  # 1: findings; 3: programs that this JDK or machine cannot have; 4: also a program that made no
  # step.
  start "$run" step "$@" --walker asgst,agct --window 6000 --jdk "$jdk" \
    --time "${WALKHAMMER_TIME:-60s}" --jobs 1 --no-confirm
  ended "$run" "$!" 0 1 3 || [ -f "$run/run.db" ] || exit 1
  ask "$run" "SELECT printf('  %s is %s: %s', label, status, reason) FROM cell
    WHERE status <> 'passed'"
  bad=$(ask "$run" "SELECT COUNT(*) FROM finding
    WHERE grade = 'Forbidden' AND request LIKE '%walker asgst%'")
  [ "$bad" -eq 0 ] || fail "$run: $bad forbidden findings of the reference"
  ask "$run" "SELECT code || '|' || name || '|' || place || '|' || seen, SUM(steps), instruction
    FROM frame_difference GROUP BY code, name, place, seen, instruction" | unlisted >"$run.differences"
  while read -r line; do fail "$run: code and calls disagree: $line"; done <"$run.differences"
}

# The lines of stdin that begin like no line of the list.
unlisted() {
  awk 'NR == FNR { if (!/^#/) listed[$0]; next }
    { for (one in listed) if (index($0, one) == 1) next; print }' ci/soak/frame_differences.txt -
}

# The instructions of a run by kind of code: kind|steps|proven|contradicted; those whose return
# address was compared: frames CODE|steps|agreed|disagreed; and where AsyncGetCallTrace was judged,
# too: agct REGION|judged|contradicted.
figures() {
  ask "$1" "SELECT kind, SUM(steps), SUM(proven), SUM(contradicted) FROM step_region GROUP BY kind"
  ask "$1" "SELECT 'frames ' || code, SUM(steps), SUM(agreed), SUM(disagreed) FROM frame_place
    GROUP BY code"
  ask "$1" "SELECT 'agct ' || region, SUM(samples),
      SUM(CASE WHEN against IN ('walker', 'both') THEN samples ELSE 0 END)
    FROM evidence WHERE witness = 'stepped-shadow-stack' GROUP BY region"
}

# table TITLE: the figures on stdin as a table.
table() {
  awk -F '|' -v title="$1" '
    /^agct / { judged[substr($1, 6)] += $2; wrong[substr($1, 6)] += $3; next }
    /^frames / { seen[substr($1, 8)] += $2; agreed[substr($1, 8)] += $3; not[substr($1, 8)] += $4; next }
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
      for (code in seen)
        printf "  %-8s code and calls agree at %d of %d, disagree at %d\n", code, agreed[code],
          seen[code], not[code] | "sort"
      close("sort")
      printf "  in all %d instructions, %d of them judged, reference contradicted at %d\n", all,
        all_proven + all_against, all_against
    }'
}

need_jdks
number=0
for jdk in $jdks; do
  number=$((number + 1))
  here=$number-$(basename "$jdk")
  walk_steps "$out/$here-torture" "$jdk" --thread torture --workload 'torture:*'
  walk_steps "$out/$here-real" "$jdk" --thread main --workload debian:h2 --workload debian:xalan
  { figures "$out/$here-torture" && figures "$out/$here-real"; } >"$out/$here.figures"
  table "$here" <"$out/$here.figures"
  [ "$(awk -F '|' '!/^(agct|frames) / { n += $3 } END { print n + 0 }' "$out/$here.figures")" -gt 0 ] ||
    fail "$here: nothing is proven"
done
cat "$out"/*.figures | table all
cat "$out"/*.figures | awk -F '|' -v enough="${WALKHAMMER_STEPS:-10000000}" '
  !/^(agct|frames) / { steps += $2; against += $4 }
  END {
    if (100000 * against >= steps) print "contradicted too often, or nothing was stepped"
    if (steps < enough) print "only " steps + 0 " of " enough " instructions"
  }' >"$out/verdict"
while read -r why; do fail "$why"; done <"$out/verdict"
