#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests of stress: the verdicts on programs that behave and on programs that do not, and on walkers
# with planted bugs.
# shellcheck disable=SC2154,SC2030,SC2031  # bats sets stderr; each test is a subshell

load lib_stress

@test "a busy program is sampled, and the samples are walked" {
  program Work --time 2s
  ended passed "$status" ""
  [ "$(cell 'successful > 100 and walks >= successful')" -eq 1 ]
  [ "$(cell 'requested > 3000')" -eq 1 ] # to the end: 0.3 of the 2 s at least, whatever else runs
  [ "$(cell "delivered * 10 >= requested * 8")" -eq 1 ]
  [[ "$(cell reason)" != *"could not be armed"* ]]
  # The program's own stack is in the flame graph.
  ask "select a.name || ' > ' || b.name || ' > ' || c.name
      from stack x join stack y on y.parent = x.id join stack z on z.parent = y.id
      join stack_frame a on a.id = x.frame join stack_frame b on b.id = y.frame
      join stack_frame c on c.id = z.frame where x.parent = 0" |
    grep -q 'Work.main(\[Ljava/lang/String;)V > Work.forMillis(J)V > Work.round(I)J'
  [ "$(sqlite3 "$out/run.db" 'select sum(count) from stack')" -eq "$(cell walks)" ]
  "$WALKHAMMER" report "$out" --flame "$out.html" --collapsed "$out.txt" >/dev/null || [ $? -eq 1 ]
  grep -q 'Work.round' "$out.html"
  grep -q 'Work.main;Work.forMillis;Work.round' "$out.txt"
}

@test "intervals are random within a range, from the seed" {
  program Work --time 2s --interval 50us..150us --seed 7
  ended passed "$status" ""
  [ "$(cell "interval_min_ns = 50000 and interval_max_ns = 150000 and delivered > 500")" -eq 1 ]
}

@test "each sampler delivers, and the run names it" {
  for sampler in perf timer thread; do
    out=$BATS_TEST_TMPDIR/$sampler
    program Work --time 1s --sampler "$sampler"
    if [ "$sampler" = perf ] && [[ "$(cell reason)" == *"not permitted"* ]]; then continue; fi
    ended passed "$status" ""
    [ "$(cell sampler)" = "$sampler" ]
    [ "$(cell 'successful > 50')" -eq 1 ]
  done
}

@test "a sample is walked by another thread while its own waits or goes on, or within a walk" {
  while IFS='|' read -r mode options condition; do
    out=$BATS_TEST_TMPDIR/$mode
    # shellcheck disable=SC2086  # words
    program Work --time 2s --mode "$mode" $options
    ended passed "$status" ""
    [ "$(cell "$condition")" -eq 1 ]
  done <<END
parked|--interval 500us|successful > 100
running|--interval 500us|successful > 50
nested||walks > delivered
END
}

# The parked thread's own futex calls must leave the errno alone that the walk has borrowed.
@test "a parked walk is blamed for nothing of ours" {
  for seed in 1 2; do
    out=$BATS_TEST_TMPDIR/$seed
    run timeout 100 "$walkhammer" stress --workload torture:recursion --walker asgst --mode parked \
      --time 4s --seed "$seed" --no-confirm --out "$out"
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(ask 'select successful > 1000 from cell')" -eq 1 ]
    [ "$(ask "select count(*) from finding where oracle = 'errno'")" -eq 0 ]
  done
}

@test "walks of the reference say why they ended, and other walkers say nothing" {
  program Work --time 2s --walker agct,asgst
  [ "$(cell status)" = passed ]
  count() { ask "select coalesce(sum(count), 0) from walk_end where $1"; }
  [ "$(($(count "walker = 'asgst'") * 2))" -eq "$(cell walks)" ]
  [ "$(($(count "ended = 'whole'") * 10))" -ge "$(($(count true) * 9))" ]
  [ "$(count "walker = 'agct'")" -eq 0 ]
  "$WALKHAMMER" report "$out" | grep -A1 'how walks of asgst ended' | grep -q '% whole'
}

@test "two walkers walk the same sample and are compared" {
  program Work --time 2s --walker agct,puzzle-lie
  [ "$(cell status)" = passed ]
  finding | grep -qE '^agreement/(skipped-caller|other-method)$'
  # Agreement is counted, too; most answers agree.
  [ "$(ask "select sum(samples) > 10 from agreement
      where kind in ('skipped-caller', 'method')")" -eq 1 ]
  [ "$(ask "select sum(samples) > 1000 from agreement where kind = 'none'")" -eq 1 ]
}

