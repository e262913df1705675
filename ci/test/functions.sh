#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that no function has more than 60 lines, unless the comment before it contains "long:" and
# a reason: ci/test/functions.sh [FOLDER]. Relies on clang-format's layout: a body begins after a
# line that ends in "{", and ends at the next "}" with the indentation of that line.
# Exit codes: 0 none is longer, 1 some are; each is printed.
set -eu
cd "${1:-$(dirname "$0")/../..}"
# shellcheck disable=SC2016  # they are awk's
git ls-files '*.cc' '*.h' | xargs awk '
  function indent(line) { match(line, /^ */); return RLENGTH }
  FNR == 1 { begin = 0; reason = 0; signature = "" }
  begin && /^ *}/ && indent($0) == depth {
    if (FNR - begin - 1 > 60 && !excused) {
      printf "%s:%d: %d lines: %s\n", FILENAME, begin, FNR - begin - 1, name
      long = 1
    }
    begin = 0
    next
  }
  begin { next }
  /^ *\/\// { if (/long:/) reason = 1; next }
  # A declaration of several lines has the indentation of its first line.
  /[({,=]$/ || /\)( const| override| noexcept)* {$/ {
    if (signature == "" || indent($0) <= depth) { signature = $0; depth = indent($0) }
  }
  /\)( const| override| noexcept| final)* ?{$/ || /^ +: .*{$/ {
    if ($0 !~ /^ *(if|for|while|switch|else|} else|do|namespace|class|struct|enum|union|extern)\>/) {
      if (signature == "") { signature = $0; depth = indent($0) }
      if (/^ +: /) { depth = indent($0) - 4; signature = previous }
      begin = FNR; excused = reason; name = signature; sub(/^ */, "", name)
    }
  }
  { previous = $0 }
  /[;}]$/ || /{$/ { signature = ""; reason = 0 }
  END { exit long }'
