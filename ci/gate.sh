#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Before integration: runs two JDK images in turn, and says whether the second is worse.
#   ci/gate.sh [--time TIME] [--rounds N] [--workload GLOB] [--walker LIST] [--policy FILE]
#              [--bugs DIR] [--build VERSION] [--out DIR] BASELINE CANDIDATE
# First, the requests of the known issues are replayed on both: an issue that only the candidate
# shows is a regression. Then the requests of all corpora are replayed, and vmStructs are compared:
# a request that both always answer differently, or an entry that is lost, is a regression. After a
# regression, no runs are made. Otherwise each round is a stress run and a fuzz run of the baseline,
# then of the candidate, so that changes of the machine's load affect both. The rounds (default 3)
# share the TIME: 90s, 10m, 1h, or a number of minutes (default: 10m of walks; starting, confirming
# and replaying come on top).
# After each round, what only the candidate has found is replayed on both images. A confirmed new
# bug, or a candidate that does not start, leaves the other rounds out. If the candidate makes no
# walk at all, nothing is ever replayed. DIR of --bugs is a store of bugs (docs/howto/bugs.md): bugs
# that it knows are not new, and bugs that are fixed there must be gone. VERSION is that of the
# candidate, for JDKs that all report the same version. The last line is meant for a pull request.
# docs/howto/gate.md says how it judges.
# WALKHAMMER names the executable (default: the release build's). DIR is new (default out/gate-DATE);
# it keeps the runs, and the verdict in gate.txt and, to paste, in gate.md. Requests that the images
# answer differently are in answers/, and reports of the candidate's runs for CI in reports/.
# Exit codes: 0 nothing is worse, 1 something is, 2 bad usage, 3 the baseline cannot be run here, or
# the candidate is for another kind of machine, 4 the runs prove nothing.
set -eu
[ "${1:-}" != --help ] || exec sed -n '3,/^set/s/^# \{0,1\}//p' "$0"
here=$(dirname "$0")
# shellcheck source=ci/lib_jvm.sh
. "$here/lib_jvm.sh"
[ ! -x "$here/../walkhammer" ] || : "${WALKHAMMER:=$here/../walkhammer}" # in a release
walkhammer=${WALKHAMMER:-$here/../build/release/walkhammer}
time=10 rounds=3 workload=torture:mixed walker=agct policy='' bugs='' build=''
out=out/gate-$(date +%Y%m%d-%H%M%S)
times=10

usage() {
  echo "gate: $1; see the head of $0" >&2
  exit 2
}

while [ "$#" -gt 0 ]; do
  case $1 in
  --time | --rounds | --workload | --walker | --policy | --bugs | --build | --out)
    [ "$#" -ge 2 ] || usage "$1 needs a value"
    case $1 in
    --time) time=$2 ;;
    --rounds) rounds=$2 ;;
    --workload) workload=$2 ;;
    --walker) walker=$2 ;;
    --policy) policy=$2 ;;
    --bugs) bugs=$2 ;;
    --build) build=$2 ;;
    --out) out=$2 ;;
    esac
    shift 2
    ;;
  -*) usage "unknown option $1" ;;
  *) break ;;
  esac
done
[ "$#" -eq 2 ] || usage 'give the homes of two JDKs, BASELINE and CANDIDATE'
seconds=$(printf '%s\n' "$time" | awk '/^[0-9]+(\.[0-9]+)?[smh]?$/ {
  print int($0 * (/s$/ ? 1 : /h$/ ? 3600 : 60)) }')
[ -n "$seconds" ] || usage "--time $time is neither minutes nor a time such as 90s, 10m or 2h"
case $rounds in
'' | *[!0-9]* | 0*) usage "--rounds $rounds is not a whole number from 1 on" ;;
esac
baseline=$1 candidate=$2
[ -x "$walkhammer" ] || usage "there is no $walkhammer; build it, or set WALKHAMMER"
[ -z "$policy$bugs$build" ] || "$walkhammer" gate ${policy:+--policy "$policy"} \
  ${bugs:+--bugs "$bugs"} ${build:+--build "$build"} || exit 2
[ ! -e "$out" ] || usage "--out $out exists"
for jdk in "$baseline" "$candidate"; do
  [ -x "$jdk/bin/java" ] || usage "$jdk is not a JDK: it has no bin/java"
