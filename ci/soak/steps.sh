# SPDX-License-Identifier: Apache-2.0
# At every instruction of torture:* and of two real programs, the calls that the thread has made
# (the stepped shadow stack, x86_64) are compared with the callers that the reference and
# AsyncGetCallTrace name. On each JDK, WALKHAMMER_TIME (default: 60s) a program. Prints a table for
# each JDK and one of all. Fails if the calls contradict the reference at one of 100,000
# instructions or more, at a Forbidden finding of the reference, if a JDK proves nothing, or if all
# together step less than WALKHAMMER_STEPS (default: 10000000). Fails also where the code alone puts
# a return address elsewhere than the calls do, unless ci/soak/frame_differences.txt lists that.
# The programs of torture:* run once more without a walker, so that more of that is compared.
# In torture:mixed and the real programs, the walkers asprof-vm and ddprof-vm run, too: each beside
# the reference in JVMs of its own, if ci/setup/profilers.sh has laid out a release of its library.
# The tables show where the calls contradict other walkers than the reference, which fails nothing.
# shellcheck shell=sh
# shellcheck disable=SC2154  # ci/soak.sh sets them
[ "$(uname -m)" = x86_64 ] || lacks 'calls are followed on x86_64 only'

# walk_steps NAME ARGUMENTS...: a run of $jdk, whose figures are added to those of $here. The
# arguments name the thread, as the busiest may be a compiler's, without a Java frame.
walk_steps() {
  run=$out/$here-$1
  shift
  # 1: findings; 3: programs that this JDK or machine cannot have; 4: also a program that made no
  # step.
  start "$run" step "$@" --window 6000 --jdk "$jdk" \
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
  figures "$run" >>"$out/$here.figures"
}

# The lines of stdin that begin like no line of the list.
unlisted() {
  awk 'NR == FNR { if (!/^#/) listed[$0]; next }
    { for (one in listed) if (index($0, one) == 1) next; print }' ci/soak/frame_differences.txt -
}

# The instructions of a run by kind of code: kind|steps|proven|contradicted; those whose return
# address was compared: frames CODE|steps|agreed|disagreed; and where another walker was judged, too:
# WALKER in REGION|judged|contradicted.
figures() {
  ask "$1" "SELECT kind, SUM(steps), SUM(proven), SUM(contradicted) FROM step_region GROUP BY kind"
  ask "$1" "SELECT 'frames ' || code, SUM(steps), SUM(agreed), SUM(disagreed) FROM frame_place
    GROUP BY code"
  ask "$1" "SELECT walker || ' in ' || region, SUM(samples),
      SUM(CASE WHEN against IN ('walker', 'both') THEN samples ELSE 0 END)
    FROM evidence WHERE witness = 'stepped-shadow-stack' GROUP BY walker, region"
}

# table TITLE: the figures on stdin as a table.
table() {
  awk -F '|' -v title="$1" '
    / in / { judged[$1] += $2; wrong[$1] += $3; next }
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
      for (place in judged)
        printf "  %-20s contradicted at %d of %d\n", place, wrong[place], judged[place] | "sort"
      close("sort")
      for (code in seen) {
        printf "  %-8s code and calls agree at %d of %d, disagree at %d\n", code, agreed[code],
          seen[code], not[code] | "sort"
        all_agreed += agreed[code]; all_not += not[code]
      }
      close("sort")
      printf "  in all code and calls agree at %d, disagree at %d\n", all_agreed, all_not
      printf "  in all %d instructions, %d of them judged, reference contradicted at %d\n", all,
        all_proven + all_against, all_against
    }'
}

# Steps with each profiler's own walker; a run takes one library.
walk_profilers() {
  for profiler in asprof ddprof; do
    library=$(find "$libraries" -name "$profiler-*.so" 2>/dev/null | sort -V | tail -n 1)
    [ -n "$library" ] || continue
    set -- --walker "asgst@ref,$profiler-vm" --provider "$library" --thread
    walk_steps "$profiler-torture" "$@" torture --workload torture:mixed
    walk_steps "$profiler-real" "$@" main --workload debian:h2 --workload debian:xalan
  done
}

libraries=${WALKHAMMER_PROFILERS:-${XDG_CACHE_HOME:-$HOME/.cache}/walkhammer/profilers}
need_jdks
number=0
for jdk in $jdks; do
  number=$((number + 1))
  here=$number-$(basename "$jdk")
  walk_steps torture --walker asgst,agct --thread torture --workload 'torture:*'
  walk_steps calls --no-walk --thread torture --workload 'torture:*'
  walk_steps real --walker asgst,agct --thread main --workload debian:h2 --workload debian:xalan
  walk_profilers
  table "$here" <"$out/$here.figures"
  [ "$(awk -F '|' '!/ in |^frames / { n += $3 } END { print n + 0 }' "$out/$here.figures")" -gt 0 ] ||
    fail "$here: nothing is proven"
done
cat "$out"/*.figures | table all
cat "$out"/*.figures | awk -F '|' -v enough="${WALKHAMMER_STEPS:-10000000}" '
  !/ in |^frames / { steps += $2; against += $4 }
  END {
    if (100000 * against >= steps) print "contradicted too often, or nothing was stepped"
    if (steps < enough) print "only " steps + 0 " of " enough " instructions"
  }' >"$out/verdict"
while read -r why; do fail "$why"; done <"$out/verdict"
