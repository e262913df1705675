#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A CI server's night of one JDK: ci/examples/night.sh HOME STATE OUT [CONFIG]
#   HOME    the JDK; its last word is its name in reports and corpora, so give a link, such as
#           jdks/25
#   STATE   a folder that the server keeps from night to night: corpora, and of the last 30 nights
#           what later ones need: the last green one whole, of the others run.db and the judgement
#   OUT     a new folder for the server to publish: night/reports, night/summary.txt, and all of the
#           night in night.tar.gz, as names of inputs may have colons, which some servers refuse
#   CONFIG  of ci/nightly.sh, without jdks, corpus and nights (default: nightly.config beside
#           this script)
# Exit codes: those of ci/nightly.sh.
set -eu
[ "${1:-}" != --help ] || exec sed -n '3,/^set/s/^# \{0,1\}//p' "$0"
here=$(dirname "$0")
[ "$#" -eq 3 ] || [ "$#" -eq 4 ] || {
  echo "night: give HOME STATE OUT [CONFIG]; see the head of $0" >&2
  exit 2
}
jdk=$1 state=$2 out=$3 config=${4:-$here/nightly.config}
problem=
[ ! -e "$out" ] || problem="$out exists"
[ -f "$config" ] || problem="there is no file $config"
[ -x "$jdk/bin/java" ] || problem="$jdk is not a JDK: it has no bin/java"
[ -z "$problem" ] || {
  echo "night: $problem" >&2
  exit 2
}

mkdir -p "$state/corpus" "$out"
{
  cat "$config"
  printf '%s\n' "jdks = $jdk" "corpus = $state/corpus" "nights = $state/nights"
} >"$out/config"
code=0
"$here/../nightly.sh" --config "$out/config" --out "$out/night" || code=$?
[ -d "$out/night" ] || exit "$code"
tar -czf "$out/night.tar.gz" -C "$out" night
if [ -f "$out/night/night.json" ]; then
  kept=$state/nights/$(date -u +%Y%m%d-%H%M%S)
  [ "$code" -ne 0 ] || rm -rf "$state"/nights/*/merged/*/crashes
  mkdir -p "$kept"
  for part in merged known night.json green; do
    [ ! -e "$out/night/$part" ] || cp -R "$out/night/$part" "$kept"
  done
  [ "$code" -eq 0 ] || rm -rf "$kept"/merged/*/crashes
  # The last green night stays, however long ago it was.
  last=$(find "$state/nights" -name green | sort | tail -n 1)
  find "$state/nights" -mindepth 1 -maxdepth 1 | sort | head -n -30 | while IFS= read -r old; do
    [ "$old/green" = "$last" ] || rm -rf "$old"
  done
fi
exit "$code"
