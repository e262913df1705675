#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a night of JVM builds: fits walkers x engines x workloads x flag profiles x JDKs into one
# budget of time, runs them, merges what belongs together, replays the known issues, and says what
# is new since the last green night.
#   ci/nightly.sh [--config FILE] [--short] [--out DIR]
# Given the DIR of a night that was killed, it resumes that night: complete runs are not repeated,
# and what had been found is kept. --short: a night of two minutes, with one of each.
# FILE has lines "key = value"; lists have blanks between; # begins a comment:
#   time = 480             of walks, confirming included: minutes, or a time such as 90s, 10m, 2h;
#                          replays of known issues and of what is new come on top
#   jdks = HOME...         default: all JDKs of this machine
#   walkers = agct asgst   one or more; "agct,asgst" compares them
#   engines = random libfuzzer afl
#   workloads = torture:mixed ...       profiles = default zgc ...
#   renaissance = JAR      your copy of the suite, of any version: workloads = renaissance:dotty ...
#   dacapo = DIR           the same for DaCapo
#   shard = 2/8            of the plan, for the second of eight machines
#   corpus = DIR           of guided engines: kept from night to night, and distilled
#   nights = DIR           the folder of earlier nights; default: the one that has --out
#   baseline = DIR         a night to compare with, whatever was found in it; default: the last
#                          green one of `nights`
#   policy = FILE.toml     of the gate
#   bugs = DIR             a store of bugs (docs/howto/bugs.md): what it knows is not new. A night
#                          opens no bugs there; `walkhammer bugs update --store DIR NIGHT` does
# --out (default out/nightly-DATE) gets plan, runs/, merged/, known/, reports/ and summary.txt; a
# green night also gets the file green. docs/howto/nights.md says how a night is judged.
# WALKHAMMER names the executable (default: the release build's).
# Exit codes: 0 green: nothing is new, 1 red: something is new, back or worse, 2 bad usage, 3 nothing
# of the plan can be run here, and no green night could, 4 a run or a comparison failed or was
# vacuous, 130 interrupted.
set -eu
[ "${1:-}" != --help ] || exec sed -n '3,/^set/s/^# \{0,1\}//p' "$0"
here=$(dirname "$0")
# shellcheck source=ci/lib_jvm.sh
. "$here/lib_jvm.sh"
[ ! -x "$here/../walkhammer" ] || : "${WALKHAMMER:=$here/../walkhammer}" # in a release
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
  *) usage "unknown option $1" ;;
  esac
  shift
done
[ -x "$walkhammer" ] || usage "there is no $walkhammer; build it, or set WALKHAMMER"

# read_config FILE: sets the variables below.
time=480 jdks='' walkers='agct asgst' engines='random libfuzzer afl' shard='' corpus='' baseline=''
policy='' bugs='' nights='' renaissance='' dacapo=''
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
    *) usage "$1:$number: \"$line\" is not \"key = value\"" ;;
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
    nights) nights=$value ;;
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
budget=$(printf '%s\n' "$time" | awk '/^[0-9]+(\.[0-9]+)?[smh]?$/ {
  print int($0 * (/s$/ ? 1 : /h$/ ? 3600 : 60)) }')
[ -n "$budget" ] || usage "time = $time is neither minutes nor a time such as 90s, 10m or 2h"
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
    echo 'nightly: this machine has no JDK' >&2
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
      for key in jdks walkers engines workloads profiles shard corpus nights baseline policy \
        bugs renaissance dacapo; do
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
# The store as it was when the night began, for a night that goes on, or that is judged anew.
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

# start WORDS...: runs walkhammer, for as long as this script lives; sets `code`.
start() {
  code=0
  "$walkhammer" "$@" 9>&- &
  child=$!
  echo "$child" >"$out/running"
  wait "$child" || code=$?
  child=''
  rm -f "$out/running"
}

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
  start "$@" >"$folder.txt" 2>"$folder.log"
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

