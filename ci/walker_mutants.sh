#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests what the gate notices: runs ci/gate.sh on copies of a JDK whose AsyncGetCallTrace is broken
# in one instruction, and says which copies the gate noticed, and as what.
#   ci/walker_mutants.sh [--time TIME] [--seed N] [--count N] [--only ID] [--out DIR] JDK
# A mutant is an inverted branch, a call that is left out or returns 0 or 1, a constant off by one,
# or the offset of a field off by the size of the access, in a block that a fuzz run of 30 s
# reaches. The kinds take turns; --seed chooses (default 1). TIME goes to the gate, which makes one
# round (default 20s). The same command goes on where it was stopped: DIR (default out/mutants) has
# a line for each mutant in mutants.tsv, and the output of the gate in ID.txt. --only ID: that one.
# The columns: id, function+offset, bytes before, bytes after, instruction, verdict, kinds of the
# gate's rows, runs that show them, seconds. The verdicts: noticed; boot (noticed: no JVM starts from
# it); equivalent (not noticed, and none of a million requests is always answered differently);
# survived; unjudged (the gate had no verdict).
# WALKHAMMER names the executable (default: the release build's); walker_mutants is beside it.
# The JDK must be for x86_64, run here without a sysroot, and keep its symbols.
# Exit codes: 0 done, 2 bad usage, 3 the JDK cannot be mutated or run here.
set -eu
[ "${1:-}" != --help ] || exec sed -n '3,/^set/s/^# \{0,1\}//p' "$0"
here=$(dirname "$0")
WALKHAMMER=$(realpath -m "${WALKHAMMER:-$here/../build/release/walkhammer}")
export WALKHAMMER
tool=$(dirname "$WALKHAMMER")/walker_mutants
time=20s seed=1 count=1000000 only='' out=out/mutants
tab=$(printf '\t')

usage() {
  echo "walker_mutants: $1; see the head of $0" >&2
  exit 2
}

while [ "$#" -gt 1 ]; do
  case $1 in
  --time) time=$2 ;;
  --seed) seed=$2 ;;
  --count) count=$2 ;;
  --only) only=$2 ;;
  --out) out=$2 ;;
  *) usage "unknown option $1" ;;
  esac
  shift 2
done
[ "$#" -eq 1 ] || usage 'give the home of a JDK'
jdk=$1
[ -x "$jdk/bin/java" ] || usage "$jdk is not a JDK: it has no bin/java"
[ -x "$tool" ] || usage "there is no $tool; build it, or set WALKHAMMER"
mkdir -p "$out"
rows=$out/mutants.tsv
touch "$rows"
work=
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# fuzz JDK RUN OPTION...: false if no run.db was made.
fuzz() {
  home=$1 run=$2
  shift 2
  "$WALKHAMMER" fuzz --jdk "$home" --no-confirm --out "$run" "$@" >"$out/log" 2>&1 || true
  [ -e "$run/run.db" ]
}

# asked JDK RUN: what a million requests are answered.
asked() {
  rm -rf "$2"
  fuzz "$1" "$2" --walks 1000000 --time 10m --answers
}

if [ ! -s "$out/reached" ]; then
  rm -rf "$out/run"
  fuzz "$jdk" "$out/run" --time 30s || { cat "$out/log" >&2; exit 3; }
  sqlite3 "$out/run/run.db" 'SELECT address FROM coverage_block WHERE first_ms IS NOT NULL' >"$out/reached"
  rm -rf "$out/run"
fi
[ -e "$out/asked/answers" ] || asked "$jdk" "$out/asked" || { cat "$out/log" >&2; exit 3; }
reached=$out/reached
[ -z "$only" ] || { reached=- count=1000000; }
"$tool" list "$jdk" "$reached" "$seed" "$count" >"$out/list" || exit "$?"

# sides VERB: the gate's options for the runs of VERB.
sides() { echo "--baseline $work/gate/baseline/$1-1 --candidate $work/gate/candidate/$1-1"; }

# runs_of FILE: which runs show a row that fails.
runs_of() {
  shown=
  grep -q '^REGRESSION: known issues' "$1" && shown=known-issues
  ! grep -q '^  fail  answers  *requests of the corpora' "$1" || shown="$shown corpora"
  grep '^  fail  answers' "$1" | grep -qv 'of the corpora' && shown="$shown fuzz"
  for verb in fuzz stress; do
    case $shown in *$verb*) continue ;; esac
    # shellcheck disable=SC2046  # words
    "$WALKHAMMER" gate $(sides "$verb") >/dev/null 2>&1 || [ "$?" -ne 1 ] || shown="$shown $verb"
    case $shown in *$verb*) continue ;; esac
    awk -v part="/candidate/$verb-1/" '/^  fail/ { fails = 1 } /^  [a-z]/ && !/^  fail/ { fails = 0 }
      fails && index($0, part) { found = 1 } END { exit !found }' "$1" && shown="$shown $verb"
  done
  echo "${shown# }"
}

# judge ID: sets verdict, kinds and shown.
judge() {
  kinds='' shown=''
  "$tool" make "$jdk" "$1" "$work/jdk" 2>"$out/log" || { verdict='cannot be made'; return; }
  code=0
  "$here/gate.sh" --time "$time" --rounds 1 --out "$work/gate" "$jdk" "$work/jdk" \
    >"$out/$1.txt" 2>"$out/log" || code=$?
  case $code in
  0) # Does any of a million requests have another answer?
    verdict=survived
    ! asked "$work/jdk" "$work/asked" || ! "$WALKHAMMER" gate --baseline "$out/asked" \
      --candidate "$work/asked" --replay 3 >>"$out/$1.txt" 2>"$out/log" || verdict=equivalent
    ;;
  1)
    kinds=$(sed -n -e 's/^REGRESSION: known issues.*/known-issue/p' -e 's/^  fail  \([a-z-]*\)  .*/\1/p' "$out/$1.txt" |
      sort -u | paste -sd, -)
    shown=$(runs_of "$out/$1.txt") verdict=noticed
    ! grep -q '^  fail  cannot-start' "$out/$1.txt" || verdict=boot
    ;;
  3 | 4) verdict=unjudged ;;
  *) verdict="gate: $code" ;;
  esac
}

while IFS=$tab read -r id rest; do
  [ -z "$only" ] || [ "$id" = "$only" ] || continue
  ! grep -q "^$id$tab" "$rows" || continue
  work=$(mktemp -d)
  begin=$(date +%s)
  judge "$id" </dev/null
  rm -rf "$work"
  line=$id$tab$rest$tab$verdict$tab${kinds:--}$tab${shown:--}$tab$(($(date +%s) - begin))
  echo "$line" >>"$rows"
  echo "$line" >&2
done <"$out/list"

awk -F'\t' '
  { kind = $1; sub(/-[0-9a-f]*$/, "", kind); kinds[kind]; verdicts[$6]; n[kind, $6]++; all[kind]++ }
  $6 == "noticed" { by[$8 ": " $7]++ }
  END {
    printf "%-10s %6s", "mutation", "all"
    for (v in verdicts) printf " %10s", v
    for (k in kinds) {
      printf "\n%-10s %6d", k, all[k]
      for (v in verdicts) printf " %10d", n[k, v]
    }
    print "\n\nnoticed by"
    for (b in by) printf "%6d  %s\n", by[b], b
  }' "$rows"
