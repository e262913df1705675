#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Walkers of provider jdk: with stock JDKs, which lack their APIs, and with libraries that export
# fakes of these APIs.
# shellcheck disable=SC2154  # bats sets stderr

load lib

setup() {
  providers=$(dirname "$walkhammer")/providers
  out=$BATS_TEST_TMPDIR/run
  [ -n "$(jdks)" ]
}

# verb ARGUMENTS...: runs the command with the run folder $out, which is removed before.
verb() {
  rm -rf "$out"
  local name=$1
  shift
  run --separate-stderr timeout 100 "$walkhammer" "$name" "$@" --out "$out"
  echo "$name $*: exit code $status: $output $stderr"
}

# Prints which scenes of this run were available, and which were walked truly.
scenes() {
  ask "select name, available, pristine_true from scene"
}

# like_agct JDK WALKER LIBRARY...: with each library, the walker is true in the same scenes as
# AsyncGetCallTrace.
like_agct() {
  local jdk=$1 walker=$2 want
  shift 2
  verb fuzz --walker agct --jdk "$jdk" --walks 100 --no-confirm
  want=$(scenes)
  [ "$(ask "select count(*) from scene where pristine_true = 1")" -ge 18 ]
  for library in "$@"; do
    verb fuzz --walker "$walker" --provider "$providers/$library.so" --jdk "$jdk" \
      --walks 10000 --no-confirm
    [ "$status" -le 1 ]
    [ "$(scenes)" = "$want" ]
    [ "$(ask "select provider from run")" = "$(realpath "$providers/$library.so")" ]
    # A frame layout that is read wrongly shows in one of these oracles.
    [ "$(ask "select count(*) from finding where oracle in
      ('return-code', 'method-id', 'buffer', 'frame-count') and grade = 'Forbidden'")" -eq 0 ]
    [ "$(ask "select successful > 4000 from run")" -eq 1 ]
  done
}

@test "each layout of AsyncGetStackTrace is recognised, and walks like AsyncGetCallTrace" {
  for jdk in $(jdks); do
    like_agct "$jdk" asgst fake_draft fake_early fake_late
  done
}

@test "the iterator walks like AsyncGetCallTrace, in its newer form and in its older one" {
  for jdk in $(jdks); do
    like_agct "$jdk" iterator@jdk fake_iterator fake_older_iterator
    # The older numbering's code is -5; if it were not mapped, it would be a code of the queue.
    [ "$(ask "select sum(count) > 0 from count where code = '-4'")" -eq 1 ]
    like_agct "$jdk" iterator-frame fake_iterator fake_older_iterator
  done
}

@test "our own reference library, taken for a JDK's, walks every scene" {
  for jdk in $(jdks); do
    for walker in asgst iterator; do
      verb fuzz --walker "$walker" --provider "$providers/../libasgst.so" --jdk "$jdk" \
        --walks 10000 --no-confirm
      [ "$status" -eq 0 ]
      [ "$(ask "select count(*) from scene where available = 1 and pristine_true = 0")" -eq 0 ]
      [ "$(ask "select count(*) from scene where pristine_true = 1")" -ge 20 ]
      [ "$(ask "select successful > 4000 from run")" -eq 1 ]
    done
  done
}

@test "a stock JDK has none of them: exit code 3 and a sentence, whatever the verb" {
  for jdk in $(jdks); do
    for walker in asgst iterator iterator-frame; do
      verb fuzz --walker "$walker" --provider jdk --jdk "$jdk" --walks 100
      [ "$status" -eq 3 ]
      [[ "$stderr" == *"this libjvm exports no "*"--provider FILE.so"* ]]
    done
    verb step --scene mixed-tiers --walker asgst@jdk --jdk "$jdk" --time 3s
    [ "$status" -eq 3 ]
    with_report
    [[ "$output" == *"unavailable ("*"this libjvm exports no AsyncGetStackTrace"* ]]
    printf '%s\n' 'walk 1' 'walker asgst@jdk' 'scene jni-up-down' 'state in_native' 'anchor true' \
      'pc pristine' 'sp pristine' 'fp pristine' >"$BATS_TEST_TMPDIR/a.walk"
    run --separate-stderr "$walkhammer" replay "$BATS_TEST_TMPDIR/a.walk" --jdk "$jdk"
    [ "$status" -eq 3 ]
    [[ "$output$stderr" == *"exports no AsyncGetStackTrace: name a library that does (--library FILE.so)"* ]]
    [[ "$output$stderr" != *--provider* ]]
    run --separate-stderr "$walkhammer" replay "$BATS_TEST_TMPDIR/a.walk" --jdk "$jdk" \
      --library "$providers/fake_late.so"
    echo "$output"
    # A fake knows no compile levels, and is convicted of that.
    [ "$status" -eq 1 ]
    [[ "$output" == *"34 frames"*"frame-kind/wrong-level"* ]]
  done
}

