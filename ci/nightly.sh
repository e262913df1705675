#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A night of JVM builds: fits walkers x engines x workloads x flag profiles x JDKs into one budget
# of time, runs them, merges what belongs together, and compares it with the last night.
#   ci/nightly.sh [--config FILE] [--short] [--out DIR]
# Give the DIR of a night that was killed, and it goes on: what is complete is not run again, and
# what had been found by then is kept. --short: a night of two minutes, with one of each.
# FILE has lines "key = value"; lists have blanks between; # begins a comment:
#   time = 480             minutes, or seconds such as 90s: of walks, confirming included
#   jdks = HOME...         default: all JDKs of this machine
#   walkers = agct asgst   one or more; "agct,asgst" compares them
#   engines = random libfuzzer afl
#   workloads = torture:mixed ...       profiles = default zgc ...
#   renaissance = JAR      your copy of the suite, of any version: workloads = renaissance:dotty ...
#   dacapo = DIR           likewise
#   shard = 2/8            of the plan, for the second of eight machines
#   corpus = DIR           of guided engines: kept from night to night, and distilled
#   baseline = DIR         a night to compare with; default: the last one beside --out
#   policy = FILE.toml     of the gate
#   bugs = DIR             a store of bugs (docs/bugs.md), which the night reads when it begins, and to
#                          which it adds what it found; made if there is none
# --out (default out/nightly-DATE) gets plan, runs/, merged/, reports/ and summary.txt.
# WALKHAMMER names the executable (default: the release build's).
# Exit codes: 0 nothing is worse than the last night, and the store knows what was found (without
# either: nothing was found), 1 something is worse, or a bug is new, back or no longer accepted, 2 bad
# usage, 3 nothing of the plan can be run here, 4 a run or a comparison failed or was vacuous, 130
# interrupted.
set -eu
here=$(dirname "$0")
walkhammer=${WALKHAMMER:-$here/../build/release/walkhammer}
config='' short='' out=''
least=5 # seconds that a run takes at the least

usage() {
  echo "nightly: $1; see the head of $0" >&2
  exit 2
}

while [ "$#" -gt 0 ]; do
  case $1 in
  --short) short=1 ;;
  --config | --out)
    [ "$#" -ge 2 ] || usage "$1 needs a value"
    case $1 in
    --config) config=$2 ;;
    --out) out=$2 ;;
    esac
    shift
    ;;
  *) usage "there is no option $1" ;;
  esac
  shift
done
[ -x "$walkhammer" ] || usage "there is no $walkhammer; build it, or set WALKHAMMER"

# read_config FILE: sets the variables below.
time=480 jdks='' walkers='agct asgst' engines='random libfuzzer afl' shard='' corpus='' baseline=''
policy='' bugs='' renaissance='' dacapo=''
workloads='torture:mixed torture:recursion torture:exceptions'
profiles='default xint c1 zgc'
[ -z "$short" ] || {
  time=2 walkers=agct engines='random libfuzzer' workloads=torture:mixed profiles=default
}
read_config() {
  number=0
  while IFS= read -r line || [ -n "$line" ]; do
    number=$((number + 1))
    line=${line%%#*}
    case $line in
    *[![:space:]]*) ;;
    *) continue ;;
    esac
    key=$(printf '%s' "${line%%=*}" | tr -d '[:space:]')
    value=$(printf '%s' "${line#*=}" | sed 's/^[[:space:]]*//; s/[[:space:]]*$//')
    case $line in
    *=*) ;;
    *) usage "$1:$number: \"$line\" is no \"key = value\"" ;;
    esac
    case $key in
    time) time=$value ;;
    jdks) jdks=$value ;;
    walkers) walkers=$value ;;
    engines) engines=$value ;;
    workloads) workloads=$value ;;
    profiles) profiles=$value ;;
    shard) shard=$value ;;
    corpus) corpus=$value ;;
    baseline) baseline=$value ;;
    policy) policy=$value ;;
    bugs) bugs=$value ;;
    renaissance) renaissance=$value ;;
    dacapo) dacapo=$value ;;
    *) usage "$1:$number: there is no key $key" ;;
    esac
  done <"$1"
}