# judged WITNESS CONDITION: prints the number of samples that the witness judged, where CONDITION
# holds.
judged() {
  ask "select coalesce(sum(samples), 0) from evidence
    where witness = '$1' and $2"
}

# Interpreted: in compiled code, AsyncGetCallTrace itself stops half-way now and then; where both
# do, the witness judges neither.
@test "the witness thread-start convicts a walker that stops half-way" {
  interpreted() { program Work --time 2s --walker "$1" -- -Xint; }
  interpreted agct,puzzle-cut-off
  [ "$(cell status)" = passed ]
  planted=$(ask "select sum(samples) from agreement where kind = 'truncated'")
  [ "$planted" -gt 10 ]
  found=$(judged thread-start "kind = 'truncated' and against in ('walker', 'both')")
  [ $((found * 10)) -ge $((planted * 9)) ]
  out=$BATS_TEST_TMPDIR/turned
  interpreted puzzle-cut-off,agct
  [ "$(cell status)" = passed ]
  [ "$(judged thread-start "against in ('other', 'both')")" -gt 10 ]
  [ "$(judged thread-start "against = 'walker'")" -eq 0 ]
}

# compiled WORKLOAD WALKERS: a run on compiled code, which calls the JVM often.
compiled() {
  out=$BATS_TEST_TMPDIR/$2
  stress --workload "torture:$1" --interval 50us --time 2s --no-confirm --walker "$2" -- \
    -Xcomp -XX:TieredStopAtLevel=1
  [ "$(cell status)" = passed ]
}

@test "debug information convicts a walker that reports wrong callers of the JVM" {
  compiled reflection asgst,puzzle-entry
  [ "$(judged debug-info "against in ('walker', 'both')")" -gt 50 ]
  compiled reflection asgst,asgst
  [ "$(judged debug-info "against = 'neither'")" -gt 50 ]
  [ "$(judged debug-info "against <> 'neither'")" -eq 0 ]
}

@test "calls that are being resolved convict a walker whose frame is at no call" {
  compiled handles asgst,puzzle-entry
  [ "$(judged call "against in ('walker', 'both')")" -gt 0 ]
  # On JDK 17, AsyncGetCallTrace itself is contradicted in most of them, the reference in none.
  compiled handles asgst,asgst
  [ "$(judged call "against = 'neither'")" -gt $((10 * $(judged call "against <> 'neither'") + 10)) ]
}

@test "the same walker twice agrees with itself" {
  program Work --time 2s --walker agct,agct
  [ "$(cell status)" = passed ]
  ! finding | grep -q inconsistent || return 1
}