@test "a library of an unknown layout is refused, and the message says what was seen" {
  verb fuzz --walker asgst --provider "$providers/fake_unknown.so" --walks 100
  [ "$status" -eq 3 ]
  [[ "$stderr" == *"none of the layouts that walkhammer knows: "*"no kind of one byte"* ]]
  verb fuzz --walker asgst --provider "$providers/fake_crashing.so" --walks 100
  [ "$status" -eq 3 ]
  [[ "$stderr" == *"its first call crashed: Segmentation fault"* ]]
  verb fuzz --walker asgst --provider "$providers/fake_iterator.so" --walks 100
  [ "$status" -eq 3 ]
  [[ "$stderr" == *"fake_iterator.so exports no AsyncGetStackTrace"* ]]
}

@test "a crash that an implementation hides is found" {
  verb fuzz --walker asgst --provider "$providers/fake_late.so" --walks 2000 --no-confirm
  [ "$(ask "select count(*) from finding where oracle = 'return-code'")" -eq 0 ]
  verb fuzz --walker asgst --provider "$providers/fake_hiding.so" --walks 2000 --no-confirm
  [ "$status" -eq 1 ]
  [ "$(ask "select count(*) > 0 from finding where oracle = 'return-code' and detail like '%-7777%'")" -eq 1 ]
}

@test "an unknown provider is bad input" {
  while IFS='|' read -r walker provider sentence; do
    refuses 2 "$sentence" fuzz --walker "$walker" --provider "$provider" --walks 100 --out "$out"
  done <<END
asgst|./nowhere.so|there is no library
asgst|$walkhammer-none|there is no library
asgst|$BATS_TEST_FILENAME|is not a library
asgst|jkd|must be jdk, ref or the path of a library
agct|$providers/fake_late.so|uses no library: --provider FILE.so is for asgst@jdk, 
plugin:mine||must name a library
plugin:./a.so|./b.so|one library at a time
plugin:./nowhere.so||there is no library
agct|ref|comes from provider jdk
asgst@ref|jdk|comes from provider ref
END
  refuses 2 "is its own provider" stress --walker jfr --provider "$providers/fake_late.so" --java Work
}

@test "a finding is confirmed, minimised and replayed with the library that it was found with" {
  verb fuzz --walker asgst --provider "$providers/fake_late.so" --walks 12000 --minimize-time 2s
  [ "$status" -eq 1 ]
  [ "$(ask "select count(*) from bucket where confirmed = 5")" -ge 1 ]
  folder=$(ask "select folder from bucket where confirmed = 5 limit 1")
  command=$(sed -n 's/^Replay  *//p' "$out/$folder/explain.txt")
  [[ "$command" == *"$(realpath "$providers/fake_late.so")"* ]]
  run sh -c "$command" # as it stands there
  echo "$command: $output"
  [ "$status" -eq 1 ]
  run "$walkhammer" minimize "$out/$folder/input.walk" --library "$providers/fake_late.so" \
    --times 1 --tries 3
  [ "$status" -eq 1 ]
}

@test "AsyncGetCallTrace and a provider made of it agree on every sample" {
  for library in fake_early fake_late; do
    verb stress --workload torture:mixed --walker agct,asgst --provider "$providers/$library.so" \
      --jdk "$(jdks | tail -n 1)" --time 3s --no-confirm
    [ "$status" -le 1 ]
    [ "$(ask "select successful > 1000 from cell")" -eq 1 ]
    [ "$(ask "select count(distinct walker) from count where count > 500")" -eq 2 ]
    [ "$(ask "select count(*) from finding where oracle = 'agreement'")" -eq 0 ]
  done
}

