# SPDX-License-Identifier: Apache-2.0
# Verdicts on bad walkers: each row of ci/test/bad_walkers.txt in each torture program, on one JDK
# (the first of --jdk), WALKHAMMER_TIME (default: 4s) each, two runs at a time. Fails if a bad walker
# is not found, or an honest one is found something of. Then the gate compares a fuzz run and a
# stress run of each with those of the honest one: each bad walker must be a regression.
# shellcheck shell=sh
# shellcheck disable=SC2154  # ci/soak.sh sets them
need_jdks
jdk=${jdks# }
# shellcheck disable=SC2086  # words
jdk=$(printf '%s\n' $jdk | head -n 1)

# walk NAME PROGRAM: starts that run, as $!.
walk() {
  [ -f "$work/$1.so" ] || cp "$(dirname "$walkhammer")/providers/bad_walkers.so" "$work/$1.so"
  start "$out/$1-$2" stress --walker asgst --provider "$work/$1.so" --jdk "$jdk" --no-confirm \
    --workload "torture:$2" --time "${WALKHAMMER_TIME:-4s}" --jobs 1
}

# judged NAME PROGRAM PID: the run ends as the table says. 3: the JDK cannot run the program.
judged() {
  case $1 in
    honest) ended "$out/$1-$2" "$3" 0 3 || head -n 2 "$out/$1-$2.txt" ;;
    *) ended "$out/$1-$2" "$3" 1 3 || head -n 2 "$out/$1-$2.txt" ;;
  esac
}

names=$(sed -n 's/^\([a-z0-9-]*\) | .*/\1/p' ci/test/bad_walkers.txt)
last=
programs=$(sed -n 's/^name: //p' workloads/torture.catalogue)
for program in $programs; do
  for name in $names; do
    walk "$name" "$program"
    # shellcheck disable=SC2086  # words
    [ -z "$last" ] || judged $last
    last="$name $program $!"
  done
done
# shellcheck disable=SC2086  # words
judged $last

# sides SIDE NAME: makes a fuzz run and a stress run of that walker.
sides() {
  start "$out/gate-$1-fuzz" fuzz --walker asgst --provider "$work/$2.so" --jdk "$jdk" --no-confirm \
    --no-minimize --workers 1 --walks 200000 --answers
  fuzz=$!
  start "$out/gate-$1-stress" stress --walker asgst --provider "$work/$2.so" --jdk "$jdk" \
    --no-confirm --workload torture:mixed --time 8s --jobs 1
  stress=$!
  ended "$out/gate-$1-fuzz" "$fuzz" 0 1 || true
  ended "$out/gate-$1-stress" "$stress" 0 1 || true
}

sides baseline honest
regressions=0
for name in $names; do
  sides "$name" "$name"
  code=0
  "$walkhammer" gate --baseline "$out/gate-baseline-fuzz" --baseline "$out/gate-baseline-stress" \
    --candidate "$out/gate-$name-fuzz" --candidate "$out/gate-$name-stress" --replay 3 \
    >"$out/gate-$name.txt" 2>&1 || code=$?
  wanted=1
  [ "$name" != honest ] || wanted=0
  if [ "$code" -ne "$wanted" ]; then
    fail "the gate ends with $code for $name: $(tail -n 1 "$out/gate-$name.txt")"
  else
    regressions=$((regressions + wanted))
  fi
done
echo "  ok      the gate calls $regressions bad walkers a regression"
