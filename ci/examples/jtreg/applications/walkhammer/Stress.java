// SPDX-License-Identifier: Apache-2.0
/*
 * @test
 * @summary AsyncGetCallTrace on programs that are hard to walk
 * @key external-dep stress
 * @requires os.family == "linux" & (os.simpleArch == "x64" | os.simpleArch == "aarch64")
 * @library /test/lib /
 * @comment all but torture:monitors: docs/harnesses.md says why
 * @run driver/timeout=900 applications.walkhammer.WalkhammerRunner stress --workload torture:[!m]*
 *      --workload torture:mixed --time 10s
 */