done
seconds=$((seconds / rounds / 4)) # four runs a round
[ "$seconds" -ge 5 ] || usage "--time $time leaves less than 5 s for each of $((4 * rounds)) runs"
mkdir -p "$out"

# run SIDE ROUND VERB OPTION...: findings are the gate's to judge, not an end.
run() {
  side=$1 round=$2 verb=$3
  shift 3
  eval "jdk=\$$side"
  echo "gate: round $round of $rounds: $verb on $jdk for $seconds s" >&2
  code=0
  "$walkhammer" "$verb" --jdk "$jdk" --walker "$walker" --time "${seconds}s" \
    --out "$out/$side/$verb-$round" "$@" >"$out/$side-$verb-$round.txt" 2>"$out/log" || code=$?
  case $code in
  0 | 1) ;;
  2 | 3)
    cat "$out/log" >&2
    # The baseline has just run, so a candidate that does not start is worse.
    [ "$side$code" = candidate3 ] && not_started "$out/log" || exit "$code"
    ;;
  *)
    failed=1
    echo "gate: that run ended with $code: see $out/$side-$verb-$round.txt" >&2
    ;;
  esac
}

# gate OPTION...: of all runs so far.
gate() {
  "$walkhammer" gate --baseline "$out"/baseline/* --candidate "$out"/candidate/* \
    ${policy:+--policy "$policy"} ${bugs:+--bugs "$bugs"} ${build:+--build "$build"} \
    ${times:+--replay "$times" --keep "$out/answers"} ${corpora:+--corpora-answers "$corpora"} "$@"
}

# True if replays on both images have shown that something is new, a fixed bug is back, or the
# candidate does not start.
new_bug() {
  gate --json >"$out/gate.json" || [ "$?" -eq 1 ] || return 1
  [ "$(sqlite3 :memory: "select count(*) from json_each(readfile('$out/gate.json'), '\$.changes') c
    where c.value ->> '\$.effect' = 'fail' and (c.value ->> '\$.kind' like 'new-%'
      or c.value ->> '\$.kind' in ('reopened', 'answers', 'cannot-start'))")" -gt 0 ]
}

# issues THIS OTHER: prints the known issues that each replay shows on JDK number THIS of the check,
# and none on the other one: id, title and replays. An issue that the other JDK has by its version
# does not count: a request may need the offsets of one build.
issues() {
  sqlite3 -separator '  ' :memory: "select a.value ->> '\$.id', a.value ->> '\$.title',
      (a.value ->> '\$.reproduced') || ' of ' || (a.value ->> '\$.times') || ' replays show it, 0 of ' ||
      (b.value ->> '\$.times') || ' on the other JDK'
    from json_each(readfile('$out/known.json'), '\$.jdks[$1].bugs') a,
      json_each(readfile('$out/known.json'), '\$.jdks[$2].bugs') b
    where a.value ->> '\$.id' = b.value ->> '\$.id' and a.value ->> '\$.times' > 0
      and a.value ->> '\$.reproduced' = a.value ->> '\$.times' and b.value ->> '\$.reproduced' = 0
      and coalesce(b.value ->> '\$.by_version', 'unknown') <> 'yes'
      and b.value ->> '\$.walked' = b.value ->> '\$.times'"
}

# tell_fixed: adds the known issues that are fixed to both forms of the verdict.
tell_fixed() {
  {
    sed '$d' "$out/gate.txt"
    echo 'Known issues that are fixed'
    echo "$fixed" | sed 's/^/  /'
    echo
    tail -n 1 "$out/gate.txt"
  } >"$out/gate.new"
  mv "$out/gate.new" "$out/gate.txt"
  {
    printf '\n**Known issues that are fixed**\n\n'
    echo "$fixed" | sed 's/^/* /'
  } >>"$out/gate.md"
}

# Whether the candidate makes a walk. Without this check, each replay would wait for a walk in vain.
makes_walks() {
  "$walkhammer" fuzz --jdk "$candidate" --walker "$walker" --scene interpreted-recursion --walks 1 \
    --workers 1 --no-confirm --no-coverage --out "$out/first-walk" >"$out/log" 2>&1 || true
  walks=$(sqlite3 "$out/first-walk/run.db" "select walks from run" 2>&1)
  rm -rf "$out/first-walk"
  [ "$walks" != 0 ]
}

# The known issues, then all corpora. Ends the script if they show a regression.
replay_all() {
  echo "gate: replaying the known issues on both JDKs" >&2
  "$walkhammer" bugs check --jdk "$baseline" --jdk "$candidate" --json >"$out/known.json" \
    2>"$out/log" || true # the JSON says it
  if [ "$(sqlite3 :memory: "select json_valid(readfile('$out/known.json'))")" = 1 ]; then
    back=$(issues 1 0) fixed=$(issues 0 1)
  else
    echo "gate: the known issues could not be replayed: $(tail -n 1 "$out/log")" >&2
  fi
  if [ -n "$back" ]; then
    {
      echo "REGRESSION: known issues are back in $candidate"
      echo "$back" | sed 's/^/  fail  /'
      [ -z "$fixed" ] || echo "$fixed" | sed 's/^/  fixed  /'
      echo
      echo "walkhammer gate: REGRESSION. Back in $candidate, and not in $baseline, by replay:" \
        "$(echo "$back" | sed 's/  .*//' | paste -sd, - | sed 's/,/, /g')."
    } >"$out/gate.txt"
    sed 's/^  \(fail\|fixed\)/* \1/' "$out/gate.txt" >"$out/gate.md"
    cat "$out/gate.txt"
    exit 1
  fi

  # What both answer to the corpora, once: no difference there is by chance.
  echo "gate: replaying the corpora on both JDKs" >&2
  code=0
  "$walkhammer" gate --jdk "$baseline" --jdk "$candidate" --walker "$walker" \
    --corpora-answers "$out/corpora.json" --keep "$out/answers" --markdown "$out/corpora.md" \
    ${policy:+--policy "$policy"} ${bugs:+--bugs "$bugs"} >"$out/corpora.txt" 2>"$out/log" || code=$?
  case $code in
  0) ;;
  1)
    mv "$out/corpora.txt" "$out/gate.txt"
    [ ! -f "$out/corpora.md" ] || mv "$out/corpora.md" "$out/gate.md"
    [ -z "$fixed" ] || tell_fixed
    cat "$out/gate.txt"
    exit 1
    ;;
  *) echo "gate: the corpora could not be replayed: $(tail -qn 1 "$out/corpora.txt" "$out/log")" >&2 ;;
  esac
  [ ! -f "$out/corpora.json" ] || corpora=$out/corpora.json
}

