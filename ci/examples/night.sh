#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A CI server's night of one JDK: ci/examples/night.sh HOME STATE OUT [CONFIG]
#   HOME    the JDK; its last word is its name in reports and corpora, so give a link, such as
#           jdks/25
#   STATE   a folder that the server keeps from night to night: corpora, and the last night
#   OUT     a new folder for the server to publish: night/reports, night/summary.txt, and all of the
#           night in night.tar.gz, as names of inputs may have colons, which some servers refuse
#   CONFIG  of ci/nightly.sh, without jdks, corpus and baseline (default: nightly.config beside
#           this script)
# Exit codes: those of ci/nightly.sh.
set -eu
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
  printf '%s\n' "jdks = $jdk" "corpus = $state/corpus" "baseline = $state/last"
} >"$out/config"
code=0
"$here/../nightly.sh" --config "$out/config" --out "$out/night" || code=$?
[ -d "$out/night" ] || exit "$code"
tar -czf "$out/night.tar.gz" -C "$out" night
if [ -f "$out/night/complete" ]; then
  rm -rf "$state/last"
  mkdir "$state/last"
  cp -R "$out/night/merged" "$state/last/"
fi
exit "$code"
