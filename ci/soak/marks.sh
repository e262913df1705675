# SPDX-License-Identifier: Apache-2.0
# Frame marks on each JDK from 17 on with G1, ZGC and the interpreter alone: two torture programs,
# mixed and exceptions, WALKHAMMER_TIME (default: 60s) each, with a sample each 300 us on each
# thread. A client moves its mark from frame to frame, and compares the stack behind the mark with
# what it was. Prints a table. Fails if
# - a JVM dies, or a run leaves no marked frame;
# - the handler does not run before the caller's next instruction in 1 % of the frames that are left;
# - a marked frame was left unnoticed, or a handler runs for another thread.
# shellcheck shell=sh
# shellcheck disable=SC2154  # ci/soak.sh sets them
# shellcheck source=ci/test/lib_clients.sh
. ci/test/lib_clients.sh
need_jdks

# mark PROGRAM FLAG: a run, its row and its bounds.
mark() {
  here=$out/$name$2-$1
  code=0
  run_client "$jdk" mark 300 "$time" 2 "$1" -Xmx256m "$2" >"$here" 2>&1 || code=$?
  [ "$code" -eq 0 ] || fail "$here: java ended with $code: $(tail -n 1 "$here")"
  left=$(number left "$here")
  late=$((left - $(number at-caller "$here")))
  [ "$left" -gt 0 ] || fail "$here: no marked frame was left"
  [ $((100 * late)) -le "$left" ] || fail "$here: $late of $left handlers not before the caller"
  unnoticed=$(number stale "$here")
  astray=$(number astray "$here")
  [ $((unnoticed + astray)) -eq 0 ] || fail "$here: $unnoticed unnoticed, $astray on other threads"
  echo "| $name | $2 | $1 | $left | $((left - late)) | $(number early "$here") |" \
    "$(number passed "$here") | $(number kept "$here") | $unnoticed |"
}

time=$(seconds "${WALKHAMMER_TIME:-60s}")
echo '| JDK | flag | program | left | at the caller | early | passed | compared | unnoticed |'
echo '| --- | --- | --- | --- | --- | --- | --- | --- | --- |'
judged=0
for jdk in $jdks; do
  name=$(feature "$jdk")
  [ "${name:-0}" -ge 17 ] || continue
  # shellcheck disable=SC2086  # words
  for flag in ${WALKHAMMER_FLAGS:--XX:+UseG1GC -XX:+UseZGC -Xint}; do
    mark mixed "$flag"
    mark exceptions "$flag"
    judged=$((judged + 1))
  done
done
[ "$judged" -gt 0 ] || lacks 'no JDK from 17 on'
