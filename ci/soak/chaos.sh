# SPDX-License-Identifier: Apache-2.0
# Fault injection: fuzz runs meet the accidents that a nightly job may meet. Children and parents
# are killed, children and parents are stopped for seconds, disks of all sizes run full, system
# calls fail one by one, processes and memory run out. Fails if a printed finding is missing in the
# run folder, if an accident becomes a finding, if an exit code is wrong, or if processes or
# temporary files are left. Kinds: children, parents, stops, disks, faults, processes, memory. Disks,
# processes and memory need root: without it, they are skipped with a message.
# WALKHAMMER_KILLS (default: 100) is the number of children and of parents that are killed.
# shellcheck shell=sh
# shellcheck disable=SC2154  # ci/soak.sh sets them
kills=${WALKHAMMER_KILLS:-100}
jdk=${jdks# }
jdk=${jdk%% *}
export TMPDIR="$work/tmp"
mkdir "$TMPDIR"
ran=0
run=
cleanup() {
  [ -z "$run" ] || kill -KILL "$run" 2>/dev/null || true
  umount "$work/disk" 2>/dev/null || true
  for group in /sys/fs/cgroup/*/walkhammer-soak /sys/fs/cgroup/walkhammer-soak; do
    [ ! -d "$group" ] || rmdir "$group" || true
  done
}

# between LEAST MOST: prints a random number from LEAST to MOST.
between() {
  echo $(($1 + $(od -An -N2 -tu2 /dev/urandom) % ($2 - $1 + 1)))
}

pause() { # of $1 to $2 milliseconds
  sleep "$(between "$1" "$2" | awk '{ print $1 / 1000 }')"
}

# begin FOLDER ARGUMENT...: starts a run in the background, as $run. Its stdout goes to $work/text,
# its stderr to $work/log.
begin() {
  folder=$1
  shift
  "$walkhammer" fuzz --scene c2 --no-confirm --no-minimize --no-coverage \
    ${jdk:+--jdk "$jdk"} --out "$folder" "$@" >"$work/text" 2>"$work/log" &
  run=$!
}

# finish: waits for $run; its exit code goes to $code.
finish() {
  code=0
  wait "$run" || code=$?
  run=
}

children_of() {
  pgrep -P "$1" || true
}

# Checks that every bucket that was printed as new is in the run folder.
check_kept() {
  sed -n 's/^.*new at [^:]*: \[[A-Za-z]*\] \(.*\) ([a-z-]*)$/\1/p' "$work/log" | sort -u >"$work/said"
  { [ ! -e "$1/run.db" ] || ask "$1" 'SELECT title FROM bucket'; } | sort -u >"$work/kept"
  lost=$(comm -23 "$work/said" "$work/kept")
  [ -z "$lost" ] || fail "$2: printed, but not in the run folder: $lost"
}

forbidden_in() {
  ask "$1" "SELECT group_concat(DISTINCT title) FROM bucket JOIN finding ON bucket = bucket.id
    WHERE grade = 'Forbidden'"
}

# Checks that a run of a correct walker has no Forbidden finding, and exit code 0.
check_innocent() {
  [ "$code" -eq 0 ] || fail "$2: exit code $code: $(tail -n 1 "$work/log")"
  blamed=$(forbidden_in "$1")
  [ -z "$blamed" ] || fail "$2: accidents became findings: $blamed"
}

# Checks that no process and no temporary file is left.
check_clean() {
  left=$(find "$TMPDIR" -mindepth 1 -maxdepth 1 | wc -l)
  [ "$left" -le "$2" ] || fail "$1: $left temporary folders are left"
}

# Waits until $run has walked: a run whose first children all die would end.
await_walks() {
  for second in $(seq 120); do
    [ "$(ask "$1" 'SELECT walks FROM run' 2>/dev/null || echo 0)" -eq 0 ] 2>/dev/null || return 0
    sleep 1
  done
  fail "the run did not walk within $second seconds"
}

# Kind: kills $kills children of one run.
children() {
  begin "$work/children" --walker asgst --workers 2 --time 24h
  await_walks "$work/children"
  killed=0
  while [ "$killed" -lt "$kills" ]; do
    pause 100 1000
    child=$(children_of "$run" | sort -R | head -n 1)
    kill -0 "$run" 2>/dev/null || break
    [ -n "$child" ] || continue
    kill -KILL "$child" 2>/dev/null && killed=$((killed + 1))
  done
  kill -INT "$run" 2>/dev/null || true
  finish
  [ "$killed" -eq "$kills" ] || fail "children: the run ended after $killed of $kills kills"
  check_innocent "$work/children" children
  check_clean children 0
  echo "children: $killed killed; notes: $(ask "$work/children" \
    "SELECT group_concat(kind || ' ' || name || ' ' || count, '; ') FROM note")"
}

# Kind: kills whole runs, each within its first seconds.
parents() {
  for i in $(seq "$kills"); do
    begin "$work/parent" --walker agct --workers 2 --time 24h
    pause 500 3000
    orphans=$(children_of "$run")
    kill -KILL "$run"
    finish
    for second in 1 2 3 4 5 6; do
      alive=
      for orphan in $orphans; do ! kill -0 "$orphan" 2>/dev/null || alive=$orphan; done
      [ -n "$alive" ] || break
      sleep 1
    done
    [ -z "$alive" ] || fail "parents: child $alive outlived its parent by $second seconds"
    check_kept "$work/parent" "parents, run $i"
    if [ -e "$work/parent/run.db" ]; then
      "$walkhammer" report "$work/parent" >/dev/null || [ "$?" -ne 2 ] ||
        fail "parents: the folder of run $i cannot be read"
    fi
    rm -rf "$work/parent"
  done
  check_clean parents 1
  echo "parents: $kills killed"
}

# Kind: stops children and parents for seconds.
stops() {
  begin "$work/stops" --walker asgst --workers 2 --time 45s
  for target in child parent child parent; do
    pause 3000 6000
    process=$run
    [ "$target" = parent ] || process=$(children_of "$run" | head -n 1)
    [ -n "$process" ] || continue
    kill -STOP "$process"
    sleep 4
    kill -CONT "$process"
  done
  finish
  check_innocent "$work/stops" stops
  check_clean stops 0
  echo "stops: 4 of 4 s each"
}

# Kind: runs on disks from 16 KiB to 16 MiB, which run full.
disks() {
  [ "$(id -u)" -eq 0 ] || { echo 'disks: skipped, mounting needs root'; return 0; }
  mkdir -p "$work/disk"
  for kib in 16 64 128 256 512 1024 2048 4096 8192 16384; do
    mount -t tmpfs -o "size=${kib}k" none "$work/disk"
    for place in out tmp; do
      full=$work/full
      [ "$place" = tmp ] || full=$work/disk/run
      temporary=$work/tmp
      [ "$place" = out ] || temporary=$work/disk
      TMPDIR=$temporary begin "$full" --walker agct --workers 2 --walks 200000 --time 2m
      finish
      case $code in
        0 | 1) ;;
        2 | 4)
          grep -qi 'no space\|full\|cannot' "$work/log" "$work/text" ||
            fail "disks: $place of $kib KiB: exit code $code without the reason"
          ;;
        *) fail "disks: $place of $kib KiB: exit code $code" ;;
      esac
      check_kept "$full" "disks, $place of $kib KiB"
      rm -rf "$full"
    done
    umount "$work/disk"
  done
  check_clean disks 0
  echo 'disks: of 16 KiB to 16 MiB'
}

# Runs in which one system call fails, or all later ones fail, too, or every second of these; see
# harness/process/testing/faults.cc. Tries later and later calls, until a run ends before any fails.
faults() {
  preload=$(dirname "$walkhammer")/libfaults.so
  [ -e "$preload" ] || { echo "faults: skipped, there is no $preload"; return 0; }
  tried=0
  for fault in disk-full no-process interrupted; do
    for every in 0 1 2; do
      # No real system interrupts each call endlessly.
      [ "$fault $every" != "interrupted 1" ] || continue
      at=1
      while :; do
        rm -f "$work/hit"
        WALKHAMMER_FAULT="$fault:$at,$every" WALKHAMMER_FAULT_HIT="$work/hit" LD_PRELOAD="$preload" \
          begin "$work/fault" --walker agct --workers 1 --walks 3000 --time 2m
        finish
        case $code in
          0 | 1) ;;
          2 | 3 | 4) [ -s "$work/log" ] || [ -s "$work/text" ] ||
            fail "faults: $fault:$at,$every: exit code $code without a word" ;;
          *) fail "faults: $fault:$at,$every: exit code $code: $(tail -n 1 "$work/log")" ;;
        esac
        if [ "$fault" = interrupted ] && [ "$code" -gt 1 ]; then
          fail "faults: $fault:$at,$every: exit code $code: $(tail -n 1 "$work/log")"
        fi
        check_kept "$work/fault" "faults, $fault:$at,$every"
        deaths=$(ask "$work/fault" "SELECT COUNT(*) FROM finding WHERE oracle = 'survival'" \
          2>/dev/null || echo 0)
        [ "${deaths:-0}" -eq 0 ] || fail "faults: $fault:$at,$every: $deaths accidents became deaths"
        rm -rf "$work/fault"
        tried=$((tried + 1))
        [ -e "$work/hit" ] || break
        at=$((at + 1 + at / 2))
      done
    done
  done
  check_clean faults 0
  echo "faults: $tried runs"
}

# limited KIND FILE_V1 FILE_V2 LIMIT FOLDER ARGUMENT...: a run in a control group with a limit.
# FILE_V1 and FILE_V2 are the names of the limit's file in versions 1 and 2 of control groups.
limited() {
  group=/sys/fs/cgroup/$1/walkhammer-soak
  file=$2
  if [ ! -d "/sys/fs/cgroup/$1" ]; then
    group=/sys/fs/cgroup/walkhammer-soak
    file=$3
  fi
  limit=$4
  shift 4
  mkdir "$group" 2>/dev/null && echo "$limit" >"$group/$file" 2>/dev/null || return 1
  limited=$1
  shift
  # shellcheck disable=SC2016  # that shell's own number
  sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$walkhammer" fuzz --scene c2 \
    --no-confirm --no-minimize --no-coverage ${jdk:+--jdk "$jdk"} \
    --out "$limited" "$@" >"$work/text" 2>"$work/log" &
  run=$!
  finish
  rmdir "$group" || true
}

# Kind: runs with limits from 2 to 60 processes.
processes() {
  for most in 2 8 20 30 40 60; do
    limited pids pids.max pids.max "$most" "$work/few" --walker asgst --workers 3 \
      --time 8s || { echo 'processes: skipped, no control group can be made here'; return 0; }
    case $code in
      0) check_innocent "$work/few" "processes, $most" ;;
      3 | 4) [ -s "$work/log" ] || [ -s "$work/text" ] ||
        fail "processes: $most: exit code $code without a word" ;;
      *) fail "processes: $most: exit code $code: $(tail -n 1 "$work/log")" ;;
    esac
    rm -rf "$work/few"
  done
  check_clean processes 0
  echo 'processes: limits of 2 to 60'
}

# Kind: runs with limits from 60 to 300 MiB; the kernel kills children, which must be no finding.
memory() {
  for mib in 60 120 200 300; do
    limited memory memory.limit_in_bytes memory.max "$((mib << 20))" "$work/small" \
      --walker asgst --workers 2 --time 10s ||
      { echo 'memory: skipped, no control group can be made here'; return 0; }
    blamed=
    [ ! -e "$work/small/run.db" ] || blamed=$(forbidden_in "$work/small")
    [ -z "$blamed" ] || fail "memory: $mib MiB: accidents became findings: $blamed"
    case $code in
      0 | 3 | 4 | 137) ;; # 137: the kernel chose the parent
      *) fail "memory: $mib MiB: exit code $code: $(tail -n 1 "$work/log")" ;;
    esac
    rm -rf "$work/small"
  done
  echo 'memory: limits of 60 to 300 MiB'
}

all='children parents stops disks faults processes memory'
for kind in $kinds; do
  case " $all " in
    *" $kind "*) ;;
    *) usage "expected a kind of $all, got $kind" ;;
  esac
done
for kind in ${kinds:-$all}; do
  "$kind"
  ran=$((ran + 1))
done
echo "$soak: $ran kinds ran"
