#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Frozen states: import --walk, against what the JVM itself said of the same threads.
# shellcheck disable=SC2034,SC2154  # lib.bash sets these; loops count

load lib

setup_file() {
  export frozen=$BATS_FILE_TMPDIR
  mkdir "$frozen/classes"
  cat >"$frozen/Frozen.java" <<'JAVA'
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;

public class Frozen {
  static volatile long sink;

  interface Work {
    void run() throws Exception;
  }

  static void start(String name, Work work) {
    Thread thread = new Thread(name) {
      public void run() {
        try {
          work.run();
        } catch (Exception e) {
          throw new AssertionError(e);
        }
      }
    };
    thread.setDaemon(true);
    thread.start();
  }

  static int deep(int n) throws Exception {
    if (n > 0) return deep(n - 1) + 1;
    Thread.sleep(1000000);
    return 0;
  }

  static void eXcape() throws Exception {
    deep(1);
  }

  static int spin(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) sum += i * 31 ^ (i >> 3);
    return sum;
  }

  static void busy() {
    while (true) sink += spin(1000);
  }

  public static void main(String[] args) throws Exception {
    Object lock = new Object();
    start("deep", new Work() { public void run() throws Exception { deep(50); } });
    start("deeper", new Work() { public void run() throws Exception { deep(6000); } });
    start("escape", new Work() { public void run() throws Exception { eXcape(); } });
    start("parked", new Work() { public void run() { while (true) LockSupport.park(); } });
    start("queue", new Work() { public void run() throws Exception { new LinkedBlockingQueue<String>().take(); } });
    start("waits", new Work() { public void run() throws Exception { synchronized (lock) { lock.wait(); } } });
    start("busy", new Work() { public void run() { busy(); } });
    Thread.sleep(2000);
    System.out.println("ready");
    Thread.sleep(1000000);
  }
}
JAVA
  local home
  for home in /usr/lib/jvm/*; do
    [ -x "$home/bin/javac" ] || continue
    "$home/bin/javac" --release 8 -Xlint:-options -g -d "$frozen/classes" "$frozen/Frozen.java" && break
  done
  # A name that a terminal would obey: javac makes none.
  sed -i 's/eXcape/e\x1bcape/' "$frozen"/classes/Frozen*.class
}

setup() {
  [[ $(cat /proc/sys/kernel/core_pattern) == core* ]] ||
    skip 'this machine writes no core into the working folder (core_pattern)'
  [ -e "$frozen/classes/Frozen.class" ] || skip 'no JDK with a compiler'
  out=$BATS_TEST_TMPDIR
  jdk=/usr/lib/jvm/java-17-openjdk-amd64
}

# freeze JDK SIGNAL THREAD: runs Frozen, keeps a thread dump as $dump, sends the signal to a thread
# and waits for $core.
freeze() {
  local folder=$frozen/${1##*/}-$2
  dump=$folder/dump core=$folder/core log=$folder/hs_err.log
  [ ! -e "$core" ] || return 0
  [ -d "$1" ] || skip "no $1"
  mkdir -p "$folder"
  (
    cd "$folder" || exit
    ulimit -c unlimited
    exec "$1/bin/java" -Xmx64m "-XX:ErrorFile=$log" -cp "$frozen/classes" Frozen 3>&-
  ) >"$folder/said" 2>&1 &
  local pid=$! waited
  for waited in {1..240}; do
    ! grep -q ready "$folder/said" || break
    sleep 0.25
  done
  kill -QUIT "$pid"
  for waited in {1..80}; do
    ! grep -q 'object space\|region size\|Metaspace' "$folder/said" || break
    sleep 0.25
  done
  cp "$folder/said" "$dump"
  kill "-$2" "$(thread_of "$3")"
  wait "$pid" || true
  mv "$folder"/core* "$core" 2>/dev/null || true
  [ -s "$core" ] || {
    tail "$folder/said"
    return 1
  }
}

# thread_of NAME: the thread's id, by the dump.
thread_of() {
  local id
  id=$(sed -n "s/^\"$1\" .* nid=\([0-9a-fx]*\) .*/\1/p" "$dump")
  echo $((id))
}

# expected NAME...: what the JVM's dump says of the threads' frames, as an expectation.
expected() {
  local name
  for name; do
    echo "thread $(thread_of "$name")"
    sed -n "/^\"$name\" /,/^\$/s/^[[:space:]]*at \([^(]*\)(\(.*:\([0-9]*\)\)\{0,1\}.*).*/\1 :\3/p" "$dump" |
      sed 's/ :$//'
  done
}

# stands_still JDK: checks the threads that stand still.
stands_still() {
  freeze "$1" ABRT main
  expected deep parked queue waits main >"$out/dump"
  [ "$(grep -c '^thread [1-9]' "$out/dump")" -eq 5 ]
  [ "$(grep -c '^Frozen.deep :' "$out/dump")" -eq 51 ]
  run -0 "$walkhammer" import --walk "$core" --expect "$out/dump"
  [[ $output == "5 stacks as expected, 0 differences, "* ]]
  # One wrong frame, one that is missing, one too many.
  sed '0,/Frozen.deep :/s//Frozen.other :/' "$out/dump" >"$out/wrong"
  run -1 "$walkhammer" import --walk "$core" --expect "$out/wrong"
  [[ $output == "thread $(thread_of deep) registers differs at frame "[13]$'\n'* ]] # of 17, of 25
  [[ $output == *"expected  Frozen.other :"*"walked    Frozen.deep(I)I @"* ]]
  [[ ${lines[-1]} == "4 stacks as expected, 1 difference, "* ]]
  sed '0,/^Frozen.deep :/{//d}' "$out/dump" >"$out/wrong"
  run -1 "$walkhammer" import --walk "$core" --expect "$out/wrong"
  echo 'java.lang.Thread.start' | cat "$out/dump" - >"$out/wrong"
  run -1 "$walkhammer" import --walk "$core" --expect "$out/wrong"
  [[ $output == *"walked    nothing"* ]]
}

