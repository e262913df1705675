#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests of step: walks at every instruction, and what the calls that were made say about them.
# shellcheck disable=SC2154,SC2030,SC2031  # bats sets stderr; each test is a subshell

load lib_stress

@test "step walks at every instruction and maps where the walker fails" {
  step --time 3s
  [ "$(cell status)" = passed ]
  [ "$(cell 'walks > 10000')" -eq 1 ]
  [ "$(ask "select count(*) from step_range where answer = '-5 unknown_Java'")" -gt 0 ]
  [ "$(ask "select count(*) from step_range where answer like '%undeclared%'")" -eq 0 ]
}

@test "step by ptrace walks at every instruction, too" {
  step --stepper ptrace --time 3s
  [[ "$stderr$output" != *"refuses to trace"* ]] || skip "the kernel refuses to trace"
  [ "$(cell status)" = passed ]
  [ "$(ask "select sum(steps) > 300 from step_region")" -eq 1 ]
}

@test "step maps a scene, which is played repeatedly" {
  for time in 3s 6s 24s; do # a busy machine needs longer to get to compiled code
    out=$BATS_TEST_TMPDIR/scene-$time
    run --separate-stderr timeout 90 "$WALKHAMMER" step --scene c1 --time "$time" --out "$out"
    [ "$(ask "select count(*) from step_region where name like '%wh.C1Chain.c1Three%'")" -eq 0 ] || break
  done
  [ "$(cell status)" = passed ]
  [ "$(cell 'successful > 10000')" -eq 1 ]
  [ "$(ask "select count(*) from step_region where name like '%wh.C1Chain.c1Three%'")" -gt 0 ]
  [ "$(ask "select name from cell_thread order by delivered desc limit 1")" = scene-c1 ]
  [ "$(ask "select count(*) from step_region where steps > answered")" -gt 0 ]
  run "$WALKHAMMER" stress --scene c1 --time 1s
  [ "$status" -eq 2 ]
}

@test "step begins where a method is on the stack, and says if it never was" {
  step --method Work. --time 3s
  [ "$(cell status)" = passed ]
  out=$BATS_TEST_TMPDIR/never
  step --method Work.never --time 2s
  ended vacuous 4 'was Work.never on no stack that the first walker found?'
}

@test "steps show which of two walkers is wrong" {
  step --walker agct,puzzle-skip-caller --time 3s
  [ "$(cell status)" = passed ]
  [ "$(ask "select sum(samples * (against = 'walker')) > 5 * sum(samples * (against = 'other'))
      from evidence where witness = 'steps' and kind not in ('none', 'one-failed')")" -eq 1 ]
}

# The shadow stack of a stepped thread's calls, compared with answers at each kind of code.
called() { # WALKER
  out=$BATS_TEST_TMPDIR/$1
  step --profile default,xint --walker "$1,asgst" --time 2s --no-confirm
  [ "$(ask "select count(*) from cell where status = 'passed'")" -eq 2 ]
}

@test "the shadow stack of calls contradicts wrong callers at each kind of code" {
  called asgst
  [ "$(ask "select sum(contradicted) * 10000 <= sum(proven) and sum(proven) > 10000 from step_region")" -eq 1 ]
  for walker in puzzle-no-caller puzzle-made-up-caller puzzle-no-callers; do
    called $walker
    for kind in codelet stub prologue body native; do
      echo "$walker $kind"
      [ "$(ask "select sum(contradicted) > 0 from step_region where kind = '$kind'")" -eq 1 ]
    done
    [ "$(ask "select sum(samples * (against = 'other')) > 1000 * sum(samples * (against = 'walker'))
        from evidence where witness = 'stepped-shadow-stack'")" -eq 1 ]
  done
}