rm -rf "$out/merged" "$out/reports" "$out/green" "$out/night.json"
mkdir -p "$out/merged" "$out/reports" "$out/known"
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
  "$walkhammer" report "$1" ${bugs:+--bugs "$out/bugs"} >"$report.txt" || [ "$?" -eq 1 ] || echo "nightly: see $report.txt" >&2
  for form in html:html junit:xml markdown:md sarif:sarif; do
    case $options in
    *"--${form%:*}"*)
      "$walkhammer" report "$1" ${bugs:+--bugs "$out/bugs"} "--${form%:*}" \
        "$report.${form#*:}" >"$report.log" 2>&1 ||
        [ "$?" -eq 1 ] || cat "$report.log" >&2
      ;;
    esac
  done
}

for group in "$out"/merged/*/run.db; do
  [ ! -f "$group" ] || tell "$(dirname "$group")"
done

# The known issues, replayed on each JDK of the plan.
cut -d ' ' -f 2 "$out/plan.jobs" | sort -u >"$out/plan.jdks"
while read -r jdk <&3; do
  file=$out/known/$(word "$(basename "$jdk")")
  [ ! -f "$file.json" ] || continue
  echo "nightly: replaying the known issues on $jdk" >&2
  start bugs check --jdk "$jdk" --json >"$file.new" 2>"$file.log"
  mv "$file.new" "$file.json"
done 3<"$out/plan.jdks"

# --- the verdict -----------------------------------------------------------------------------------

# ended CODE...: how many runs ended with these.
ended() {
  count=0
  for code; do
    count=$((count + $(cat "$out"/runs/*.done | grep -cx "$code" || true)))
  done
  echo "$count"
}

nights=${nights:-$(dirname "$out")}

# stopped_starting: whether no JVM started in a group of runs that a green night has. That is worse.
stopped_starting() {
  not_started "$out"/runs/*.log || return 1
  for group in "$out"/merged/*/run.db; do
    group=$(basename "$(dirname "$group")")
    for green in "$nights"/*/green ${baseline:+"$baseline/plan"}; do
      [ ! -f "$green" ] || [ ! -f "$(dirname "$green")/merged/$group/run.db" ] || return 0
    done
  done
  return 1
}

if [ "$(ended 0 1)" -eq 0 ] && ! { [ "$(ended 2 4)" -eq 0 ] && stopped_starting; }; then
  echo "nightly: no run of the plan has a verdict: see $out/runs" >&2
  [ "$(ended 2 4)" -eq 0 ] || exit 4
  exit 3
fi
start gate --night "$out" --nights "$nights" --failed $(($(ended 2 4) + not_merged)) \
  ${baseline:+--baseline "$baseline"} ${policy:+--policy "$policy"} \
  ${bugs:+--bugs "$out/bugs"} >"$out/reports/night.txt"
judged=$code
[ -z "$bugs" ] || "$walkhammer" bugs update --only-known --store "$bugs" "$out" \
  >"$out/bugs.log" || [ "$?" -ne 2 ] || judged=4
set -- "$out"
for file in "$nights"/*/night.json; do
  if [ "$(dirname "$file")" != "$out" ] && [ -f "$file" ]; then set -- "$@" "$(dirname "$file")"; fi
done
"$walkhammer" report --history "$@" --html "$out/reports/history.html" 2>"$out/history.log" ||
  [ "$?" -eq 1 ] || cat "$out/history.log" >&2

{
  echo "nightly: $(wc -l <"$out/plan.jobs") runs of $seconds s: $(ended 0) clean, $(ended 1) with" \
    "findings, $(ended 3) not possible here, $(ended 2 4) failed or vacuous; $left_out of the matrix" \
    "are left to other nights"
  cat "$out/reports/night.txt"
} | tee "$out/summary.txt"
case $judged in
0) touch "$out/green" ;;
1) exit 1 ;;
*) exit 4 ;;
esac
