#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Measures how many crashes `import --reproduce` shows again from a crash report. fuzz finds crashes,
# and replay --keep-crash lets each end a JVM, which leaves an hs_err log and a core. Then each crash
# is reproduced on the same JDK: from the log alone, and from the core. With -s, crashes of programs
# under stress --no-guard leave logs, too.
#   ci/measure/round_trip.sh [-f FUZZ-TIME] [-s STRESS-TIME] [-t TIME] [-m MOST] [-n] [-w] [-k]
#   [-o DIR] JDK...
#   -f: how long to fuzz for crashes on each JDK (default: 30s)
#   -s: how long to sample torture:mixed (default: not at all, because on x86_64 samples hardly ever
#       crash AsyncGetCallTrace)
#   -t: --time of import --reproduce (default: 30s)
#   -m: crashes of fuzz on each JDK at most (default: 100)
#   -n: no cores
#   -w: each log also in one of ten forms in which services and issue trackers wrap logs
#   -k: import --reproduce may use corpora/regressions, which hold crashes of the same functions
#   -o: folder in which logs, cores and runs are kept
# Prints a line for each crash, and the shares. A log without a walker in its chain, of a JVM that
# died elsewhere after the walk, does not count.
# WALKHAMMER names the executable (default: the release build's).
# Exit codes: 0 at least 95 % from logs, wrapped logs and cores, with a median under 60 s each; 1
# less, or slower; 2 usage, or no executable; 4 there was no crash.
set -eu
walkhammer=${WALKHAMMER:-$(dirname "$0")/../../build/release/walkhammer}
fuzz=30s
stress=
time=30s
most=100
cores=yes
wrapped=
known=--no-known-inputs
keep=
usage() {
  sed -n '3,/^set/s/^# \{0,1\}//p' "$0" >&2
  exit 2
}
while getopts f:s:t:m:nwko: option; do
  case $option in
    f) fuzz=$OPTARG ;;
    s) stress=$OPTARG ;;
    t) time=$OPTARG ;;
    m) most=$OPTARG ;;
    n) cores= ;;
    w) wrapped=yes ;;
    k) known= ;;
    o) keep=$OPTARG ;;
    *) usage ;;
  esac
done
shift $((OPTIND - 1))
[ "$#" -gt 0 ] || usage
[ -x "$walkhammer" ] || {
  echo "round_trip: no $walkhammer: build it, or set WALKHAMMER" >&2
  exit 2
}
if [ -n "$keep" ]; then
  out=$keep
  mkdir -p "$out"
else
  out=$(mktemp -d)
  trap 'rm -rf "$out"' EXIT
  # dash ends at once by a signal, without the EXIT trap.
  trap 'exit 130' INT TERM
fi
: >"$out/rows"

# ask FILE: prints verdict, seconds and signature of the JSON that import --reproduce printed.
ask() {
  sqlite3 -separator '|' :memory: "with d(text) as (select readfile('$1'))
    select r.value ->> 'verdict', r.value ->> 'seconds', r.value ->> 'signature'
    from d, json_each(text, '\$.reproductions') r"
}

# way KIND REPORT HOME FOLDER: reproduces from one report; adds a row KIND|VERDICT|SECONDS|FUNCTION.
way() {
  code=0
  # shellcheck disable=SC2086  # a flag or none
  "$walkhammer" import --reproduce "$2" --jdk "$3" --time "$time" --no-stress --no-minimize $known \
    --out "$4/from-$1" --json >"$4/$1.json" 2>"$4/$1.txt" || code=$?
  function=$(sqlite3 :memory: "select coalesce(nullif(text ->> '\$.function', ''), text ->> '\$.check')
    || '|' || (text ->> '\$.walker') from (select readfile('$4/$1.json') as text)" 2>/dev/null) || function='?|?'
  case $function in
    *'|no')
      echo "  $1: $(basename "$4"): no walker is in the chain of the log: not counted"
      return
      ;;
  esac
  answer=$(ask "$4/$1.json" 2>/dev/null) || answer=
  [ -n "$answer" ] || answer="failed|0|exit code $code: $(tail -n 1 "$4/$1.txt")"
  echo "$1|$answer" >>"$out/rows"
  echo "  $1: ${function%|*}: $answer"
}

