# SPDX-License-Identifier: Apache-2.0
# Profilers from the documents' listings (harness/asgst/testing/clients) on every torture program,
# WALKHAMMER_TIME (default: 10m) on each JDK, divided over clients and programs. Prints a table.
# Fails if
# - a JVM ends with an error, or a client of a JDK has no samples;
# - a name is wrong: not text, or another one than in the signal handler;
# - a name is unknown in a queue's handler, or 2 % of those asked for after the signal handler;
# - an answer is none of the documents, or more than 0.5 % of the samples of threads with Java
#   frames fail;
# - more than 0.5 % of the samples meet a full queue. Before JDK 17 stops serve queues, and such
#   samples are only counted.
# shellcheck shell=sh
# shellcheck disable=SC2154  # ci/soak.sh sets them
# shellcheck source=ci/test/lib_clients.sh
. ci/test/lib_clients.sh
need_jdks

# Prints NAME|FIRST JDK|FLAGS of each torture program.
programs() {
  awk 'BEGIN { RS = ""; FS = "\n" } {
      name = first = ""; flags = "-Xmx256m"
      for (i = 1; i <= NF; i++) {
        if (sub(/^name: /, "", $i)) name = $i
        if (sub(/^jdk: /, "", $i)) first = $i + 0
        if (sub(/^flags: /, "", $i)) flags = $i
      }
      if (name != "") print name "|" first "|" flags
    }' workloads/torture.catalogue | sed "s,{home},$(dirname "$walkhammer"),; s,{scratch},$work,"
}

# sample CLIENT PROGRAM FLAGS: a run of the client; its numbers go to $out/JDK-CLIENT.PROGRAM.
sample() {
  code=0
  option=
  [ "$1" != mark ] || option=1000
  # shellcheck disable=SC2086  # words
  run_client "$jdk" "$1" "$option" "$each" 2 "$2" $3 >"$here-$1.$2" 2>&1 || code=$?
  [ "$code" -eq 0 ] || {
    died=$((died + 1))
    fail "$here-$1.$2: java ended with $code: $(grep -m 1 '^# *SIG\|^#  *Internal' "$here-$1.$2" ||
      tail -n 1 "$here-$1.$2")"
  }
}

# bound WHAT PART WHOLE SHARE: a failure if PART is more than 1 / SHARE of WHOLE.
bound() {
  [ $(($4 * $2)) -le "$3" ] || fail "$here-$client: $1: $2 of $3"
}

# of WORD: the sum of these numbers of the client.
of() {
  number "$1" "$here-$client".*
}

# failed_codes: samples of the client in C that failed. Threads that have no Java frame (0), are not
# Java's any more (-10) or end (-8) get signals, too.
failed_codes() {
  sed -n 's/^stack-trace: .* codes//p' "$here-$client".* | xargs -n 1 |
    awk -F : '$1 != 0 && $1 != -8 && $1 != -10 { n += $2 } END { print n + 0 }'
}

# judge: the bounds of a client, and its row.
judge() {
  bad=$(of failed)
  full=$(of full-queue)
  wrong=$(($(of wrong-names) + $(of wrong-leaf)))
  [ "$client" != stack_trace ] || {
    bad=$(failed_codes)
    wrong=$(($(of odd) + $(of kept-info)))
  }
  # Before JDK 17 there are no marks, and that client does nothing.
  [ "$client" = mark ] && [ "$name" -lt 17 ] && return
  [ "$(of samples)" -gt 0 ] || fail "$here-$client: no sample"
  bound 'failed samples' "$bad" "$(of samples)" 200
  [ "$name" -lt 17 ] || bound 'samples that met a full queue' "$full" "$(of samples)" 200
  bound 'wrong names' "$wrong" 0 1
  bound 'codes that are none of the documents' "$(of other-codes)" 0 1
  unknown_share=50
  [ "$client" != queue ] || unknown_share=$(($(of names) + 1))
  bound 'unknown names' "$(of unknown-names)" "$(of names)" "$unknown_share"
  echo "| $name | $client | $(of samples) | $bad | $full | $(of names) | $wrong | $(of unknown-names) | $died |"
}

set -f # flags have asterisks
time=$(seconds "${WALKHAMMER_TIME:-10m}")
clients=${WALKHAMMER_CLIENTS:-iterator queue mark stack_trace}
echo '| JDK | client | samples | failed | full queue | names | wrong | unknown | crashes |'
echo '| --- | --- | --- | --- | --- | --- | --- | --- | --- |'
for jdk in $jdks; do
  name=$(feature "$jdk")
  here=$out/$name
  programs | awk -F '|' -v jdk="$name" '$2 <= jdk' >"$work/programs"
  # shellcheck disable=SC2086  # words
  each=$((time / $(echo $clients | wc -w) / $(wc -l <"$work/programs")))
  [ "$each" -gt 0 ] || each=1
  for client in $clients; do
    died=0
    while IFS='|' read -r program _ flags; do
      sample "$client" "$program" "$flags" </dev/null
    done <"$work/programs"
    set +f
    judge
    set -f
  done
done