# The code alone tells where return addresses are; the calls that were made tell whether that is so.
@test "the code alone and the calls agree on where return addresses are" {
  step --profile default,xint --walker agct --time 3s --no-confirm
  [ "$(ask "select count(*) from cell where status = 'passed'")" -eq 2 ]
  for code in codelet nmethod; do
    echo "$code"
    [ "$(ask "select sum(agreed) > 0 from frame_place where code = '$code'")" -eq 1 ]
  done
  [ "$(ask "select sum(agreed) > 1000 from frame_place")" -eq 1 ]
  [ "$(ask "select count(*) from frame_difference")" -eq 0 ]
  # Most rows are known, also of code that was not stepped.
  [ "$(ask "select sum(instructions * (place not like 'unknown%')) * 100 > sum(instructions) * 90
      from frame_place")" -eq 1 ]
  run "$WALKHAMMER" report "$out"
  [[ "$output" == *"return addresses, by the code alone"* ]]
  # A walker's errors stand beside the place of the return address.
  [ "$(ask "select sum(f.failed + f.wrong + f.contradicted) > 0 from frame_walker f
      where f.walker = 'agct' and f.place in ('sp+0', 'sp+8', 'sp+0, frame popped')")" -eq 1 ]
  # Few programs run in these for long.
  out=$BATS_TEST_TMPDIR/mixed
  run timeout 100 "$WALKHAMMER" step --workload torture:mixed --thread torture --walker agct \
    --time 5s --no-confirm --out "$out"
  for code in adapter stub; do
    echo "$code"
    [ "$(ask "select sum(agreed) > 0 from frame_place where code = '$code'")" -eq 1 ]
  done
  [ "$(ask "select count(*) from frame_difference")" -eq 0 ]
}

# The parent reads frames one word larger than they are.
@test "a wrong row is listed with its instruction" {
  cat >"$BATS_TEST_TMPDIR/wrong.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/uio.h>
#include <unistd.h>

ssize_t process_vm_readv(pid_t pid, const struct iovec *here, unsigned long n,
                         const struct iovec *there, unsigned long m, unsigned long flags) {
  ssize_t (*next)(pid_t, const struct iovec *, unsigned long, const struct iovec *, unsigned long,
                  unsigned long) = dlsym(RTLD_NEXT, "process_vm_readv");
  ssize_t got = next(pid, here, n, there, m, flags);
  unsigned char *code = here->iov_base;
  for (ssize_t i = 0; pid != getpid() && i + 4 <= got; i++)
    if (code[i] == 0x48 && code[i + 1] == 0x83 && code[i + 2] == 0xec) code[i + 3] += 8;
  return got;
}
END
  cc -shared -fPIC -o "$BATS_TEST_TMPDIR/wrong.so" "$BATS_TEST_TMPDIR/wrong.c" -ldl
  LD_PRELOAD=$BATS_TEST_TMPDIR/wrong.so step --time 3s --no-confirm
  [ "$(ask "select sum(steps) > 10 from frame_difference where code = 'nmethod' and place <> seen
      and instruction like '+0x%'")" -eq 1 ]
  [ "$(ask "select sum(disagreed) > 10 from frame_place")" -eq 1 ]
  run "$WALKHAMMER" report "$out"
  [[ "$output" == *"code and calls disagree"* ]]
}

# predicted TIME WALKER[,WALKER]...: steps programs that run much in stubs, into $out.
predicted() {
  rm -rf "$out"
  run timeout 100 "$WALKHAMMER" step --workload torture:stubs --workload torture:mixed \
    --thread torture --walker "$2" --time "$1" --jobs 1 --no-confirm --out "$out"
  [ "$(ask "select count(*) from cell where status = 'passed'")" -eq 2 ]
}

# enough_predicted: 1 if each walker's predictions, and each kind of agct's, were often confirmed.
enough_predicted() {
  ask "select (select count(*) from (select walker from frame_prediction
        where walker in ('agct', 'asgst') group by walker having sum(confirmed) > 1000)) = 2
      and (select count(*) from (select predicted from frame_prediction where walker = 'agct'
        and predicted in ('right', 'wrong', 'no-answer')
        group by predicted having sum(confirmed) > 10)) = 3"
}

