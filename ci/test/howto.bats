#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The commands of the how-to pages and of README, shortened: each line of their shell blocks runs,
# with times of a second and with names of what is here in place of the pages' names. Usage errors
# and failures of the tool fail, findings do not. A line that does not run here must match a row of
# `skipped`, which names the test that covers it.
# shellcheck disable=SC2016,SC2154  # the lines have variables; bats and lib.bash set some

load lib

setup() {
  export PATH=${walkhammer%/*}:$PATH
  providers=${walkhammer%/*}/providers
  cd "$tmp" || return
}

# Lines that do not run here: a part of the line, the test that covers it, and a word of that test.
skipped=(
  'ci/quickstart.sh|ci/test/fresh.sh|quickstart.sh'
  'ci/test.sh|ci/test/fresh.sh|ci/test.sh'
  'ci/test/aarch64.sh|ci/test/aarch64.bats|ci/test/aarch64.sh'
  'aarch64/sysroot-25|ci/test/aarch64.sh|sysroot-'
  '/bin/walkhammer |ci/test/release.bats|bin/walkhammer'
  'tar -xzf walkhammer-|ci/soak/release.sh|tar -xzf'
  'apt install ./|ci/soak/release.sh|apt-get -q'
  'cc profiler.c|ci/test/example.bats|pkg-config'
  'source "$DIR/share/|ci/test/release.bats|completions/walkhammer'
  'fpath=("$DIR/share/|ci/test/release.bats|share/zsh/site-functions'
  'man --manpath="$DIR|ci/test/release.bats|$share/man'
  'core.4711|ci/test/cores.bats|--walk'
  '--of JDK-8302320|ci/test/bugs.bats|duplicate'
  '@jdk|ci/test/providers.bats|@jdk'
  '--provider jdk|ci/test/providers.bats|provider jdk'
  '--library |ci/test/providers.bats|--library'
  'ci/soak.sh fuzz|ci/test/soak.bats|ci/soak.sh fuzz'
  'ln -s walk_afl agct_afl|fuzzers/afl_test.cc|afl-fuzz'
  'afl-fuzz -i|fuzzers/afl_test.cc|afl-fuzz'
  './agct_afl out/|fuzzers/afl_test.cc|walk_afl'
  'ci/gate.sh --time 10 |ci/test/gate.bats|gate.sh'
  'jtreg -jdk:|ci/test/harnesses.bats|jtreg -agentvm'
  './get.sh ... --vendor_repos|ci/soak/harnesses.sh|TKG'
  'export BUILD_LIST=|ci/soak/harnesses.sh|BUILD_LIST='
  'cp walkhammer-0|ci/soak/harnesses.sh|LIB_DIR='
  'cd TKG|ci/soak/harnesses.sh|make compile'
  'mvn deploy:|ci/soak/harnesses.sh|install:install-file'
  'ci/examples/slurm.sh|ci/test/definitions.bats|slurm.sh'
  'parallel -N0|ci/test/definitions.bats|PARALLEL_SEQ'
  'kubectl apply|ci/test/definitions.bats|kubernetes.yaml'
  'ci/examples/shard.sh merge|ci/test/definitions.bats|shard.sh" merge'
  'ci/nightly.sh --config|ci/test/nightly.bats|ci/nightly.sh'
  'night nights/|ci/test/nightly.bats|night'
  'ci/setup/profilers.sh|ci/test/help.bats|ci/setup/profilers.sh'
  '-jar "my app.jar"|ci/test/stress.bats|--java'
  '--pid 4711|ci/test/stress.bats|--pid'
  '--table mine.tsv|ci/test/structs.bats|--table'
  'workloads/fetch.sh |ci/test/workloads.bats|fetch.sh'
  '--renaissance|ci/test/archives.bats|--renaissance'
  '--dacapo|ci/test/archives.bats|--dacapo'
)

# Lines that do not begin with walkhammer and run all the same, by their beginnings.
others=('for run in out/' 'lib=' 'JAVA_HOME=' 'cc -shared ')

# Exit codes other than 0 and 1 that a line may have: a part of the line, the code, a part of what
# it says.
allowed=(
  ' --time 1s|4|VACUOUS'
  '--engine afl|3|afl-fuzz is not in PATH'
  'bisect |3|bisecting takes at least two builds'
  'walkhammer gate |4|NOT ENOUGH DATA'
  '--walker jfr |3|JFR'
)

# lines PAGE...: prints the commands of the shell blocks, continued lines joined, comments gone.
lines() {
  awk '/^```sh$/ { inside = 1; next } /^```/ { inside = 0 } inside' "$@" |
    sed -e ':again' -e '/\\$/ { N; s/\\\n//; b again' -e '}' -e 's/  *# .*//' -e '/^ *$/d'
}


# short LINE: the line with the names and times of this test.
short() {
  local line=$1 at
  printf -v at %q "$providers"
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
  line=${line//--provider .\/mine.so/--provider $at/fake_draft.so}
  line=${line//--provider libasyncProfiler.so/--provider $at/fake_profiler.so}
  line=${line//--provider \$lib/--provider $at/fake_profiler.so}
  line=${line//\$GITHUB_STEP_SUMMARY/summary.md}
  case $line in
  'walkhammer '[fs][ut][zre]*) # fuzz, stress, step
    line=$(sed -E 's/ --time [0-9]+[smh]//' <<<"$line")
    # One scene, with few loads, is set up and walked sooner than all.
    [[ "$line" != *' fuzz '* || "$line" == *' --scene '* ]] || line+=' --scene osr-loop'
    [[ "$line" == *' faults'* ]] || line+=' --time 1s' # the engine faults ends by itself
    [[ "$line" == *' --jdk '* ]] || line+=" --jdk $jdk"
    [[ "$line" != *' fuzz '* ]] || line+=' --no-confirm'
    [[ "$line" != *' fuzz '*' --time 1s'* || "$line" == *' --workers '* ]] || line+=' --workers 1'
    ;;
  esac
  echo "$line"
}

# has_row TEXT ROW...: whether the part of a row before its first | is in TEXT.
has_row() {
  local text=$1 row
  shift
  for row in "$@"; do
    [[ "$text" != *"${row%%|*}"* ]] || return 0
  done
  return 1
}

# may_end LINE CODE: whether LINE, which said what is in said.txt, may end with CODE. walkhammer
# ends with 1 where it finds something.
may_end() {
  local row
  [ "$2" -ne 0 ] || return 0
  [[ "$2" -ne 1 || "$1" != 'walkhammer '* ]] || return 0
  for row in "${allowed[@]}"; do
    [[ "$1" != *"${row%%|*}"* || "$row" != *"|$2|"* ]] || ! grep -qF -- "${row##*|}" said.txt || return 0
  done
  return 1
}

declare -gA known # commands that works() has run without an error

# works LINE: runs LINE, shortened, and counts it; fails if it is not a command of this walkhammer,
# or ends with an exit code that it may not have.
works() {
  local now code=0
  [[ "$1" == 'walkhammer '* ]] || has_row "$1" "${others[@]}" || {
    echo "neither run nor in skipped: $1"
    return 1
  }
  now=$(short "$1")
  [ -z "${known[$now]:-}" ] || return 0 # in another page
  timeout 120 bash -ec "$now" </dev/null >said.txt 2>&1 || code=$?
  echo "$code: $now   ($1)"
  ran=$((${ran:-0} + 1))
  rm -rf bundle
  may_end "$now" "$code" || {
    cat said.txt
    return 1
  }
  known[$now]=yes
}

# Makes the runs, the nights, the store, the libraries and the files that the pages name.
prepare() {
  for run in base-1 base-2 base-3 new-1 new-2 new-3; do
    seed=$((${seed:-0} + 1))
    "$walkhammer" fuzz --jdk "$jdk" --walks 4000 --seed "$seed" --scene monitor-enter-c2 --workers 1 \
      --no-confirm --out "out/$run" >>said 2>&1 || [ "$?" -le 1 ] || return
  done
  cp -r out/base-1 out/night-1
  cp -r out/base-2 out/night-7
  cp -r out/base-3 out/nightly
  for run in old new; do
    "$walkhammer" stress --jdk "$jdk" --workload torture:shapes --time 1s --out "out/$run" >>said 2>&1 ||
      [ "$?" -ne 2 ] || return
  done
  cp -r out/old out/RUN
  for file in out/nightly/crashes/*/input.walk; do cp "$file" first.walk; done
  crash=$(basename "${file%/input.walk}")
  mkdir -p jdks nights/2026030{1,2}/merged
  ln -s "$jdk" jdks/new
  ln -sfn "$(jdks | head -n 1)" jdks/old
  cp -r out/base-1 nights/20260301/merged/fuzz
  cp -r out/new-1 nights/20260302/merged/fuzz
  cp -r nights out/nights
  cp "$providers/plugin.so" mine.so
  ln -s "$root/harness" "$root/docs" .
  cp "$root/harness/hs_err/testdata/"*.log . 2>/dev/null || true
  for file in *.log; do
    cp "$file" hs_err_pid4711.log
    break
  done
  echo >gate.toml
  sed -n '/^```sql$/,/^```$/{/^```/d;p;/;$/q}' docs/howto/query-runs.md >question.sql
  "$walkhammer" bugs update --store bugs out/night-1 >>said 2>&1 || [ "$?" -le 1 ]
  bug=$("$walkhammer" bugs list --store bugs --json | sed -n 's/.*"id": "\([^"]*\)".*/\1/p' | head -n 1)
  for home in $(jdks) /usr/lib/jvm/*; do
    [ ! -e "$home/include/jni.h" ] || export JAVA_HOME=$home
  done
}

@test "each command of README and of the how-to pages runs, or has a test elsewhere" {
  need_jdk
  prepare
  lines "$root"/README.md "$root"/docs/howto/*.md >all
  [ "$(wc -l <all)" -ge 100 ]
  ran=0
  while read -r line; do
    has_row "$line" "${skipped[@]}" || works "$line"
  done <all
  [ "$ran" -ge 50 ]
}

# covers ROW...: fails unless each row has a line in the file `all`, and names a test with its word.
covers() {
  local row rest
  for row in "$@"; do
    rest=${row#*|}
    grep -qF -- "${row%%|*}" all || {
      echo "no line has: ${row%%|*}"
      return 1
    }
    grep -qF -- "${rest#*|}" "$root/${rest%%|*}" || {
      echo "${rest%%|*} has no ${rest#*|}, for: ${row%%|*}"
      return 1
    }
  done
}

@test "each row of skipped has a line, and a test that exists" {
  lines "$root"/README.md "$root"/docs/howto/*.md >all
  covers "${skipped[@]}"
  run -1 covers 'walkhammer stroll|ci/test/howto.bats|stroll'
  [ "$output" = 'no line has: walkhammer stroll' ]
  run -1 covers '--pid 4711|ci/test/spdx.sh|--pid'
  [ "$output" = 'ci/test/spdx.sh has no --pid, for: --pid 4711' ]
}

@test "a command that is misspelled in a page is found, and one that no row names" {
  need_jdk
  cat >page.md <<'PAGE'
walkhammer prose is not run.
```sh
walkhammer show oracles    # a comment
walkhammer show \
  oracels
walkhammer report --htlm x

./new.sh --all
```
PAGE
  lines page.md >all
  [ "$(cat all)" = $'walkhammer show oracles\nwalkhammer show   oracels\nwalkhammer report --htlm x\n./new.sh --all' ]
  works 'walkhammer show oracles'
  run ! works 'walkhammer show   oracels'
  run ! works 'walkhammer report --htlm x'
  run ! has_row './new.sh --all' "${skipped[@]}"
  run -1 works './new.sh --all'
  [ "$output" = 'neither run nor in skipped: ./new.sh --all' ]
}

@test "only a vacuous short run, and what this machine lacks, may end with more than 1" {
  echo 'VACUOUS: no scene was walked' >said.txt
  may_end 'walkhammer fuzz --time 1s' 4
  run ! may_end 'walkhammer fuzz --time 1s' 3
  run ! may_end 'walkhammer report x' 4
  echo 'walkhammer: cannot write' >said.txt
  run ! may_end 'walkhammer fuzz --time 1s' 4
  may_end 'walkhammer report x' 1
  run ! may_end 'cc -shared x.c' 1
}