@test "a library that exports AsyncGetCallTrace stands in for libjvm's" {
  for jdk in $(jdks); do
    like_agct "$jdk" agct fake_agct
  done
  verb fuzz --walker agct --provider "$providers/fake_agct_wrong.so" --walks 10000 --no-confirm
  [ "$status" -eq 1 ]
  [ "$(ask "select count(*) > 10 from finding where oracle = 'truth' and grade = 'Forbidden'")" -eq 1 ]
  # Beside another walker's library, it stays libjvm's.
  verb fuzz --walker agct,asgst --provider "$providers/fake_late.so" --walks 1000 --no-confirm
  [ "$(ask "select walker from run")" = "agct,asgst@jdk" ]
}

@test "a plugin walks like AsyncGetCallTrace, which it calls, and its crashes in libjvm are known" {
  for jdk in $(jdks); do
    like_agct "$jdk" plugin plugin
    [[ "$output" == *"Known"*WH-* ]]
    [[ "$output" != *"plugin@plugin.so: crash in "* ]]
  done
}

# plugin NAME VERB ARGUMENT...: beside the reference, on the newest JDK, for 3 s.
plugin() {
  verb "$2" --walker "asgst,plugin:$providers/$1.so" --jdk "$(jdks | tail -n 1)" --time 3s \
    --no-confirm "${@:3}"
}

# One if the stepped thread's own calls say that the plugin names a wrong method in more than 1 of 500
# samples. An honest one did so in at most 1 of 2,148 in each of four runs, the one with the bug in
# at least 1 of 244 in each of ten. Callers that are skipped do not count: AsyncGetCallTrace skips
# some, too.
steps_contradict() {
  ask "select coalesce(sum(samples * (against = 'walker' and kind = 'method')) * 500 > sum(samples)
      and sum(samples) > 1000, 0)
    from evidence where witness = 'stepped-shadow-stack' and walker = 'plugin'"
}

@test "the bug of the example's plugin is found by fuzz, stress and step in three seconds each" {
  local step=(step --workload torture:mixed --thread torture)
  plugin plugin_with_bug fuzz --workers 1
  [ "$status" -eq 1 ]
  [ "$(ask "select count(*) > 5 from bucket where title like 'truth/wrong-frames in scene %'")" -eq 1 ]
  plugin plugin_with_bug stress --workload torture:mixed
  [ "$status" -eq 1 ]
  [[ "$output" == *"  plugin@plugin_with_bug.so: witness/newest-frame: plugin has another"* ]]
  # What is stepped differs from run to run.
  local seed
  for seed in 1 2 3; do
    plugin plugin_with_bug "${step[@]}" --seed "$seed"
    [ "$(steps_contradict)" -eq 0 ] || break
  done
  [ "$(steps_contradict)" -eq 1 ]
  # Without the bug, none of these is seen.
  plugin plugin fuzz --workers 1
  [ "$(ask "select count(*) from bucket where title like 'truth/wrong-frames%'")" -eq 0 ]
  plugin plugin stress --workload torture:mixed
  [ "$status" -eq 0 ]
  plugin plugin "${step[@]}"
  [ "$status" -eq 0 ]
  [ "$(steps_contradict)" -eq 0 ]
}

@test "an oracle that is left out finds nothing, and the run says so" {
  plugin plugin_with_bug stress --workload torture:mixed --without-oracle witness \
    --without-oracle agreement
  [ "$status" -eq 0 ]
  [ "$(ask "select count(*) from bucket where title like 'witness/%' or title like 'agreement/%'")" -eq 0 ]
  [ "$(ask "select count(*) from note where name in ('oracle witness', 'oracle agreement')")" -eq 2 ]
  plugin plugin_with_bug fuzz --workers 1 --without-oracle truth
  [ "$(ask "select count(*) from bucket where title like 'truth/%'")" -eq 0 ]
  [ "$(ask "select detail from note where name = 'oracle truth'")" = "--without-oracle: nothing that it would find was looked for" ]
  refuses 2 'there is no oracle "wittness"; nearest: witness' fuzz --without-oracle wittness
  refuses 2 'survival cannot be left out, as no walk asks it' fuzz --without-oracle survival
  run -0 "$walkhammer" help fuzz
  [[ "$output" == *left*out:*survival,*crash,*hang,*trace-request* ]]
  refuses 2 'crash cannot be left out, as it ends the walk' stress --without-oracle crash \
    --workload torture:mixed
}

