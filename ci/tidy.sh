#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs clang-tidy over all but tests and examples; takes minutes, so ci/test.sh leaves it out.
# Files can be named: ci/tidy.sh harness/jvm/images/jdk.cc
set -eu
cd "$(dirname "$0")/.."

cmake --preset asan -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >/dev/null
if [ $# -eq 0 ]; then
  # shellcheck disable=SC2046  # no blanks in the names of our files
  set -- $(git ls-files '*.cc' | grep -vE '_test\.cc$|_bench\.cc$|/testing/|^docs/')
fi
printf '%s\n' "$@" | xargs -n 1 -P "$(nproc)" clang-tidy-14 --quiet -p build/asan
