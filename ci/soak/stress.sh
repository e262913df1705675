#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The long soak of stress: ci/soak/stress.sh [JDK...] runs every torture program under every
# collector on each JDK (default: all JDKs of this machine), WALKHAMMER_CELL_TIME (default: 18s)
# each. Fails if a cell failed, if findings were lost, or if an agent took more than 64 MiB.
# WALKHAMMER names the executable (default: the release build's), WALKHAMMER_OUT a new run folder.
# Exit codes: 0 passed, 1 failed, 3 no JDK, 4 no build.
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=ci/soak/base.sh
. ci/soak/base.sh
out=${WALKHAMMER_OUT:-out/soak-stress-$(date +%Y%m%d-%H%M%S)}
most_kib=65536

jdks=
for jdk in "$@"; do
  jdks="$jdks --jdk $jdk"
done

# 1 means findings, which are allowed here; 3 means cells that are not available on a JDK.
code=0
# shellcheck disable=SC2086  # no blanks in the paths of JDKs
"$walkhammer" stress --workload 'torture:*' --profile g1,zgc,shenandoah,parallel,serial $jdks \
  --time "${WALKHAMMER_CELL_TIME:-18s}" --interval 20us..200us --jobs 1 --out "$out" || code=$?
case $code in
0 | 1 | 3) ;;
*)
  echo "FAILED  walkhammer ended with $code"
  exit 1
  ;;
esac

ask "$out" "SELECT printf('%d cells %s, %d walks, %d contained crashes, agent at most %d KiB', COUNT(*),
       status, SUM(walks), SUM(contained_crashes), MAX(agent_kib)) FROM cell GROUP BY status"
bad=$(ask "$out" "SELECT COUNT(*) FROM cell WHERE status NOT IN ('passed', 'unavailable')
             OR agent_kib > $most_kib OR reason LIKE '%findings found no room%'")
[ "$bad" -eq 0 ] || fail "$bad cells"
exit "$failed"
