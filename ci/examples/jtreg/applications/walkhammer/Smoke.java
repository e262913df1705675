// SPDX-License-Identifier: Apache-2.0
/*
 * @test
 * @summary AsyncGetCallTrace in parked scenes, and on a running program: 20 s of each
 * @key external-dep stress
 * @requires os.family == "linux" & (os.simpleArch == "x64" | os.simpleArch == "aarch64")
 * @library /test/lib /
 * @run driver/timeout=240 applications.walkhammer.WalkhammerRunner fuzz --time 20s --confirm-time 20s
 * @run driver/timeout=240 applications.walkhammer.WalkhammerRunner stress --workload torture:mixed --time 20s
 */
