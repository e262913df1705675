# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# The clients of harness/asgst/testing/clients, for ci/test/clients.bats and soaks. $walkhammer is
# the executable, with libasgst.so and the clients beside it.
# shellcheck disable=SC2154  # the callers set it

# run_java HOME ARGUMENT...: starts the JDK, by the loader of its own C library if it has one, and
# ends it after $java_limit seconds.
run_java() (
  home=$(realpath "$1")
  shift
  root=${home%/usr/lib/jvm/*}
  loader=$root/lib64/ld-linux-x86-64.so.2
  if [ -n "$root" ] && [ "$root" != "$home" ] && [ -e "$loader" ]; then
    # JDK 8 finds its home by where the program lies: there is a link to the loader.
    [ ! -e "$home/bin/${loader##*/}" ] || loader=$home/bin/${loader##*/}
    set -- "$loader" --library-path \
      "$root/usr/lib/x86_64-linux-gnu:$root/usr/lib64:$root/lib64" "$home/bin/java" "$@"
  else
    set -- "$home/bin/java" "$@"
  fi
  exec timeout "${java_limit:-90}" "$@"
)

# feature HOME: prints the JDK's feature version.
feature() {
  run_java "$1" -version 2>&1 | sed -n 's/.* version "\(1\.\)\{0,1\}\([0-9]*\).*/\2/p'
}

# run_client HOME CLIENT OPTION SECONDS THREADS PROGRAM [FLAG...]: the client on a torture program,
# in a folder of its own.
run_client() (
  home=$1 agent=lib$2_client.so${3:+=$3} seconds=$4 threads=$5 program=$6
  shift 6
  build=$(dirname "$walkhammer")
  java_limit=$((${java_limit:-90} + seconds))
  run_java "$home" "$@" "-agentpath:$build/libasgst.so" \
    "-agentpath:$build/$agent" \
    -cp "$build/walkhammer-torture.jar" wh.torture.Main "$program" --seconds "$seconds" \
    --threads "$threads"
)

# number WORD FILE...: the sum of the numbers behind this word in the clients' lines.
number() {
  word=$1
  shift
  cat "$@" | sed -n "s/^[a-z-]*:.* $word \([0-9]*\).*/\1/p" | awk '{ n += $1 } END { print n + 0 }'
}
