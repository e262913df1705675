# SPDX-License-Identifier: Apache-2.0
# Runs every torture program under every collector on each JDK, WALKHAMMER_TIME (default: 18s) each.
# Fails if a cell failed, if findings were lost, or if an agent took more than 64 MiB.
# shellcheck shell=sh
# shellcheck disable=SC2154  # ci/soak.sh sets them
need_jdks
# 1 means findings, which are allowed here; 3 means cells that are not available on a JDK.
# shellcheck disable=SC2046,SC2086  # words
start "$out/run" stress --workload 'torture:*' --profile g1,zgc,shenandoah,parallel,serial \
  $(printf ' --jdk %s' $jdks) --time "${WALKHAMMER_TIME:-18s}" --interval 20us..200us --jobs 1
if ended "$out/run" "$!" 0 1 3; then
  ask "$out/run" "SELECT printf('%d cells %s, %d walks, %d contained crashes, agent at most %d KiB',
      COUNT(*), status, SUM(walks), SUM(contained_crashes), MAX(agent_kib)) FROM cell GROUP BY status"
  bad=$(ask "$out/run" "SELECT COUNT(*) FROM cell
      WHERE status NOT IN ('passed', 'unavailable', 'not-for-jdk')
      OR agent_kib > 64 * 1024 OR reason LIKE '%findings found no room%'")
  [ "$bad" -eq 0 ] || fail "$bad cells"
fi
