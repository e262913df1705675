#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs clang-tidy over all sources but tests and examples, and looks for unused includes in tests,
# too: ci/test/tidy.sh [FILE...], such as ci/test/tidy.sh harness/jvm/images/jdk.cc. It takes
# minutes, so ci/test.sh does not run it. Unused includes are looked for by clang-tidy-19, which
# ci/setup.sh does not install.
# Exit codes: 0 no warning, another code otherwise; warnings are printed.
set -eu
cd "$(dirname "$0")/../.."

# Headers by which other headers of their library, or of the C library, are included.
stands_for='compare;fmt/.*;toml\\+\\+/.*;g(test|mock)/.*;nlohmann/.*;CLI/.*;sys/.*;(elf|jvmti|link|pthread|ucontext|unistd)\\.h'

# Each file alone, as in no other build. Precompiled headers would have to be built before, and
# would hide missing includes.
cmake --preset asan -B build/tidy -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
  -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON >/dev/null
if [ $# -eq 0 ]; then
  # shellcheck disable=SC2046  # no blanks in the names of our files
  set -- $(git ls-files '*.cc' '*.h' | grep -v '^docs/')
fi

if command -v clang-tidy-19 >/dev/null; then
  # A header that does not compile alone, and a source that this build does not have, such as one
  # for another architecture, are skipped.
  # shellcheck disable=SC2016  # for the inner shell
  unused=$(printf '%s\n' "$@" | STANDS_FOR="$stands_for" xargs -n 1 -P "$(nproc)" sh -c '
    said=$(clang-tidy-19 --quiet -p build/tidy --checks="-*,misc-include-cleaner" --config="
      {CheckOptions: {misc-include-cleaner.IgnoreHeaders: \"$STANDS_FOR\"}}" "$1" 2>/dev/null || true)
    case $said in
      *clang-diagnostic-error*)
        ! grep -qF "/$1\"" build/tidy/compile_commands.json ||
          printf "%s: %s\n" "$1" "$(printf "%s\n" "$said" | grep -m 1 clang-diagnostic-error)" ;;
      *) printf "%s\n" "$said" | grep "is not used directly" ;;
    esac
    true' file | sort -u)
  if [ -n "$unused" ]; then
    echo "$unused"
    exit 1
  fi
else
  echo 'tidy.sh: includes were not looked at: clang-tidy-19 is not installed' >&2
fi

printf '%s\n' "$@" | { grep -vE '_test\.cc$|_bench\.cc$|/testing/|\.h$' || true; } |
  xargs -r -n 1 -P "$(nproc)" clang-tidy-14 --quiet -p build/tidy