@test "a plugin is asked for other threads only if it says that it walks them" {
  refuses 2 "does not export walkhammer_walks_other_threads" stress --mode parked \
    --walker "plugin:$providers/plugin.so" --workload torture:mixed --out "$out"
  verb fuzz --walker "plugin:$providers/fake_late.so" --walks 100
  [ "$status" -eq 3 ]
  [[ "$stderr" == *"fake_late.so exports no walkhammer_walk: see walkhammer_walker.h"* ]]
  verb fuzz --walker plugin --walks 100
  [ "$status" -eq 3 ]
  [[ "$stderr" == *"name its library (--walker plugin:FILE.so)"* ]]
}

# examined WALKER LIBRARY ARGUMENT...: a short run, whose findings of what the API says are in
# $output.
examined() {
  verb fuzz --walker "$1" --provider "$providers/fake_$2.so" --jdk "$(hooked)" --walks 1000 \
    --no-confirm "${@:3}"
  [ "$(ask "select successful > 300 from run")" -eq 1 ]
  output=$(ask "select distinct detail from finding where oracle in ('method-info', 'buffer')")
  echo "$1 of fake_$2: $output"
}

# A JDK with queues at a thread's own polls and with frame marks, which the fakes need.
hooked() {
  jdks | tail -n 1
}

@test "ids, queues and frame marks of a JDK walk truly, and nothing is found in them" {
  for walker in ids@jdk queue@jdk marks@jdk; do
    for form in documents older_documents null_texts; do
      examined "$walker" "$form"
      [ "$status" -eq 0 ]
      [ -z "$output" ]
      [ "$(ask "select count(*) from scene where available = 1 and pristine_true = 0")" -eq 0 ]
    done
  done
  verb stress --workload torture:mixed --walker asgst@ref,ids@jdk,queue@jdk,marks@jdk \
    --provider "$providers/fake_documents.so" --jdk "$(hooked)" --time 3s --no-confirm
  [ "$status" -eq 0 ]
  [ "$(ask "select count(distinct walker) from count where count > 300")" -eq 4 ]
}

@test "each bug of a JDK's ids, queues and frame marks is found, and named" {
  while IFS='|' read -r walker bug sentence; do
    examined "$walker" "${bug}_bug" --scene interpreted-recursion --scene c2 --scene jni-up-down \
      --scene mixed-tiers
    [ "$status" -eq 1 ]
    [[ "$output" == *"$sentence"* ]]
  done <<END
ids@jdk|name|GetMethodInfo names another method
ids@jdk|id|GetMethodIdNum and GetMethodInfo return different numbers
ids@jdk|lines|GetMethodLineNumberTable differs from the class file
ids@jdk|overrun|wrote outside of a buffer
ids@jdk|class|ClassToJClass converts to another class
queue@jdk|loses_element|never reached the queue's handler
queue@jdk|twice|the handler was called
queue@jdk|order|were handled out of order
queue@jdk|other_thread|were handled on another thread
queue@jdk|other_frame|begin at another frame than was enqueued
queue@jdk|nothing_queued|holds 0 right after Enqueue
queue@jdk|element|GetEnqueuableElement returns another place than Enqueue
queue@jdk|no_end|do not alternate
queue@jdk|resize|after ResizeQueue, a queue for 48 elements has room for 16
marks@jdk|late_mark|returned and their callers went on without the handler
marks@jdk|early_mark|were called while the frame still ran
marks@jdk|mark_thread|ran on another thread
marks@jdk|mark|GetFrameMarkStackPointer does not tell
END
}

@test "an iterator that fails on the way to an element is not blamed for the buffer" {
  examined queue@jdk no_native_frame_bug
  [ "$status" -eq 1 ] # native frames are missing
  [ -z "$output" ]
}

@test "a JDK without ids, queues or marks, or whose capabilities lack marks: exit code 3" {
  for walker in ids@jdk queue@jdk marks@jdk; do
    verb fuzz --walker "$walker" --jdk "$(hooked)" --walks 100
    [ "$status" -eq 3 ]
    [[ "$stderr" == *"this libjvm exports no ASGST_"*"--provider FILE.so"* ]]
    verb fuzz --walker "$walker" --provider "$providers/fake_iterator.so" --walks 100
    [ "$status" -eq 3 ]
    [[ "$stderr" == *"fake_iterator.so exports no ASGST_"* ]]
  done
  verb fuzz --walker marks@jdk --provider "$providers/fake_without_marks.so" --walks 100
  [ "$status" -eq 3 ]
  [[ "$stderr" == *"ASGST_Capabilities says that it does not offer them here"* ]]
}