# The word that a walker wrongly reads may hold a return address by chance.
@test "walkers err where their rules say so" {
  local time walker way
  for time in 5s 15s 30s; do # a busy machine needs longer
    predicted "$time" agct,asgst
    [ "$(enough_predicted)" -ne 1 ] || break
  done
  [ "$(enough_predicted)" -eq 1 ]
  ask "select walker, predicted, sum(confirmed), sum(refuted) from frame_prediction
    group by 1, 2 having sum(pcs) > 0"
  ask "select * from frame_refuted limit 20"
  for walker in agct asgst; do
    echo "$walker"
    [ "$(ask "select sum(refuted * (predicted <> 'wrong')) * 200 <= sum(confirmed)
        from frame_prediction where walker = '$walker'")" -eq 1 ]
  done
  for way in right wrong no-answer; do
    echo "$way"
    [ "$(ask "select sum(confirmed) > 2 * sum(refuted)
        from frame_prediction where walker = 'agct' and predicted = '$way'")" -eq 1 ]
  done
  # The map is also of code that was not stepped, and of walkers that did not run.
  [ "$(ask "select sum(instructions) > 10 * sum(pcs) from frame_prediction where walker = 'agct'")" -eq 1 ]
  [ "$(ask "select sum(instructions) > 10000 and sum(pcs) = 0 from frame_prediction
      where walker = 'asprof-vm'")" -eq 1 ]
  run "$WALKHAMMER" report "$out"
  [[ "$output" == *"where walkers err by their own rules"*"refuses: adapters have no frame"* ]]
}

# unruly: 1 if puzzle-no-caller is wrong where its rule says right, and instructions tell where.
unruly() {
  ask "select coalesce(sum(refuted), 0) > 1000 and sum(refuted) > sum(confirmed)
      and (select count(*) > 100 from frame_refuted where walker = 'puzzle-no-caller'
        and predicted = 'right' and contradicted > 0 and instruction like '+0x%')
    from frame_prediction where walker = 'puzzle-no-caller' and predicted = 'right'"
}

@test "a walker that does not follow its rules is listed with its instructions" {
  local time found=
  for time in 2s 5s 15s; do # a busy machine needs longer
    ! predicted "$time" puzzle-no-caller || [ "$(unruly)" -eq 0 ] || found=yes
    [ -z "$found" ] || break
  done
  [ -n "$found" ]
  run "$WALKHAMMER" report "$out"
  [[ "$output" == *"walkers that do not answer as predicted"*"puzzle-no-caller is right by its rule"* ]]
}

@test "step without a walker counts the steps" {
  step --time 2s --no-walk
  [ "$status" -eq 0 ]
  [[ "$output" == *"CLEAN: "*"nothing was to be walked"* ]]
  [ "$(cell status)" = passed ]
  [ "$(cell 'delivered > 10000 and walks = 0')" -eq 1 ]
  # Code and calls are compared all the same, and hardly any step is lost in C code.
  [ "$(ask "select sum(agreed) > 1000 and sum(agreed) * 4 > (select sum(delivered) from cell)
      from frame_place")" -eq 1 ]
  [ "$(ask "select count(*) from step_region")" -eq 0 ]
}

@test "step ends after as many instructions as asked for" {
  step --time 20s --steps 30000 --no-walk
  [ "$status" -eq 0 ]
  [ "$(cell 'delivered >= 30000 and delivered < 100000')" -eq 1 ] # windows end as they are
}

@test "a walker that overflows its stack at a step is contained" {
  step --time 2s --walker puzzle-recursion --no-confirm
  [ "$(cell status)" = passed ]
  [ "$(cell 'contained_crashes > 10')" -eq 1 ]
}
