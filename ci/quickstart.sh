#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# From a fresh clone to first results: installs packages, builds the command, fuzzes the newest JDK
# of this machine. Prints at the end how long each phase took.
# WALKHAMMER_TIME=5s shortens the run (default: 30s); WALKHAMMER_JDK=DIR chooses the JDK.
# Exit codes: those of `walkhammer fuzz`, but 0 if there are findings; 3 without a JDK.
set -eu
[ "${1:-}" != --help ] || exec sed -n '3,/^set/s/^# \{0,1\}//p' "$0"
cd "$(dirname "$0")/.."

began=$(date +%s)
ci/setup.sh run
set_up=$(date +%s)
# A build folder that is configured for more, such as the tests, stays so.
[ -e build/release/build.ninja ] || cmake --preset quick
cmake --build --preset quick
built=$(date +%s)

walkhammer=build/release/walkhammer
jdk=${WALKHAMMER_JDK:-}
if [ -z "$jdk" ]; then
  # The list is sorted, the newest JDK last; two spaces end the path.
  jdk=$("$walkhammer" show jdks | sed -n '$s/  .*//p')
fi
if [ -z "$jdk" ]; then
  echo "quickstart: no JDK found; run ci/setup.sh or set WALKHAMMER_JDK" >&2
  exit 3
fi

out=out/quickstart-$(date +%Y%m%d-%H%M%S)
status=0
"$walkhammer" fuzz --jdk "$jdk" --time "${WALKHAMMER_TIME:-30s}" \
  --confirm-time 20s --out "$out" || status=$?
ended=$(date +%s)

case $status in
  0 | 1)
    echo
    case $status in
      0) echo "quickstart: nothing is new on $jdk. What is known is in $out, too." ;;
      1) echo "quickstart: $jdk has new findings. They are in $out." ;;
    esac
    echo "What next:"
    echo "  $walkhammer report $out"
    # The report's first finding: minimised if it is.
    first=$("$walkhammer" report "$out" 2>/dev/null |
      sed -n 's/^ *\(minimised to .*: \)\{0,1\}\(.*\.walk\)$/\2/p' | head -n 2 |
      awk 'NR == 1 || /minimized\.walk$/ { path = $0 } END { print path }')
    if [ -n "$first" ]; then
      echo "  $walkhammer show $first"
      echo "  $walkhammer replay $first --jdk $jdk --times 5"
    fi
    ;;
  *)
    echo "quickstart: the run ended with exit code $status; to see what is missing:" >&2
    echo "  $walkhammer doctor --jdk $jdk" >&2
    exit "$status"
    ;;
esac
echo "For the guided engines, stress, step and the tests:"
echo "  ci/setup.sh && cmake --preset release && cmake --build build/release"
echo "quickstart: $((set_up - began)) s to set up, $((built - set_up)) s to build," \
  "$((ended - built)) s from the first walk to the verdict, $((ended - began)) s in all"
