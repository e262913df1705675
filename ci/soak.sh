#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Soaks: checks that take minutes to hours, each a file of ci/soak.
#   ci/soak.sh [OPTION...] NAME...    runs these, in this order
#   ci/soak.sh --help                 prints this, and what each NAME does
#   --jdk HOME       a JDK; may be repeated (default: all JDKs of this machine; large and chaos use
#                    one, by default that of `walkhammer fuzz`; walkers uses the first)
#   --workload NAME  of large (default: the largest available one)
#   --kind KIND      of chaos; may be repeated (default: all)
# WALKHAMMER names the executable (default: the release build's), WALKHAMMER_TIME how long a soak
# walks; the comment at the top of its file gives the default. WALKHAMMER_OUT is a new folder for
# the runs (default: out/soak-DATE); each NAME has a folder in it.
# Exit codes: 0 passed, 1 failed, 2 usage, 3 the machine lacks what a soak needs, 4 no build. In
# a list of soaks, one that is skipped for that reason does not count.
set -eu
cd "$(dirname "$0")/.."

usage() {
  echo "soak: $1; see ci/soak.sh --help" >&2
  exit 2
}

names=
jdks=
workload=
kinds=
options=
while [ "$#" -gt 0 ]; do
  case $1 in
    --help)
      sed -n '3,/^set/s/^# \{0,1\}//p' "$0"
      for soak in ci/soak/*.sh; do
        echo
        echo "$(basename "$soak" .sh):"
        sed -n '2,/^# shellcheck/{/^# shellcheck/d;s/^# \{0,1\}/  /p;}' "$soak"
      done
      exit 0
      ;;
    --jdk | --workload | --kind)
      [ "$#" -gt 1 ] || usage "$1 needs a value"
      options="$options $1 $2"
      # shellcheck disable=SC2034  # large reads $workload
      case $1 in
        --jdk) jdks="$jdks $2" ;;
        --workload) workload=$2 ;;
        --kind) kinds="$kinds $2" ;;
      esac
      shift
      ;;
    *)
      [ -f "ci/soak/$1.sh" ] || usage "there is no soak $1"
      names="$names $1"
      ;;
  esac
  shift
done
[ -n "$names" ] || usage 'expected a name'
walkhammer=$(realpath -m "${WALKHAMMER:-build/release/walkhammer}")
out=${WALKHAMMER_OUT:-out/soak-$(date +%Y%m%d-%H%M%S)}
failed=0

# fail WHAT: prints and remembers a failure.
fail() {
  echo "FAILED  $1"
  failed=1
}

# Several soaks: a process for each.
# shellcheck disable=SC2086  # no blanks in names, nor in the paths of JDKs
case ${names# } in
  *' '*)
    for name in $names; do
      code=0
      WALKHAMMER_OUT=$out ci/soak.sh $options "$name" || code=$?
      case $code in
        0 | 3) ;;
        2 | 4 | 130) exit "$code" ;;
        *) fail "$name" ;;
      esac
    done
    exit "$failed"
    ;;
esac

soak=${names# }
if [ ! -x "$walkhammer" ]; then
  echo "soak: no $walkhammer: run cmake --preset release && cmake --build build/release" >&2
  exit 4
fi
mkdir -p "$out/$soak"
out=$(cd "$out/$soak" && pwd)
work=$(mktemp -d)
running= # processes that the script's end ends
cleanup() { :; }
# shellcheck disable=SC2086  # a list of processes
trap '[ -z "$running" ] || kill $running 2>/dev/null || true; cleanup; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# --- for the soaks ------------------------------------------------------------------------------

# lacks WHAT: ends the script, because this machine lacks what the soak needs.
lacks() {
  echo "$soak: skipped: $1" >&2
  exit 3
}

# Sets $jdks to all JDKs of this machine if none is named.
need_jdks() {
  [ -n "$jdks" ] || jdks=$("$walkhammer" show jdks | sed 's/  .*//')
  [ -n "$jdks" ] || lacks 'no JDK on this machine'
}

# seconds DURATION: prints it in seconds; "90s", "10m" and "1h" are durations.
seconds() {
  echo $(($(echo "$1" | sed 's/h$/*3600/; s/m$/*60/; s/s$//')))
}

# ask FOLDER SQL: queries FOLDER's run.db.
ask() {
  sqlite3 "$1/run.db" "$2"
}

# start FOLDER VERB ARGUMENT...: starts walkhammer in the background, as $!. What it prints goes to
# FOLDER.txt and FOLDER.log.
start() {
  folder=$1
  verb=$2
  shift 2
  "$walkhammer" "$verb" --out "$folder" "$@" >"$folder.txt" 2>"$folder.log" &
  running="$running $!"
}

# ended FOLDER PID CODE...: waits for a run. False, and a failure, if it ended with another CODE.
ended() {
  folder=$1
  code=0
  wait "$2" || code=$?
  running=$(echo "$running" | sed "s/ $2\$//; s/ $2 / /")
  shift 2
  for allowed; do
    [ "$code" -ne "$allowed" ] || return 0
  done
  fail "$folder: walkhammer ended with $code: $(tail -n 1 "$folder.log")"
  return 1
}

# shellcheck source=/dev/null
. "ci/soak/$soak.sh"
[ "$failed" -eq 0 ] || {
  echo "$soak: failed; the runs are in $out"
  exit 1
}
echo "$soak: passed; the runs are in $out"