# wrap NUMBER: prints stdin as collectors, trackers and mails have it.
wrap() {
  case $(($1 % 10)) in
    0) sed 's,^,[pod/app-6d5f7/app] ,' ;;
    1) jq -cR '{log: (. + "\n"), stream: "stderr"}' ;;
    2) jq -cRs '{"@timestamp": "2026-05-04T10:11:12Z", message: .}' ;;
    3) sed 's,^,2026-05-04T10:11:12.123456Z stdout F ,' ;;
    4) sed 's,^,| ,; s,$, |,' ;;
    5) sed 's,&,\&amp;,g; s,<,\&lt;,g; 1s,^,<html><pre>,' ;;
    6) gzip ;;
    7) iconv -t UTF-16 ;;
    8) sed 's,^,> ,' ;;
    9) awk '{ printf "#11 %d.%02d %s\n", 8 + NR / 100, NR % 100, $0 }' ;;
  esac
}

# crash INPUT HOME FOLDER: the log and the core of one crash, and both ways back.
crash() {
  mkdir -p "$3"
  cp "$1" "$3/input.walk"
  "$walkhammer" replay "$3/input.walk" --jdk "$2" --keep-crash "$3" >"$3/replay.txt" 2>&1 || true
  log=$3/input-1.hs_err.log
  [ -s "$log" ] || {
    echo "  $(basename "$3"): the JVM left no log: not counted"
    return
  }
  way log "$log" "$2" "$3"
  if [ -n "$wrapped" ]; then
    logs=$((logs + 1))
    wrap "$logs" <"$log" >"$3/wrapped"
    way wrapped "$3/wrapped" "$2" "$3"
  fi
  core=$(find "$3" -maxdepth 1 -name 'core*' | head -n 1)
  [ -z "$cores" ] || [ -z "$core" ] || way core "$core" "$2" "$3"
  [ -n "$keep" ] || rm -f "$core"
}

number=0
logs=0
for home; do
  number=$((number + 1))
  folder=$out/$number
  mkdir "$folder"
  echo "$home"
  "$walkhammer" fuzz --jdk "$home" --time "$fuzz" --no-minimize --out "$folder/fuzz" \
    >"$folder/fuzz.txt" 2>&1 || true
  taken=0
  for input in "$folder"/fuzz/crashes/*/input.walk; do
    if [ ! -f "$input" ] || [ "$taken" -ge "$most" ]; then continue; fi
    grep -Eq '^expect (crash|failed-check)' "$input" || continue
    taken=$((taken + 1))
    crash "$input" "$home" "$folder/$(basename "$(dirname "$input")")"
  done
  [ -n "$stress" ] || continue
  "$walkhammer" stress --jdk "$home" --time "$stress" --walker agct --workload torture:mixed \
    --interval 50us --no-guard --no-confirm --out "$folder/stress" >"$folder/stress.txt" 2>&1 ||
    true
  for log in "$folder"/stress/crashes/*/hs_err.log; do
    [ ! -f "$log" ] || way log "$log" "$home" "$(dirname "$log")"
  done
done

# share KIND PERCENT: prints how many of KIND were reproduced; fails if it is less.
share() {
  awk -F '|' -v kind="$1" -v least="$2" '
    $1 == kind { all++; good += $2 == "reproduced"; seconds[all] = $3 }
    END {
      if (all == 0) { print kind ": none"; exit kind == "log" ? 4 : 0 }
      for (i = 1; i <= all; i++) for (j = i + 1; j <= all; j++)
        if (seconds[j] < seconds[i]) { t = seconds[i]; seconds[i] = seconds[j]; seconds[j] = t }
      median = seconds[int((all + 1) / 2)]
      printf "%s: %d of %d reproduced (%.0f %%, at least %d %% are wanted), median %.1f s\n",
             kind, good, all, 100 * good / all, least, median
      exit !(100 * good >= least * all && median < 60)
    }' "$out/rows"
}
code=0
share log 95 || code=$?
if [ -n "$wrapped" ]; then share wrapped 95 || [ "$code" -ne 0 ] || code=1; fi
if [ -n "$cores" ]; then share core 95 || [ "$code" -ne 0 ] || code=1; fi
exit "$code"
