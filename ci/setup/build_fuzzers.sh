#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Lays the fuzz targets out as OSS-Fuzz and ClusterFuzzLite expect them. The service's build.sh
# calls this script and sets $OUT, the folder that receives:
#   WALKER_fuzzer                  one for each walker of `walkhammer show walkers` that this JDK or
#                                  the reference provider has
#   WALKER_fuzzer_seed_corpus.zip  the reviewed seeds
#   WALKER_fuzzer.options          signals that libFuzzer and the sanitizers must not handle
#   WALKER_fuzzer.dict             the words of the .walk format
#   jdk/ lib/ *.jar *.txt          what the targets need at run time, the JVM included
# JAVA_HOME or WALKHAMMER_JDK names the JDK to fuzz (default: the newest JDK of this machine).
# WALKHAMMER_BUILD=DIR uses the build in DIR instead of making one.
set -eu
[ "${1:-}" != --help ] || exec sed -n '3,/^set/s/^# \{0,1\}//p' "$0"
cd "$(dirname "$0")/../.."

out=${OUT:?OUT is the folder that the targets go to}
build=${WALKHAMMER_BUILD:-${WORK:-build}/fuzzers}
jdk=${WALKHAMMER_JDK:-${JAVA_HOME:-}}

# Builds only what the targets need: no tests, no benchmarks.
if [ -z "${WALKHAMMER_BUILD:-}" ]; then
  cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DWALKHAMMER_TESTS=OFF
  cmake --build "$build" --target walk_fuzzer walkhammer asgst scenes_jar
fi

if [ -z "$jdk" ]; then
  # The list is sorted, the newest JDK last; two spaces end the path.
  jdk=$("$build/walkhammer" show jdks | sed -n '$s/  .*//p')
fi
if [ ! -e "$jdk/lib/server/libjvm.so" ]; then
  echo "build_fuzzers: no JDK at \"$jdk\": set JAVA_HOME" >&2
  exit 3
fi

mkdir -p "$out/lib" "$out/jdk"
# Links are followed: distributions keep the JDK's configuration outside of the JDK, and the target
# runs on another machine. The excluded entries may be dangling links, such as the sources of a
# headless JDK.
tar -C "$jdk" --dereference --exclude=./jmods --exclude=./lib/src.zip --exclude=./docs \
  --exclude=./man --exclude=./include -cf - . | tar -C "$out/jdk" -xf -
cp "$build/walkhammer-scenes.jar" "$build/jvm_flags.txt" "$build/libasgst.so" "$out/"
# Shared libraries other than those of the C library; the target's run path leads to lib/.
ldd "$build/walk_fuzzer" |
  awk '/=> \// && $1 !~ /^(libc|libm|libdl|librt|libpthread|ld-linux.*)\.so/ { print $3 }' |
  while read -r library; do cp -L "$library" "$out/lib/"; done

# The seeds lie in one folder: services unpack them flat.
seeds=$(mktemp -d)
trap 'rm -rf "$seeds"' EXIT
find corpora/seeds -name '*.walk' -exec cp {} "$seeds/" \;

# No distribution has a JDK with the walkers of provider jdk, except for AsyncGetCallTrace.
# Nor do profilers' libraries come with a JDK.
"$build/walkhammer" show walkers | grep -v -e '--provider ' -e 'for stress alone' | sed 's/  .*//' | grep -v '@jdk$' | while read -r walker; do
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
  # The dictionary: names of fields and kinds of values that occur in the seeds, and names of
  # scenes.
  {
    sed -e 's/#.*//' -e 's/"[^"]*"//g' "$seeds"/*.walk | tr -cs 'A-Za-z_-' '\n'
    "$build/walkhammer" show scenes 2>/dev/null | sed -n 's/^\([a-z0-9-]*\)  .*/\1/p'
  } | awk 'length > 2' | sort -u | sed 's/.*/"&"/' >"$target.dict"
  echo "build_fuzzers: $target"
done
