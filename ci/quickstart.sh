#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# From a fresh clone to first results: installs packages, builds the command, fuzzes the newest JDK
# of this machine. Prints at the end how long each phase took.
# WALKHAMMER_TIME=5s shortens the run (default: 30s); WALKHAMMER_JDK=DIR chooses the JDK.
# Exit codes: those of `walkhammer fuzz`, but 0 if there are findings; 3 without a JDK.
set -eu
[ "${1:-}" != --help ] || exec sed -n '3,/^set/s/^# \{0,1\}//p' "$0"
root=$(cd "$(dirname "$0")/.." && pwd)
# What is printed must work where the user stands.
where=
[ "$PWD" = "$root" ] || where=$root/
cd "$root"

began=$(date +%s)
ci/setup.sh run
set_up=$(date +%s)
# A build folder that is configured for more, such as the tests, stays so.
[ -e build/release/build.ninja ] || cmake --preset quick
cmake --build --preset quick
built=$(date +%s)

walkhammer=${where}build/release/walkhammer
status=0
"$walkhammer" fuzz --time "${WALKHAMMER_TIME:-30s}" --confirm-time 20s \
  --out "${where}out/quickstart-$(date +%Y%m%d-%H%M%S)" || status=$?
ended=$(date +%s)

if [ "$status" -gt 1 ]; then
  echo "quickstart: the run ended with exit code $status; to see what is missing:" >&2
  echo "  $walkhammer doctor" >&2
  exit "$status"
fi
echo
echo "For the guided engines and the tests:"
echo "  ${where:+cd \"$where\" && }ci/setup.sh && cmake --preset release && cmake --build build/release"
echo "quickstart: $((set_up - began)) s to set up, $((built - set_up)) s to build," \
  "$((ended - built)) s from the first walk to the verdict, $((ended - began)) s in all"
