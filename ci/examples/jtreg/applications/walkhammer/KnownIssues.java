// SPDX-License-Identifier: Apache-2.0
/*
 * @test
 * @summary bugs of AsyncGetCallTrace that this version has fixed: replays must not show one
 * @key external-dep
 * @requires os.family == "linux" & (os.simpleArch == "x64" | os.simpleArch == "aarch64")
 * @library /test/lib /
 * @run driver/timeout=300 applications.walkhammer.WalkhammerRunner bugs check
 */
