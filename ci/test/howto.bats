#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The commands of the how-to pages and of README, shortened: each line of their shell blocks that
# calls walkhammer runs, with times of a second and with names of what is here in place of the
# pages' names. Usage errors fail, findings do not. Lines that need what a test has not are listed
# in `skipped`, each with its reason.
# shellcheck disable=SC2154  # bats and lib.bash set these variables

load lib

setup() {
  export PATH=${walkhammer%/*}:$PATH
  cd "$tmp" || return
}

# Lines that do not run here: a pattern, and why.
skipped=(
  '--engine afl|afl-fuzz may be missing; fuzzers.bats'
  'walkhammer night|nightly.bats makes nights'
  'nights|nightly.bats makes nights'
  '--pid 4711|backends.bats'
  '-jar "my app.jar"|stress.bats'
  '--renaissance|workloads.bats'
  '--dacapo|workloads.bats'
  '--provider|profilers.bats and providers.bats'
  '--library|profilers.bats and providers.bats'
  'plugin:|bad_walkers.bats and providers.bats'
  '@jdk|no stock JDK exports it; providers.bats'
  '--table mine.tsv|structs.bats'
  '/bin/walkhammer try|release.bats'
  'GITHUB_STEP_SUMMARY|a variable of CI servers'
  '--core core.4711|cores.bats makes cores'
  '--of JDK-8302320|the bug must be in the store; bugs.bats'
)

# lines PAGE...: prints the commands of the shell blocks, continued lines joined, comments gone.
lines() {
  awk '/^```sh$/ { inside = 1; next } /^```/ { inside = 0 } inside' "$@" |
    sed -e ':again' -e '/\\$/ { N; s/\\\n//; b again' -e '}' -e 's/  *# .*//' | grep -E '^walkhammer ' || true
}

# short LINE: the line with the names and times of this test.
short() {
  local line=$1
  line=${line//JDK-[AB]/$jdk}
  line=${line//--jdk JDK/--jdk $jdk}
  line=${line//--jdk-dir DIR/--jdk-dir jdks}
  line=${line//FILE.walk/first.walk}
  line=${line// RUN/ out\/nightly}
  line=${line//crashes\/NAME/crashes\/$crash}
  line=${line//--function NAME/--function safe_for_sender}
  line=${line// ID / $bug }
  line=${line// …/}
  line=${line// --workload debian:fop/}
  line=${line//torture:\*/torture:shapes}
  case $line in
  'walkhammer '[fs][ut][zre]*) # fuzz, stress, step
    line="$(sed -E 's/ --time [0-9]+[smh]//' <<<"$line") --time 1s"
    [[ "$line" == *' --jdk '* ]] || line+=" --jdk $jdk"
    [[ "$line" != *' fuzz '* ]] || line+=' --no-confirm'
    ;;
  esac
  echo "$line"
}

# is_skipped LINE: whether a pattern of `skipped` is in LINE.
is_skipped() {
  local skip
  for skip in "${skipped[@]}"; do
    [[ "$1" != *"${skip%|*}"* ]] || return 0
  done
  return 1
}

# works LINE: runs LINE, shortened, and counts it; fails if it is not a command of this walkhammer.
works() {
  local now code=0
  now=$(short "$1")
  timeout 120 bash -c "$now" </dev/null >out.txt 2>err.txt || code=$?
  echo "$code: $now   ($1)"
  ran=$((${ran:-0} + 1))
  rm -rf bundle
  case $code in
  0 | 1 | 3 | 4) ;;
  *)
    cat err.txt
    return 1
    ;;
  esac
}

# Makes the runs, the store and the files that the pages name.
prepare() {
  for run in base-1 base-2 base-3 new-1 new-2 new-3 night-1 night-7 nightly; do
    seed=$((${seed:-0} + 1))
    "$walkhammer" fuzz --jdk "$jdk" --walks 4000 --seed "$seed" --scene monitor-enter-c2 --workers 1 \
      --no-confirm --no-coverage --out "out/$run" >>said 2>&1 || [ "$?" -le 1 ] || return
  done
  for run in old new RUN; do
    "$walkhammer" stress --jdk "$jdk" --workload torture:shapes --time 1s --out "out/$run" >>said 2>&1 ||
      [ "$?" -ne 2 ] || return
  done
  for file in out/nightly/crashes/*/input.walk; do cp "$file" first.walk; done
  crash=$(basename "${file%/input.walk}")
  mkdir jdks
  ln -s "$jdk" jdks/new
  cp "$root/harness/hs_err/testdata/"*.log . 2>/dev/null || true
  for file in *.log; do
    cp "$file" hs_err_pid4711.log
    break
  done
  echo >gate.toml
  "$walkhammer" bugs update --store bugs out/night-1 >>said 2>&1 || [ "$?" -le 1 ]
  bug=$("$walkhammer" bugs list --store bugs --json | sed -n 's/.*"id": "\([^"]*\)".*/\1/p' | head -n 1)
}

@test "each command of README and of the how-to pages runs, or says why not" {
  need_jdk
  prepare
  lines "$root"/README.md "$root"/docs/howto/*.md >all
  [ "$(wc -l <all)" -ge 40 ]
  ran=0
  while read -r line; do
    is_skipped "$line" || works "$line"
  done <all
  [ "$ran" -ge 25 ]
}

@test "a command that is misspelled in a page is found" {
  need_jdk
  cat >page.md <<'PAGE'
walkhammer prose is not run.
```sh
walkhammer show oracles    # a comment
walkhammer show \
  oracels
walkhammer report --htlm x
```
PAGE
  lines page.md >all
  [ "$(cat all)" = $'walkhammer show oracles\nwalkhammer show   oracels\nwalkhammer report --htlm x' ]
  works 'walkhammer show oracles'
  run ! works 'walkhammer show   oracels'
  run ! works 'walkhammer report --htlm x'
}