if [ -z "$out" ]; then out=out/nightly-$(date +%Y%m%d-%H%M%S); fi
if [ -f "$out/config" ]; then # a night to go on with
  [ -z "$config$short" ] || usage "$out has a plan already: give neither --config nor --short"
  read_config "$out/config"
elif [ -e "$out" ]; then
  usage "--out $out exists and is not a nightly run"
elif [ -n "$config" ]; then
  [ -f "$config" ] || usage "there is no file $config"
  read_config "$config"
fi
case $time in
*s) budget=${time%s} ;;
*) budget=$time ;;
esac
case $budget in
'' | *[!0-9]* | 0*) usage "time = $time is not a number of minutes or seconds such as 90s" ;;
esac
[ "$budget" != "$time" ] || budget=$((time * 60))
[ "$budget" -ge "$least" ] || usage "time = $time is less than the $least s that a run takes"
case ${shard:-1/1} in
*[!0-9/]* | */*/* | /* | */ | 0* | */0*) usage "shard = $shard is not I/N, as 2/8" ;;
*/*) ;;
*) usage "shard = $shard is not I/N, as 2/8" ;;
esac
shard_index=${shard%/*} shard_count=${shard#*/}
[ "${shard_index:-1}" -le "${shard_count:-1}" ] || usage "shard = $shard is not I/N, as 2/8"
[ -z "$policy" ] || "$walkhammer" gate --policy "$policy" || exit 2
[ -z "$bugs" ] || [ ! -e "$bugs" ] || "$walkhammer" gate --bugs "$bugs" || exit 2

# word TEXT: TEXT as a part of a file's name.
word() {
  printf '%s' "$1" | tr -c 'A-Za-z0-9.,_-' '_'
}

# jobs: prints the matrix, a run a line: VERB JDK WALKER KIND [PROFILE]. Neighbours differ in all
# but the JDK, so that a part of the list has something of each.
jobs() {
  if [ -z "$jdks" ]; then jdks=$("$walkhammer" show jdks | sed 's/  .*//'); fi
  for walker in $walkers; do
    for engine in $engines; do
      for jdk in $jdks; do echo "fuzz $jdk $walker $engine -"; done
    done
    for profile in $profiles; do
      for workload in $workloads; do
        for jdk in $jdks; do echo "stress $jdk $walker $workload $profile"; done
      done
    done
  done
}

# make_plan: of a matrix that is too large for the budget each night takes the next part. The plan's
# first line has the seconds of a run and how many runs were left out.
make_plan() {
  jobs >"$out/jobs"
  all=$(wc -l <"$out/jobs")
  [ "$all" -gt 0 ] || {
    echo 'nightly: there is not a JDK on this machine' >&2
    exit 3
  }
  most=$((budget * ${shard_count:-1} / least))
  [ "$most" -le "$all" ] || most=$all
  night=$(($(date +%s) / 86400))
  awk -v first="$((night * most % all))" -v most="$most" -v all="$all" -v i="${shard_index:-1}" \
    -v n="${shard_count:-1}" '
    { place = (NR - 1 - first + all) % all }
    place < most && place % n == i - 1 { print }' "$out/jobs" >"$out/plan.jobs"
  mine=$(wc -l <"$out/plan.jobs")
  [ "$mine" -gt 0 ] || usage "shard = $shard has none of the $all runs of the plan"
  seconds=$((budget / mine))
  {
    echo "$seconds $((all - most)) $night"
    cat "$out/plan.jobs"
  } >"$out/plan.new"
  mv "$out/plan.new" "$out/plan" # complete, or not there
}

if [ ! -f "$out/plan" ]; then
  mkdir -p "$out/runs"
  if [ ! -f "$out/config" ]; then
    {
      echo "time = $time"
      for key in jdks walkers engines workloads profiles shard corpus baseline policy bugs \
        renaissance dacapo; do
        eval "value=\$$key"
        [ -z "$value" ] || echo "$key = $value"
      done
    } >"$out/config.new"
    mv "$out/config.new" "$out/config"
  fi
  make_plan
fi
exec 9>"$out/lock"
flock -n 9 || usage "another nightly.sh works in $out"
# The store as it was when the night began: a night that goes on, or that is judged anew, does not
# take what it added itself for known.
if [ -n "$bugs" ] && [ ! -d "$out/bugs" ]; then
  rm -rf "$out/bugs.new"
  mkdir -p "$bugs"
  cp -R "$bugs" "$out/bugs.new"
  mv "$out/bugs.new" "$out/bugs"
