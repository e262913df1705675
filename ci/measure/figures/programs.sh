# SPDX-License-Identifier: Apache-2.0
# 1 minute a JDK: which samples a program gets, and how many walks of them a second of its time.
# shellcheck shell=sh
# shellcheck disable=SC2154  # ci/measure.sh sets them
# delivered PROGRAM: samples that were delivered, of those that were requested, in percent.
delivered() {
  run "delivered-$name" stress --jdk "$jdk" --workload "torture:$1" --interval 100us --time 15s \
    --no-confirm
  ask "delivered-$name" "SELECT printf('%.1f %%', 100.0 * SUM(delivered) / SUM(requested)) FROM cell"
}
fast() {
  run "fast-$name" stress --jdk "$jdk" --workload torture:mixed --interval 10us --time 15s --no-confirm
  thousands "$(ask "fast-$name" 'SELECT CAST(SUM(walks) * 1e3 / SUM(cpu_ms) AS INTEGER)
    FROM cell_thread')"
}
for program in mixed stubs; do
  row 'Real programs' "samples of \`torture:$program\` at 100 µs that were delivered" \
    "$(each delivered "$program")" "stress --workload torture:$program --interval 100us --time 15s"
done
row 'Real programs' "walks a second of CPU time at 10 µs, \`torture:mixed\`" "$(each fast)" \
  'stress --workload torture:mixed --interval 10us --time 15s'
