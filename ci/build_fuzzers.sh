#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Lays the fuzz targets out as OSS-Fuzz and ClusterFuzzLite expect them: call it from the service's
# build.sh. In $OUT, which the service sets:
#   WALKER_fuzzer                  one for each walker of `walkhammer list walkers` that this JDK or
#                                  the reference provider has
#   WALKER_fuzzer_seed_corpus.zip  the reviewed seeds
#   WALKER_fuzzer.options          what libFuzzer and the sanitizers must leave alone
#   WALKER_fuzzer.dict             the words of the .walk format
#   jdk/ lib/ *.jar *.txt          what the targets need at run time, the JVM included
# JAVA_HOME or WALKHAMMER_JDK names the JDK to fuzz; without either, the newest at hand.
# WALKHAMMER_BUILD=DIR takes what is built there.
set -eu
cd "$(dirname "$0")/.."

out=${OUT:?OUT is the folder that the targets go to}
build=${WALKHAMMER_BUILD:-${WORK:-build}/fuzzers}
jdk=${WALKHAMMER_JDK:-${JAVA_HOME:-}}

# Only what the targets need: no tests, no benchmarks.
if [ -z "${WALKHAMMER_BUILD:-}" ]; then
  cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DWALKHAMMER_TESTS=OFF
  cmake --build "$build" --target walk_fuzzer walkhammer asgst scenes_jar
fi

if [ -z "$jdk" ]; then
  # Sorted, the newest last; two blanks end the path.
  jdk=$("$build/walkhammer" list jdks | sed -n '$s/  .*//p')
fi
if [ ! -e "$jdk/lib/server/libjvm.so" ]; then
  echo "build_fuzzers: no JDK at \"$jdk\": set JAVA_HOME" >&2
  exit 3
fi

mkdir -p "$out/lib" "$out/jdk"
# Distributions link their configuration out of the JDK; the target runs elsewhere. What is left out
# may be a link to nowhere, such as the sources beside a headless JDK.
tar -C "$jdk" --dereference --exclude=./jmods --exclude=./lib/src.zip --exclude=./docs \
  --exclude=./man --exclude=./include -cf - . | tar -C "$out/jdk" -xf -
cp "$build/walkhammer-scenes.jar" "$build/jvm_flags.txt" "$build/libasgst.so" "$out/"
# Shared libraries beyond the C library's own, found through the target's run path.
ldd "$build/walk_fuzzer" |
  awk '/=> \// && $1 !~ /^(libc|libm|libdl|librt|libpthread|ld-linux.*)\.so/ { print $3 }' |
  while read -r library; do cp -L "$library" "$out/lib/"; done

# The seeds, without folders: services unpack them flat.
seeds=$(mktemp -d)
trap 'rm -rf "$seeds"' EXIT
find corpora/seeds -name '*.walk' -exec cp {} "$seeds/" \;

# Walkers of provider jdk, but AsyncGetCallTrace, are of JDKs that no distribution has.
"$build/walkhammer" list walkers | sed 's/  .*//' | grep -v '@jdk$' | while read -r walker; do
  target=$out/${walker}_fuzzer
  cp "$build/walk_fuzzer" "$target"
  (cd "$seeds" && zip -q -r - .) >"${target}_seed_corpus.zip"
  cat >"$target.options" <<'OPTIONS'
[libfuzzer]
max_len = 4096
rss_limit_mb = 0
handle_segv = 0
handle_bus = 0
handle_ill = 0
handle_fpe = 0
handle_usr1 = 0
handle_usr2 = 0
[asan]
handle_segv = 0
handle_sigbus = 0
handle_sigill = 0
handle_sigfpe = 0
[ubsan]
handle_segv = 0
handle_sigbus = 0
handle_sigill = 0
handle_sigfpe = 0
OPTIONS
  # Field names and kinds of values as the seeds use them, and the scenes.
  {
    sed -e 's/#.*//' -e 's/"[^"]*"//g' "$seeds"/*.walk | tr -cs 'A-Za-z_-' '\n'
    "$build/walkhammer" list scenes 2>/dev/null | sed -n 's/^\([a-z0-9-]*\)  .*/\1/p'
  } | awk 'length > 2' | sort -u | sed 's/.*/"&"/' >"$target.dict"
  echo "build_fuzzers: $target"
done
