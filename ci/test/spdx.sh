#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that each source names its licence in one of its first three lines: ci/test/spdx.sh
# [FILE...] (default: all sources that git tracks). Prints those that do not.
# Exit codes: 0 all do, 1 some do not, 2 a file cannot be read.
set -eu
cd "$(dirname "$0")/../.."
[ "$#" -gt 0 ] || {
  # shellcheck disable=SC2046  # no file of this tree has a blank in its name
  set -- $(git ls-files '*.cc' '*.h' '*.h.in' '*.inc' '*.java' '*.groovy' '*.js' '*.xsl' '*.sh' '*.bash' '*.bats' \
    '*.cmake' CMakeLists.txt '*/CMakeLists.txt' .ci/run \
    'ci/examples/*')
}
awk 'FNR <= 3 && /SPDX-License-Identifier: Apache-2\.0/ { named[FILENAME] = 1 }
  END {
    for (i = 1; i < ARGC; i++)
      if (!(ARGV[i] in named)) { print ARGV[i] ": no SPDX-License-Identifier"; missing = 1 }
    exit missing
  }' "$@"