back='' fixed='' corpora='' failed=''
if makes_walks; then
  replay_all
else
  echo "gate: the candidate makes no walk, so nothing is replayed" >&2
  times=
fi

round=1
while [ "$round" -le "$rounds" ]; do
  for side in baseline candidate; do
    run "$side" "$round" stress --workload "$workload" --interval 20us..100us
    run "$side" "$round" fuzz --seed "$round" --answers
  done
  if [ "$round" -lt "$rounds" ] && new_bug; then
    echo "gate: a regression is confirmed: the other rounds are left out" >&2
    break
  fi
  round=$((round + 1))
done

mkdir "$out/reports"
for folder in "$out"/candidate/*; do
  report=$out/reports/$(basename "$folder")
  "$walkhammer" report "$folder" --html "$report.html" --junit "$report.xml" \
    --markdown "$report.md" >"$out/log" 2>&1 || [ "$?" -eq 1 ] || cat "$out/log" >&2
done
code=0
gate --markdown "$out/gate.md" >"$out/gate.txt" || code=$?
if [ "$code" -eq 0 ] && [ -n "$failed" ]; then # it was to compare that run, too
  code=4
  for form in "$out/gate.txt" "$out/gate.md"; do
    [ ! -f "$form" ] || sed -i -e 's/^PASS: /NOT ENOUGH DATA: /' -e 's/^### PASS: /### NOT ENOUGH DATA: /' \
      -e 's/^walkhammer gate\(\\*\): PASS\./walkhammer gate\1: NOT ENOUGH DATA, since a run failed./' \
      -e 's/^Nothing is worse\.$/A run failed./' "$form"
  done
fi
[ -z "$fixed" ] || tell_fixed
cat "$out/gate.txt"
exit "$code"
