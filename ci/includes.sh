#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks the sources against the table of folders in docs/architecture.md. A row reads
#   | `harness/jvm/live` | what it holds | base, elf, guard, jvm/structs |
# The last column names folders without `harness/`; `-` is none. The rules: each folder with sources
# has a row; a folder includes exactly the folders that its row names; a row names only folders of
# rows above it, so there is no cycle. Tests, their helpers, benchmarks and the sanitized fuzzers
# are exempt. Namespaces are checked, too: sources of libasgst.so alone, and the fuzzer of its walk,
# are in walkhammer::asgst, those of the agent in walkhammer::stress, all others in walkhammer.
#   ci/includes.sh [ROOT [TABLE]]
# Exit codes: 0 all rules hold, 1 one is broken; each break is printed.
set -eu
cd "${1:-$(dirname "$0")/..}"
{
  sed 's/^/table /' "${2:-docs/architecture.md}"
  git ls-files '*.cc' '*.h' | grep -Ev '_(test|testing|bench|fuzzer)\.|/testing/|^docs/' |
    xargs grep -Eo '^#include "[^"]+/[^"]+"' | sed 's/^/source /'
  git ls-files '*.cc' '*.h' | grep -v '^docs/' |
    xargs grep -Eo '^namespace walkhammer[^ ]*' | sed 's/^/name /'
} | awk '
  function short(path) { sub(/^harness\//, "", path); return path }
  # The folder of a file: its path without the name, which must be a row.
  function folder(path) { sub(/\/[^\/]*$/, "", path); return short(path) }
  function fails(text) { print text; bad = 1 }

  $1 == "table" {
    sub(/^table /, "")
    if (split($0, cell, / *\| */) < 5 || cell[2] !~ /^`[a-z_\/]+`$/) next
    gsub(/`/, "", cell[2])
    name = short(cell[2])
    row[name] = ++rows
    count = split(cell[4], may, /, */)
    for (i = 1; i <= count; i++) {
      gsub(/`| /, "", may[i])
      if (may[i] == "-" || may[i] == "") continue
      allowed[name, may[i]] = 1
      if (!(may[i] in row)) fails(name " names " may[i] ", which has no row above it")
    }
  }
  $1 == "source" {
    sub(/^source /, "")
    split($0, part, /:#include "|"/)
    from = folder(part[1])
    to = folder(part[2])
    if (!(from in row)) {
      if (!reported[from]++) fails(from " has no row")
    } else if (from != to && !((from, to) in allowed)) {
      fails(part[1] ": " from " may not include " to " (" part[2] ")")
    }
    used[from, to] = 1
    sources++
  }
  $1 == "name" {
    split($2, part, ":")
    wanted = part[1] ~ /^harness\/asgst\/|\/reference_fuzzer\./ ? "::asgst" : part[1] ~ /^stress\// ? "::stress" : ""
    if ($3 != "walkhammer" wanted) fails(part[1] " is in " $3 ", not in walkhammer" wanted)
  }
  END {
    for (pair in allowed)
      if (!(pair in used)) {
        split(pair, ends, SUBSEP)
        fails(ends[1] " names " ends[2] ", which it does not include")
      }
    if (sources < 100) fails("only " sources + 0 " includes were seen")
    exit bad
  }'
