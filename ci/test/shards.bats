#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Shards of a campaign, merged, are the campaign; and merging stays small.
# shellcheck disable=SC2154  # lib.bash sets these

load lib

setup() {
  jdk=$(jdks | head -n 1)
  cd "$BATS_TEST_TMPDIR" || return
}

# fuzz OUT OPTION...: of one scene, without background compilation.
fuzz() {
  out=$1
  shift
  "$WALKHAMMER" fuzz --jdk "$jdk" --walks 20000 --seed 3 --scene jni-up-down --no-confirm \
    --no-minimize --no-coverage --out "$out" "$@" -- -Xbatch || [ "$?" -eq 1 ]
}

notes() { ask "$1" "SELECT kind, name FROM note"; }

@test "shards, merged, show the requests of the whole campaign" {
  fuzz one --shard 1/2 --workers 2
  fuzz two --shard 2/2 --workers 1
  fuzz whole --workers 1
  "$WALKHAMMER" merge --out merged two one
  [ "$(ask merged 'SELECT walks, request_hash FROM run')" = "$(ask whole 'SELECT walks, request_hash FROM run')" ]
  [ "$(ask one 'SELECT walks FROM run')" -eq 11808 ] # windows 0 and 2, of which the last is cut
  [ "$(ask two 'SELECT walks FROM run')" -eq 8192 ]
  [ "$(ask one 'SELECT request_hash FROM run')" != "$(ask whole 'SELECT request_hash FROM run')" ]
  [ "$(ask merged 'SELECT group_concat(shard) FROM part')" = 1/2,2/2 ]
  # A busy machine gives a run notes of its own, such as that walkhammer stalled.
  [ "$(notes merged | sort -u)" = "$({ notes one; notes two; } | sort -u)" ]
  "$WALKHAMMER" merge --out again merged one
  [ "$(ask again 'SELECT walks FROM run')" -eq 20000 ]
  "$root/ci/measure/merge_scale.sh" --runs 16 two
}

@test "what cannot be dealt is refused in one sentence" {
  refuses 2 "has nothing to walk" fuzz --jdk "$jdk" --walks 8192 --shard 2/2 --out none
  refuses 2 "has no cell, as there are 1 in all" stress --jdk "$jdk" --workload torture:mixed \
    --shard 2/2 --out none
  refuses 2 "" fuzz --jdk "$jdk" --shard 3/2 --out none
  [ ! -e none ]
}

@test "the cells of a matrix are dealt in turn" {
  for index in 1 2; do
    "$WALKHAMMER" stress --jdk "$jdk" --workload torture:mixed --profile default,xint,c1 --time 1s \
      --no-walk --no-confirm --shard "$index/2" --out "s$index" || [ "$?" -eq 1 ]
  done
  [ "$(ask s1 'SELECT group_concat(position || profile) FROM cell')" = 0default,2c1 ]
  [ "$(ask s2 'SELECT group_concat(position || profile) FROM cell')" = 1xint ]
  "$WALKHAMMER" merge --out merged s1 s2
  [ "$(ask merged 'SELECT group_concat(position || profile) FROM cell')" = 0default,1xint,2c1 ]
}
