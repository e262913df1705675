// SPDX-License-Identifier: Apache-2.0
/*
 * @test
 * @summary AsyncGetCallTrace in each scene, with true registers and with millions of false ones
 * @key external-dep stress
 * @requires os.family == "linux" & (os.simpleArch == "x64" | os.simpleArch == "aarch64")
 * @library /test/lib /
 * @run driver/timeout=600 applications.walkhammer.WalkhammerRunner fuzz --time 120s
 */