fi
read -r seconds left_out night <"$out/plan"

# end_of_last: a run that outlived a nightly.sh that was killed is ended by its number, if that
# still is such a run.
end_of_last() {
  [ -f "$out/running" ] || return 0
  pid=$(cat "$out/running")
  if tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -qF "$out/runs/"; then
    kill "$pid" 2>/dev/null || true
    while kill -0 "$pid" 2>/dev/null; do sleep 0.2; done
  fi
  rm -f "$out/running"
}

child=''
interrupted() {
  [ -z "$child" ] || kill "$child" 2>/dev/null || true
  [ -z "$child" ] || wait "$child" || true
  echo "nightly: interrupted; to go on: $0 --out $out" >&2
  exit 130
}
trap interrupted INT TERM

# run_job NAME WORDS...: does one run of the plan, unless it is complete.
run_job() {
  name=$1 verb=$2 jdk=$3 walker=$4 kind=$5 profile=$6
  folder=$out/runs/$name
  [ ! -f "$folder.done" ] || return 0
  if [ -f "$folder/run.db" ]; then # cut off: what it has found counts, and the run is done anew
    cut=1
    while [ -e "$folder.cut-$cut" ]; do cut=$((cut + 1)); done
    mv "$folder" "$folder.cut-$cut"
  fi
  rm -rf "$folder"
  walks=$((seconds * 3 / 4))
  set -- "$verb" --jdk "$jdk" --walker "$walker" --time "${walks}s" --out "$folder"
  case $verb in
  fuzz)
    set -- "$@" --engine "$kind" --seed "$((night + 1))" --confirm-time "$((seconds - walks))s"
    if [ "$kind" != random ] && [ -n "$corpus" ]; then
      inputs=$corpus/$(word "$walker-$(basename "$jdk")")
      mkdir -p "$inputs"
      set -- "$@" --corpus "$inputs"
    fi
    ;;
  stress)
    set -- "$@" --workload "$kind" --profile "$profile" --seed "$((night + 1))"
    case $kind in
    renaissance:*) [ -z "$renaissance" ] || set -- "$@" --renaissance "$renaissance" ;;
    dacapo:*) [ -z "$dacapo" ] || set -- "$@" --dacapo "$dacapo" ;;
    esac
    ;;
  esac
  echo "nightly: $name for $seconds s" >&2
  code=0
  "$walkhammer" "$@" >"$folder.txt" 2>"$folder.log" 9>&- &
  child=$!
  echo "$child" >"$out/running"
  wait "$child" || code=$?
  child=''
  rm -f "$out/running"
  echo "$code" >"$folder.done"
}

# each_job COMMAND: calls it with NAME and the words of each run of the plan.
each_job() {
  index=0
  while read -r verb jdk walker kind profile <&3; do
    index=$((index + 1))
    "$1" "$index-$(word "$verb.$(basename "$jdk").$walker.$kind.$profile")" "$verb" "$jdk" \
      "$walker" "$kind" "$profile"
  done 3<"$out/plan.jobs"
}

end_of_last
each_job run_job

# --- what belongs together -------------------------------------------------------------------------

# add_to_group NAME WORDS...: puts the run's folders, parts that were cut off included, on the list
# of its group. Runs that left no folder have none.
add_to_group() {
  for folder in "$out/runs/$1" "$out/runs/$1".cut-*; do
    [ ! -f "$folder/run.db" ] || echo "$folder" >>"$out/merged/$(word "$2.$(basename "$3").$4").list"
  done
}

