// SPDX-License-Identifier: Apache-2.0
/*
 * @test
 * @summary AsyncGetCallTrace on programs that are hard to walk
 * @key external-dep stress
 * @requires os.family == "linux" & (os.simpleArch == "x64" | os.simpleArch == "aarch64")
 * @library /test/lib /
 * @run driver/timeout=900 applications.walkhammer.WalkhammerRunner stress --workload torture:*
 */
