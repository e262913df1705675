# SPDX-License-Identifier: Apache-2.0
# 1 minute a JDK from 21 on: stacks of virtual threads whose frames are partly in the heap.
# shellcheck shell=sh
# shellcheck disable=SC2154  # ci/measure.sh sets them
# walked: walks at random moments; those that are complete, that say they guess, that are wrong.
walked() {
  if [ "$name" -lt 21 ]; then
    echo none
    return
  fi
  WALKHAMMER_JDK=$jdk "$(dirname "$walkhammer")/harness/asgst/testing/api_test" \
    --gtest_filter='FrozenFramesAtRandom.*' --gtest_repeat=20 >"$work/virtual" 2>&1 || {
    cat "$work/virtual" >&2
    touch "$work/bad"
  }
  sed -n 's/.*, \([0-9]*\) with frozen frames: \([0-9]*\) complete, \([0-9]*\) with guesses, \([0-9]*\) wrong$/\1 \2 \3 \4/p' \
    "$work/virtual" | awk '{ some += $1; complete += $2; guesses += $3; wrong += $4 }
      END { if (some > 0) printf "%d, %d, %d, %d\n", some, complete, guesses, wrong }'
}
row 'The reference walker' \
  'walks of virtual threads with frames in the heap, at random moments: all; complete; guesses; wrong' \
  "$(each walked)" "api_test --gtest_filter='FrozenFramesAtRandom.*' --gtest_repeat=20"