@test "threads that stand still have the frames of the JVM's own dump (17)" {
  stands_still "$jdk"
}

@test "threads that stand still have the frames of the JVM's own dump (25)" {
  stands_still /usr/lib/jvm/temurin-25-jdk-amd64
}

@test "what a walk writes is what it expects, and a change is a difference" {
  freeze "$jdk" ABRT main
  run -0 "$walkhammer" import --walk "$core" --native --write "$out/stacks"
  grep -q '^  Frozen.busy()V @[0-9]* :[0-9]* c2$' "$out/stacks"
  grep -q '^  libc.so.6+0x[0-9a-f]* c' "$out/stacks"
  run -0 "$walkhammer" import --walk "$core" --native --expect "$out/stacks"
  run -1 "$walkhammer" import --walk "$core" --expect "$out/stacks" # without frames of C code
  sed 's/ c2$/ c1/' "$out/stacks" >"$out/wrong"
  run -1 "$walkhammer" import --walk "$core" --native --expect "$out/wrong" --json
  [ "$(jq '.comparison.differences | length' <<<"$output")" -ge 1 ]
  sed 's/^end .*/end unreadable/' "$out/stacks" >"$out/wrong"
  run -1 "$walkhammer" import --walk "$core" --native --expect "$out/wrong"
}

@test "a crash in Java code has the frames of its hs_err log" {
  freeze "$jdk" SEGV busy
  local thread
  thread=$(thread_of busy)
  {
    echo "thread $thread signal"
    # The log gives bytecode indices of interpreted frames alone.
    sed -n 's/^J [0-9]*%\{0,1\} c[12] \(Frozen[^ ]*\) .*/\1/p; s/^j  \(Frozen[^ ]*\)+\([0-9]*\)$/\1 @\2 interpreted/p' "$log" |
      awk '!seen[$0]++'
  } >"$out/log"
  cat "$out/log"
  [ "$(grep -c '^Frozen' "$out/log")" -ge 3 ]
  run -0 "$walkhammer" import --walk "$core" --tid "$thread" --expect "$out/log"
  [[ $output == "1 stack as expected, 0 differences, 1 without an expectation" ]]
  sed -i 's/^Frozen.busy()V/Frozen.spin(I)I/' "$out/log"
  run -1 "$walkhammer" import --walk "$core" --tid "$thread" --expect "$out/log"
}

@test "names in a core give no commands to a terminal, and long stacks are cut" {
  freeze "$jdk" ABRT main
  run -0 "$walkhammer" import --walk "$core"
  [[ $output == *'  Frozen.e?cape()V @'* ]]
  [[ $output != *$'\x1b'* ]]
  run -0 "$walkhammer" import --walk "$core" --tid "$(thread_of deeper)"
  [[ ${lines[-1]} == "end depth" ]]
  [ "${#lines[@]}" -eq $((4096 + 3)) ]
  run -0 "$walkhammer" import --walk "$core" --json
  [[ $output != *$'\x1b'* ]]
}

@test "walk refuses what it cannot read, in one sentence" {
  freeze "$jdk" ABRT main
  mkfifo "$out/pipe"
  : >"$out/empty"
  echo 'thread main' >"$out/nonsense"
  head -c 100000 "$core" >"$out/cut"
  for file in "$out/pipe" "$out/empty" "$out/nonsense" "$out" /bin/ls; do
    refuses 2 'is not a core of a 64-bit process' import --walk "$file"
  done
  refuses 2 'No such file' import --walk "$out/missing"
  refuses 2 'cut off' import --walk "$out/cut"
  refuses 2 'line 1' import --walk "$core" --expect "$out/nonsense"
  refuses 2 'not a regular file' import --walk "$core" --expect "$out/pipe"
  refuses 2 'expects nothing' import --walk "$core" --expect "$out/empty"
  refuses 2 'has no Java thread 1' import --walk "$core" --tid 1
  refuses 2 'takes the id of a thread' import --walk "$core" --tid main
  refuses 2 'is not a JDK' import --walk "$core" --jdk "$out"
  refuses 2 'files is required' import --walk
  refuses 2 'takes one core at a time' import --walk "$core" "$core"
}

@test "walk says what this machine lacks, and when nothing was walked" {
  freeze "$jdk" ABRT main
  cp "$(dirname "$walkhammer")/libasgst.so" "$out/libjvm.so"
  refuses 3 'is another build than the one in this core' import --walk "$core" --modules "$out"
  (cd "$out" && ulimit -c unlimited && sh -c 'kill -ABRT $$') || true
  refuses 3 'no libjvm.so was mapped' import --walk "$out"/core*
  refuses 4 'nothing was walked' import --walk "$core" --tid "$(thread_of 'Signal Dispatcher')"
}
