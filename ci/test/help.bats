#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# --help of the scripts that users run prints their heads, and does nothing else.
# shellcheck disable=SC2154  # bats and lib.bash set these variables

load lib

@test "--help prints the head of a script" {
  cd "$root"
  for script in ci/quickstart.sh ci/setup.sh ci/test.sh ci/soak.sh ci/nightly.sh ci/gate.sh \
    ci/adding.sh ci/docs.sh ci/harness.sh ci/walker_mutants.sh ci/release.sh ci/release/check.sh ci/release/sysroot.sh \
    ci/setup/jdks.sh ci/setup/profilers.sh ci/setup/build_jdk.sh ci/setup/build_fuzzers.sh \
    ci/examples/night.sh ci/examples/shard.sh ci/examples/slurm.sh \
    ci/examples/aqavit/walkhammer/put_release.sh; do
    run --separate-stderr "$script" --help
    echo "$script: $status: $output $stderr"
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = "$(sed -n '3s/^# //p' "$script")" ]
    [[ "$output" != *$'\nset '* ]]
    [ -z "$stderr" ]
  done
}
