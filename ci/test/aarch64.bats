#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# An aarch64 JVM: native on an Arm machine, elsewhere cross-built and emulated.
# shellcheck disable=SC2154  # bats and lib.bash set some

load lib

@test "aarch64: unit tests, scenes, a crash and samples on a real HotSpot" {
  run "$root/ci/test/aarch64.sh" --short
  echo "$output"
  [ "$status" -ne 3 ] || skip "the packages of an aarch64 JVM cannot be downloaded here"
  [ "$status" -eq 0 ]
}
