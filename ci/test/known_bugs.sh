#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that walkhammer finds known bugs: each bug of corpora/known-issues with the table `proof`
# must be found within its budget on a JDK that has it, and must not be found on a JDK in which it is
# fixed:
# ci/test/known_bugs.sh [ID...] (default: all bugs)
# corpora/README.md describes the table. The JDKs come from ci/setup/jdks.sh.
# WALKHAMMER names the executable (default: the release build's).
# Exit codes: 0 all bugs behave as their files say, 1 one does not, 2 usage, 3 a JDK is not available
# here.
set -eu
cd "$(dirname "$0")/../.."
walkhammer=${WALKHAMMER:-build/release/walkhammer}
bugs=corpora/known-issues
times=3

if [ ! -x "$walkhammer" ]; then
  echo "known_bugs: no $walkhammer: run cmake --preset release && cmake --build build/release" >&2
  exit 2
fi
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
# Without this, dash would end at a signal without running the EXIT trap.
trap 'exit 130' INT TERM
"$walkhammer" bugs list --store "$bugs" --json >"$out/bugs"

# bug SQL: evaluates the expression SQL over the bugs, each `b`, whose proof names a build.
bug() {
  sqlite3 :memory: "with document(text) as (select readfile('$out/bugs'))
    select $1 from document, json_each(text, '\$.bugs') b
    where json_extract(b.value, '\$.proof.with') <> '' ${2-}"
}

# of KEY: prints the value of KEY, such as proof.with, of the current bug, $id.
of() {
  bug "json_extract(b.value, '\$.$1')" "and json_extract(b.value, '\$.id') = '$id'"
}

# shellcheck disable=SC2046  # ids have no blanks
[ "$#" -gt 0 ] || set -- $(bug "json_extract(b.value, '\$.id')")
for id; do
  if [ -z "$(of id)" ]; then
    echo "known_bugs: $bugs has no bug $id with the table proof" >&2
    exit 2
  fi
done

# home_of VERSION: prints the JDK's home; fails if the JDK is not available.
home_of() {
  ci/setup/jdks.sh "$1" 2>"$out/log" | sed 's/^[^ ]* //' | grep .
}

# run VERB ARGUMENTS...: runs walkhammer with the bug's flags, within its budget. Sets `code` and
# `seconds`.
run() {
  started=$(date +%s)
  code=0
  # shellcheck disable=SC2046  # a list of flags
  timeout "$(of proof.budget)" "$walkhammer" "$@" -- $(of flags) >"$out/json" 2>"$out/log" || code=$?
  seconds=$(($(date +%s) - started))
}

# json SQL: evaluates the expression SQL over the replays that `replay --json` printed; each is `r`.
json() {
  sqlite3 :memory: "with document(text) as (select readfile('$out/json'))
    select $1 from document, json_each(text, '\$.replays') r"
}

# ask SQL: queries the run.db of fuzz or stress.
ask() {
  sqlite3 -readonly "$out/run/run.db" "$1"
}

# try_replay HOME, try_campaign VERB HOME: set `found` or `silent` to yes if the JDK shows the bug, or
# does not show it, and `seen` to a description of the result. None of them if the run failed.

# The expected outcome proves that the JDK without the bug walked the same request: a request that
# cannot be walked has no outcome.
try_replay() {
  run replay --json --times "$times" --jdk "$1" "$bugs/$id.walk"
  [ "$code" -le 1 ] || return 0
  seen=$(json "(select group_concat(value || ' x ' || key, ', ')
    from json_each(r.value, '\$.outcomes'))")
  [ "$code:$seen" != "0:$times x $(of proof.silent)" ] || silent=yes
  reproduced=$(json "json_extract(r.value, '\$.reproduced')")
  [ "$reproduced" -eq 0 ] || found=yes seen="$reproduced of $times"
}

try_campaign() {
  rm -rf "$out/run"
  # shellcheck disable=SC2046  # a list of options
  run "$1" --jdk "$2" $(of "proof.$1") --out "$out/run"
  [ "$code" -le 1 ] || return 0
  like="from bucket join finding on finding.bucket = bucket.id where title like '$(of proof.bucket)'"
  first=$(ask "select min(time_ms) $like")
  walks=$(ask "select coalesce(sum(count), 0) from count
    where '$(of proof.scene)' in (scene, '')") # of the bug's scene, if its file names one
  [ "$walks" -gt 0 ] || return 0
  seen="$walks walks"
  if [ -z "$first" ]; then
    silent=yes
  else
    found=yes
    seconds=$((first / 1000))
    seen=$(ask "select printf('%d times', sum(seen)) from bucket
      where title like '$(of proof.bucket)'")
  fi
}

# attempt VERB HOME
attempt() {
  seen="ended with an error" found=no silent=no
  if [ "$1" = replay ]; then
    try_replay "$2"
  else
    try_campaign "$@"
  fi
}

failed=
skipped=
# row VERB: prints the row of the table for this bug and VERB.
row() {
  expected=yes
  [ -z "$(of proof.not_found)" ] || expected=no
  attempt "$1" "$home_affected"
  words="found: $found on $(of proof.with): $seen, $seconds s"
  if [ "$found" != "$expected" ] || [ "$seen" = "ended with an error" ]; then
    complain
  fi
  attempt "$1" "$home_fixed"
  [ "$silent" = yes ] || complain
  printf '%-11s  %-6s  %-44s  silent: %s on %s: %s\n' "$id" "$1" "$words" "$silent" "$(of proof.without)" \
    "$seen"
  [ "$expected" = yes ] || printf '%21s%s\n' '' "not found: $(of proof.not_found)"
}

complain() {
  failed=yes
  tail -n 2 "$out/log" >&2
}

for id; do
  if ! home_affected=$(home_of "$(of proof.with)") || ! home_fixed=$(home_of "$(of proof.without)"); then
    echo "$id  skipped: $(tail -n 1 "$out/log")"
    skipped=yes
    continue
  fi
  [ ! -e "$bugs/$id.walk" ] || row replay
  for verb in fuzz stress; do
    [ -z "$(of "proof.$verb")" ] || row "$verb"
  done
done
[ -z "$failed" ] || exit 1
[ -z "$skipped" ] || exit 3