# Such as when a thread in native code is deoptimised by another one: the first walker is called
# again.
@test "a stack that changed between two walks is not compared" {
  compare() {
    stress --workload torture:jni --interval 50us --time 3s --no-confirm --walker "$1,agct"
    [ "$(cell status)" = passed ]
    native=$(ask "select count(*) from finding
      where oracle = 'agreement' and request like '%state in_native%'")
  }
  # Only the first answers that differ are kept; on a busy machine all of them may be elsewhere.
  for try in 1 2 3 4; do
    out=$BATS_TEST_TMPDIR/cut-off-$try
    compare puzzle-cut-off
    [ "$native" -eq 0 ] || break
  done
  [ "$native" -gt 0 ]
  out=$BATS_TEST_TMPDIR/fickle
  compare puzzle-fickle
  [ "$(ask "select sum(samples) > 100 from agreement where kind = 'truncated'")" -eq 1 ]
  [ "$native" -eq 0 ]
}

@test "a contained crash is a finding with its sample" {
  program Work --time 2s --walker puzzle-crash
  [ "$status" -eq 1 ]
  [ "$(cell 'contained_crashes > 10')" -eq 1 ]
  finding | grep -q '^crash/fault$'
  input=$(echo "$out"/crashes/crash-in-*/input.walk)
  grep -q '^expect crash ' "$input"
}

@test "an uncontained crash ends the program and leaves its log" {
  program Work --time 20s --walker puzzle-crash --no-guard --no-confirm
  ended died 1 ""
  [ "$(cell contained_crashes)" -eq 0 ]
  [ "$(notes "kind = 'not-in-force' and name = 'guard'")" -eq 1 ]
  [ "$(notes "kind = 'in-force'")" -eq 0 ]
  finding | grep -q '^survival/death$'
  grep -q 'Problematic frame' "$out"/crashes/JVM-death-*/hs_err.log
  grep -q 'Misbehave' "$out"/crashes/JVM-death-*/hs_err.log
}

@test "a hanging walker is abandoned and named" {
  program Work --time 3s --walker puzzle-hang --hang-limit 50ms --no-confirm
  [ "$status" -eq 1 ]
  finding | grep -q '^hang/hang$'
}

@test "a walk that kills the program is a finding, and the run goes on" {
  for walker in puzzle-abort puzzle-exit; do
    out=$BATS_TEST_TMPDIR/$walker
    program Work --time 2s --walker "$walker"
    ended died 1 ""
    finding | grep -q '^survival/death$'
    grep -q '^walker '"$walker" "$out"/crashes/*/input.walk
  done
}

@test "other planted bugs are found in samples" {
  while read -r walker wanted; do
    out=$BATS_TEST_TMPDIR/$walker
    program Work --time 1s --walker "$walker" --no-confirm
    [ "$status" -eq 1 ]
    finding | grep -qE "^$wanted"
  done <<END
puzzle-overflow buffer/
puzzle-count frame-count/
puzzle-undeclared return-code/
puzzle-bad-method method-id/
puzzle-bad-bci bci/
puzzle-errno errno/
puzzle-mask signal-mask/
puzzle-malloc signal-safety/
puzzle-lock signal-safety/
puzzle-try-lock signal-safety/
puzzle-condition signal-safety/
puzzle-semaphore signal-safety/
puzzle-align signal-safety/
puzzle-symbol signal-safety/
puzzle-libraries signal-safety/
END
}

@test "a walker that overflows its stack is contained, wherever it is called" {
  for mode in handler nested parked running; do
    out=$BATS_TEST_TMPDIR/$mode
    program Work --time 2s --mode "$mode" --walker puzzle-recursion --no-confirm
    ended passed 1 ""
    [ "$(cell 'contained_crashes > 10')" -eq 1 ]
    finding | grep -q '^crash/fault$'
    [ "$(finding | grep -c '^survival/')" -eq 0 ]
    [ "$(notes "kind = 'in-force' and name = 'stack overflow'")" -eq 1 ]
  done
}

@test "method ids that lead nowhere are not followed" {
  program Work --time 2s --walker puzzle-wild-method,puzzle-wild-method --no-confirm -- -Xint
  ended passed 1 ""
  finding | grep -q '^method-id/never-existed$'
}

@test "a run says whether calls of malloc and locks are seen" {
  program Work --time 1s
  [ "$(notes "kind = 'in-force' and name = 'interposition' and cell = 0")" -eq 1 ]
  [ "$(notes "name = 'hang detection' and kind = 'in-force'")" -eq 1 ]
}

@test "another allocator may be preloaded" {
  allocator=${WALKHAMMER%/*}/liballocator.so
  [ -e "$allocator" ] || skip "the tests are not built"
  LD_PRELOAD=$allocator program Work --time 2s
  ended passed "$status" ""
  [ "$(finding | grep -c '^survival/')" -eq 0 ]
  [ "$(notes "kind = 'in-force' and name = 'interposition'")" -eq 1 ]
}

@test "a walker that writes into the stack is found, unless the program hangs of it first" {
  for try in 1 2 3 4; do
    out=$BATS_TEST_TMPDIR/try$try
    program Work --time 1s --walker puzzle-stack
    [ "$(cell status)" = hung ] || break
  done
  [ "$status" -eq 1 ]
  finding | grep -qE '^(stack-kept|survival)/'
}

@test "the program's own shadow stack convicts a walker that leaves out a frame" {
  stress --workload torture:shadow --time 3s --walker puzzle-lie --no-confirm
  [ "$status" -eq 1 ]
  finding | grep -q '^shadow-stack/'
}

@test "an honest walker on a program with a shadow stack is clean" {
  stress --workload torture:shapes --time 2s --walker puzzle-honest
  [ "$(cell status)" = passed ]
}

@test "a program that fails does not pass" {
  program "Exits 3" --time 5s
  ended workload-failed 4 "exit code 3"
  [[ "$(cell reason)" == *"leaving with 3"* ]]
}

@test "a program that ends well is started again while there is time" {
  program "Exits 0" --time 3s
  [ "$(cell status)" = passed ]
  [ "$(cell 'starts > 1')" -eq 1 ]
}

@test "a run without proof does not pass" {
  while IFS='|' read -r main options wanted code part; do
    out=$BATS_TEST_TMPDIR/$wanted-$main
    # shellcheck disable=SC2086  # words
    program "$main" $options
    ended "$wanted" "$code" "$part"
  done <<END
Sleeps|--time 60s --hung-after 2s|hung|4|no CPU time
Floods|--time 60s --output-limit 8|output-flood|4|more than 8 MiB
TakesSignal|--time 20s|handlers-changed|4|SIGPROF
Missing|--time 2s|unavailable|3|Could not find or load main class
Work|--time 2s -- -XX:+NoSuchFlagAtAll|unavailable|3|NoSuchFlagAtAll
Work|--time 1s --walker puzzle-blind|vacuous|1|no walk was successful
END
}

@test "a program that starts processes is sampled; they are left alone" {
  program Forks --time 2s
  [ "$(cell status)" = passed ]
}

@test "a java without HotSpot is skipped" {
  mkdir -p "$BATS_TEST_TMPDIR/fake/lib/server" "$BATS_TEST_TMPDIR/fake/bin"
  library=$(awk '/\/libc[.-].*so/ {print $6; exit}' /proc/self/maps)
  cp "$library" "$BATS_TEST_TMPDIR/fake/lib/server/libjvm.so"
  touch "$BATS_TEST_TMPDIR/fake/release"
  program Work --time 1s --jdk "$BATS_TEST_TMPDIR/fake"
  ended not-hotspot 3 "AsyncGetCallTrace"
}

@test "a full disk ends the run with one sentence" {
  [ "$(id -u)" -eq 0 ] || skip "only root mounts"
  mkdir "$BATS_TEST_TMPDIR/small"
  mount -t tmpfs -o size=1m none "$BATS_TEST_TMPDIR/small" 2>/dev/null || skip "mounting is not permitted"
  mounted=$BATS_TEST_TMPDIR/small
  dd if=/dev/zero of="$mounted/filler" bs=1k count=900 2>/dev/null
  out=$mounted/run
  program Work --time 3s
  [ "$status" -eq 2 ] || [ "$status" -eq 4 ]
  [[ "$stderr" == *"full"* ]]
}

@test "a matrix has a cell for each workload, JDK and profile" {
  stress --workload torture:shapes --workload torture:stubs --profile xint,zgc --time 1s
  [ "$(ask "select count(*) from cell where status = 'passed'")" -eq 4 ]
  [ "$(ask "select count(distinct profile) from cell")" -eq 2 ]
  [ "$(ask "select distinct vm_gc from cell where profile = 'zgc'")" = ZGC ]
}

@test "bad usage is one sentence and 2" {
  while IFS='|' read -r part arguments; do
    # shellcheck disable=SC2086  # words
    refuses 2 "$part" stress $arguments
  done <<END
say what to run|--time 1s
no workload|--workload torture:nothing
--interval|--java Work --interval 5
shorter end first|--java Work --interval 100us..10us
--sampler must be one of|--java Work --sampler magic
--mode must be one of|--java Work --mode sideways
there is no profile|--java Work --profile turbo
there is no walker|--java Work --walker nobody
no process|--pid 999999999
walks in its own way|--java Work --walker jfr --mode parked
END
}

@test "a machine without room for a JVM's threads is exit code 3, not a finding" {
  [ "$(id -u)" -eq 0 ] || skip 'only root starts commands as another user'
  other_user="setpriv --reuid 65534 --regid 65534 --clear-groups"
  $other_user test -x "$WALKHAMMER" || skip 'no other user reaches this build'
  open=$(mktemp -d)
  chmod 777 "$open"
  out=$open/run
  # shellcheck disable=SC2086  # words
  run --separate-stderr env TMPDIR="$open" $other_user bash -c "ulimit -u 5; timeout 100 \
    '$WALKHAMMER' stress --out '$out' --workload torture:recursion --time 3s --no-confirm"
  echo "$output"
  ended unavailable 3 ""
  [ "$(ask "select count(*) from bucket")" -eq 0 ]
  rm -rf "$open"
}

@test "reports do not tell secrets of the command line" {
  stress --java "-cp $PROGRAMS Work 3000 --auth sesame222 --db-pass sesame333 glpat-0a1b2c3d4e5f6g7h8i9j" \
    --time 2s -- -Ddb.password=hunter2
  [ "$status" -eq 0 ]
  pages=$BATS_TEST_TMPDIR/pages
  mkdir "$pages"
  "$WALKHAMMER" report "$out" --html "$pages/a.html" --junit "$pages/a.xml" --markdown "$pages/a.md" \
    --sarif "$pages/a.sarif" --flame "$pages/flame.html"
  "$WALKHAMMER" report "$out" >"$pages/a.txt"
  "$WALKHAMMER" report "$out" --json >"$pages/a.json"
  run ! grep -rE 'sesame|hunter2|0a1b2c3d' "$pages" "$out/report.html"
  grep -q 'password=<redacted>' "$pages/a.txt"
}
