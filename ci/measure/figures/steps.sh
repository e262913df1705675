# SPDX-License-Identifier: Apache-2.0
# 15 s a program and JDK (WALKHAMMER_TIME): what the calls of a stepped thread say of the reference.
# shellcheck shell=sh
# shellcheck disable=SC2154  # ci/measure.sh sets them
export WALKHAMMER_TIME="${WALKHAMMER_TIME:-15s}"
export WALKHAMMER_STEPS="${WALKHAMMER_STEPS:-1}" # how many there are is the figure
# shellcheck disable=SC2086  # words
WALKHAMMER_OUT=$work/soak ci/soak.sh $jdk_options steps >"$work/table" ||
  { cat "$work/table" >&2; exit 1; }
all=$(sed -n '/^all$/,$s/^ *in all \([0-9]*\) [^,]*, \([0-9]*\) .* at \([0-9]*\)$/\1 \2 \3/p' "$work/table")
# shellcheck disable=SC2086  # words
set -- $all
row 'The reference walker' 'instructions that were stepped; that the calls judge; that contradict the reference' \
  "$(thousands "$1"); $(thousands "$2"); $3" \
  "WALKHAMMER_TIME=$WALKHAMMER_TIME ci/soak.sh steps"
all=$(sed -n '/^all$/,$p' "$work/table" | awk '/code and calls agree/ {
    agreed += $7; disagreed += $12 } END { print agreed + disagreed, disagreed + 0 }')
row 'The reference walker' 'stepped instructions that were compared with the rows of code alone; disagree' \
  "$(thousands "${all% *}"); $(thousands "${all#* }")" \
  "WALKHAMMER_TIME=$WALKHAMMER_TIME ci/soak.sh steps"
