#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the targets that have no JVM in their process, as OSS-Fuzz and ClusterFuzzLite expect them. The
# service sets CC, CXX, CFLAGS, CXXFLAGS (its sanitizer), LIB_FUZZING_ENGINE, SRC, WORK and OUT,
# which receives reference_fuzzer, run_folder_fuzzer, crash_log_fuzzer, the latter's seeds, and
# lib/. The walkers themselves are fuzzed in a stock JVM, which cannot be sanitized:
# ci/setup/build_fuzzers.sh lays those targets out, for services that take targets without a
# sanitizer.
set -eu
cd "${SRC:?}/walkhammer"
targets='reference_fuzzer run_folder_fuzzer crash_log_fuzzer'

# Debian's and Ubuntu's libraries of C++ are built with libstdc++.
CXXFLAGS=$(printf '%s' "${CXXFLAGS:-}" | sed 's/-stdlib=libc++//')
export CXXFLAGS
cmake -S . -B "${WORK:?}/walkhammer" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DWALKHAMMER_TESTS=OFF \
  -DWALKHAMMER_ENGINES=OFF -DWALKHAMMER_SANITIZE=ON -DCMAKE_UNITY_BUILD=ON \
  "-DWALKHAMMER_FUZZING_ENGINE=${LIB_FUZZING_ENGINE:?}" "-DCMAKE_BUILD_RPATH=\$ORIGIN/lib"
# shellcheck disable=SC2086  # a list of words
cmake --build "$WORK/walkhammer" --target $targets

mkdir -p "${OUT:?}/lib"
for target in $targets; do
  cp "$WORK/walkhammer/$target" "$OUT/"
  # The machine that fuzzes has the C library alone. Beside the build there is no lib/ yet.
  ldd "$WORK/walkhammer/$target" |
    awk '/=> \// && $1 !~ /^(libc|libm|libdl|librt|libpthread|ld-linux.*)\.so/ { print $3 }' |
    while read -r library; do cp -L "$library" "$OUT/lib/"; done
done
(cd harness/hs_err/testdata && zip -q -r "$OUT/crash_log_fuzzer_seed_corpus.zip" .)
