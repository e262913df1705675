# SPDX-License-Identifier: Apache-2.0
# Safepoint queues at the threads' own polls: WALKHAMMER_ELEMENTS (default: 1000000) on each JDK from
# 17 on with G1, ZGC and the interpreter alone, of threads that compute, in runs of WALKHAMMER_TIME
# (default: 60s). One more run samples each 250 us of CPU time. Prints a table. Fails if
# - a JVM dies, or a run has no elements;
# - more than 0.1 % are lost: never handled, or without callers that the signal handler has found;
# - a handler runs on another Java thread or without its thread's variables, or gets another frame
#   or name than the signal handler has walked to;
# - fewer than 99 % are handled by their own thread;
# - the last run finds a thread in the processing of its queue in more than 2 % of its samples.
# shellcheck shell=sh
# shellcheck disable=SC2154  # ci/soak.sh sets them
# shellcheck source=ci/test/lib_clients.sh
. ci/test/lib_clients.sh
need_jdks

# sample FILE INTERVAL THREADS: a run; its numbers go to FILE.
sample() {
  code=0
  run_client "$jdk" queue "$2,cpu,leaves" "$time" "$3" "${WALKHAMMER_PROGRAM:-mixed}" \
    -Xmx256m "$flag" >"$1" 2>&1 || code=$?
  if [ "$code" -ne 0 ]; then
    died=$((died + 1))
    fail "$1: java ended with $code: $(grep -m 1 '^# *SIG\|^#  *Internal' "$1" || tail -n 1 "$1")"
  elif [ "$(number accepted "$1")" -eq 0 ]; then
    fail "$1: no element"
    return 1
  fi
}

# bound WHAT PART WHOLE SHARE: a failure if PART is more than 1 / SHARE of WHOLE.
bound() {
  [ $(($4 * $2)) -le "$3" ] || fail "$here: $1: $2 of $3"
}

# judge: the table's row, and the bounds.
judge() {
  accepted=$(number accepted "$here".run-*)
  lost=$((accepted - $(number handled "$here".run-*) + $(number without-callers "$here".run-*)))
  own=$(number own-thread "$here".run-*)
  for what in wrong-thread wrong-leaf wrong-names; do
    bound "$what" "$(number $what "$here".*-*)" 0 1
  done
  bound 'lost' "$lost" "$accepted" 1000
  bound 'by a stop' $((accepted - own)) "$accepted" 100
  inside=$(number in-processing "$here".paced-1)
  signals=$(number signals "$here".paced-1)
  bound 'in own processing' "$inside" "$signals" 50
  printf '| %s | %s | %d | %d | %d | %d | %d | %.2f %% | %d of %d | %d |\n' "$name" "$flag" \
    "$accepted" "$lost" "$(number wrong-thread "$here".*-*)" "$(number wrong-leaf "$here".*-*)" \
    "$(number wrong-names "$here".*-*)" \
    "$(echo "$own $accepted" | awk '{ print $2 ? 100 * $1 / $2 : 0 }')" "$inside" "$signals" \
    "$died" | tee -a "$out/table"
}

time=$(seconds "${WALKHAMMER_TIME:-60s}")
wanted=${WALKHAMMER_ELEMENTS:-1000000}
echo '| JDK | flag | elements | lost | wrong thread | wrong leaf | wrong name | own thread | in own processing | crashes |'
echo '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |'
judged=0
for jdk in $jdks; do
  name=$(feature "$jdk")
  [ "${name:-0}" -ge 17 ] || continue
  # shellcheck disable=SC2086  # words
  for flag in ${WALKHAMMER_FLAGS:--XX:+UseG1GC -XX:+UseZGC -Xint}; do
    here=$out/$name$flag
    died=0
    run=0
    while run=$((run + 1)) && sample "$here.run-$run" 50 4 &&
      [ "$(number accepted "$here".run-*)" -lt "$wanted" ] && [ "$died" -lt 3 ]; do :; done
    sample "$here.paced-1" 250 2 || true
    judge
    judged=$((judged + 1))
  done
done
[ "$judged" -gt 0 ] || lacks 'no JDK from 17 on'