rm -rf "$out/merged" "$out/reports"
mkdir -p "$out/merged" "$out/reports"
each_job add_to_group
not_merged=0
for list in "$out"/merged/*.list; do
  [ -f "$list" ] || continue
  # shellcheck disable=SC2046  # no blanks in these names but those of --out
  (IFS='
'
    exec "$walkhammer" merge --out "${list%.list}" $(cat "$list")) >"${list%.list}.txt" 2>&1 || {
    not_merged=$((not_merged + 1))
    cat "${list%.list}.txt" >&2
  }
done

# tell GROUP: reports on a merged folder in each form that this walkhammer writes.
options=$("$walkhammer" report --help)
tell() {
  report=$out/reports/$(basename "$1")
  "$walkhammer" report "$1" >"$report.txt" || [ "$?" -eq 1 ] || echo "nightly: see $report.txt" >&2
  for form in html:html junit:xml markdown:md sarif:sarif; do
    case $options in
    *"--${form%:*}"*)
      "$walkhammer" report "$1" "--${form%:*}" "$report.${form#*:}" >"$report.log" 2>&1 ||
        [ "$?" -eq 1 ] || cat "$report.log" >&2
      ;;
    esac
  done
}

# last_night: the newest complete night beside this one, but before it.
last_night() {
  for marker in "$(dirname "$out")"/*/complete; do
    if [ "$(dirname "$marker")" = "$out" ]; then break; fi
    if [ -f "$marker" ]; then dirname "$marker"; fi
  done | tail -n 1
}

[ -n "$baseline" ] || baseline=$(last_night)
worse=0 compared=0 not_judged=0
set -- # groups with runs
for group in "$out"/merged/fuzz.* "$out"/merged/stress.*; do
  [ -f "$group/run.db" ] || continue
  set -- "$@" "$group"
  tell "$group"
  before=${baseline:+$baseline/merged/$(basename "$group")}
  # No night before: no file, not one of the root folder.
  if [ -z "$before" ] || [ ! -f "$before/run.db" ]; then continue; fi
  code=0
  "$walkhammer" gate --baseline "$before" --candidate "$group" ${policy:+--policy "$policy"} \
    ${bugs:+--bugs "$out/bugs"} >"$out/reports/$(basename "$group").gate.txt" || code=$?
  compared=$((compared + 1))
  case $code in
  0) ;;
  1) worse=$((worse + 1)) ;;
  *) not_judged=$((not_judged + 1)) ;;
  esac
done

# What the store says of all that was found; then the store learns of it. A run that proves nothing
# (3, 4) is counted as such below.
unknown='' not_graded=''
if [ -n "$bugs" ] && [ "$#" -gt 0 ]; then
  code=0
  "$walkhammer" bugs grade --store "$out/bugs" "$@" >"$out/reports/bugs.txt" || code=$?
  [ "$code" -ne 1 ] || unknown=1
  [ "$code" -ne 2 ] || not_graded=1
  code=0
  "$walkhammer" bugs update --store "$bugs" "$@" >"$out/bugs.log" || code=$?
  [ "$code" -ne 2 ] || not_graded=1
fi

# --- the verdict -----------------------------------------------------------------------------------

# ended CODE...: how many runs ended with these.
ended() {
  count=0
  for code; do
    count=$((count + $(cat "$out"/runs/*.done | grep -cx "$code" || true)))
  done
  echo "$count"
}

{
  echo "nightly: $(wc -l <"$out/plan.jobs") runs of $seconds s: $(ended 0) clean, $(ended 1) with" \
    "findings, $(ended 3) not possible here, $(ended 2 4) failed or vacuous; $left_out of the matrix" \
    "are left to other nights"
  if [ "$compared" -gt 0 ]; then
    echo "nightly: $worse of $compared groups are worse than in $baseline"
    [ "$not_judged" -eq 0 ] || echo "nightly: $not_judged of them could not be compared"
    for file in "$out"/reports/*.gate.txt; do
      echo "nightly: $(basename "$file" .gate.txt): $(tail -n 1 "$file")"
    done
  else
    echo 'nightly: there is no night to compare with'
  fi
  [ ! -f "$out/reports/bugs.txt" ] || echo "nightly: bugs: $(tail -n 1 "$out/reports/bugs.txt")"
} | tee "$out/summary.txt"
touch "$out/complete"
[ "$(ended 2 4)" -eq 0 ] && [ "$not_merged" -eq 0 ] && [ "$not_judged" -eq 0 ] &&
  [ -z "$not_graded" ] || exit 4
[ "$(ended 0 1)" -gt 0 ] || exit 3
[ "$worse" -eq 0 ] && [ -z "$unknown" ] || exit 1
[ "$compared" -gt 0 ] || [ -n "$bugs" ] || [ "$(ended 1)" -eq 0 ] || exit 1
