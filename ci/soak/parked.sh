# SPDX-License-Identifier: Apache-2.0
# Honest walkers in mode parked: WALKHAMMER_RUNS (default: 100) runs of WALKHAMMER_TIME (default:
# 3s) each, by turns of JDKs, walkers and torture programs, two at a time. Fails if a run does not
# pass, or finds what is not a known issue.
# shellcheck shell=sh
# shellcheck disable=SC2154  # ci/soak.sh sets them
need_jdks
programs='mixed recursion shadow exceptions deopt osr monitors threads gc stubs reflection'
walkers='agct asgst iterator'

# turn NUMBER WORD...: prints the word whose turn it is.
turn() {
  turns=$1
  shift
  shift $((turns % $#))
  echo "$1"
}

# walk NUMBER: starts that run, as $!.
walk() {
  # shellcheck disable=SC2046,SC2086  # words
  start "$out/$1" stress --mode parked --seed "$1" --no-confirm --interval 50us --jobs 1 \
    --jdk $(turn "$1" $jdks) --walker $(turn $(($1 / 2)) $walkers) \
    --workload torture:$(turn $(($1 / 2)) $programs) --time "${WALKHAMMER_TIME:-3s}"
}

clean=0
number=0
while [ "$number" -lt "${WALKHAMMER_RUNS:-100}" ]; do
  walk "$number"
  first=$!
  walk $((number + 1))
  second=$!
  for run in "$number $first" "$((number + 1)) $second"; do
    if ended "$out/${run% *}" "${run#* }" 0; then
      clean=$((clean + 1))
    else
      head -n 2 "$out/${run% *}.txt"
    fi
  done
  number=$((number + 2))
done
echo "$clean of $number runs found nothing"
