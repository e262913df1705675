#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests of the checks of includes, namespaces, licences and lengths, which ci/test.sh runs on the
# tree: each finds a planted violation. Tests of what programs that host a JVM are linked with.

setup() {
  root=$BATS_TEST_DIRNAME/../..
  table=$BATS_TEST_TMPDIR/table
}

# finds SED-SCRIPT WHAT: with the table changed by SED-SCRIPT, the check finds WHAT and nothing
# else.
finds() {
  sed "$1" "$root/docs/architecture.md" >"$table"
  run "$root/ci/includes.sh" "$root" "$table"
  echo "exit code $status: $output"
  [ "$status" -eq 1 ]
  while IFS= read -r line; do [[ "$line" == *"$2"* ]] || return 1; done <<<"$output"
}

@test "a source that does not name its licence" {
  printf '// a\n// b\n// c\n// SPDX-License-Identifier: Apache-2.0\n' >"$BATS_TEST_TMPDIR/late.cc"
  run "$root/ci/test/spdx.sh" "$BATS_TEST_TMPDIR/late.cc"
  [ "$status" -eq 1 ]
  [ "$output" = "$BATS_TEST_TMPDIR/late.cc: no SPDX-License-Identifier" ]
}

# Prints the shell scripts that say `#!` and cannot be executed, or the reverse.
wrong_modes() {
  find "$1" -name '*.sh' | sort | while read -r file; do
    case $(head -c 2 "$file") in
      '#!') [ -x "$file" ] || echo "$file cannot be executed" ;;
      *) [ ! -x "$file" ] || echo "$file cannot be executed alone" ;;
    esac
  done
}

@test "scripts that are commands can be executed" {
  local folder
  for folder in ci workloads; do
    [ "$(find "$root/$folder" -name '*.sh' | wc -l)" -gt 2 ]
    run wrong_modes "$root/$folder"
    echo "$output"
    [ -z "$output" ]
  done
  mkdir "$BATS_TEST_TMPDIR/planted"
  cp "$root/ci/test/spdx.sh" "$root/ci/setup/lib_rows.sh" "$BATS_TEST_TMPDIR/planted"
  chmod -x "$BATS_TEST_TMPDIR/planted/spdx.sh"
  chmod +x "$BATS_TEST_TMPDIR/planted/lib_rows.sh"
  run wrong_modes "$BATS_TEST_TMPDIR/planted"
  [ "${#lines[@]}" -eq 2 ]
}

# dangling FILE...: prints the scripts and tests of ci/ that FILEs name and that do not exist.
dangling() {
  grep -ohE '(^|[^A-Za-z0-9_.])ci/[A-Za-z0-9_/-]+\.[a-z]+' "$@" | sed 's,.*ci/,ci/,' | sort -u |
    while read -r path; do [ -e "$path" ] || echo "$path"; done
}

@test "what files name below ci exists" {
  cd "$root"
  git ls-files >"$table"
  mapfile -t files <"$table"
  run dangling "${files[@]}"
  echo "$output"
  [ -z "$output" ]
  printf 'see ci/%s, "ci/%s", ci/test.sh.\n' none.sh test/none.bats >"$table"
  run dangling "$table"
  [ "$output" = "$(printf 'ci/%s\n' none.sh test/none.bats)" ]
}

@test "an include that no row names, rows that name what they must not, a folder without a row" {
  finds '/^| .harness\/store. /s/findings, //' 'store may not include findings (harness/findings/'
  finds '/^| .harness\/base. /s/-/cli/' 'base names cli, which '
  finds '/^| .harness\/store. /s/base,/base, guard,/' 'store names guard, which it does not include'
  finds '/^| .workloads. /d' workloads
}

@test "a source in another folder's namespace" {
  mkdir -p "$BATS_TEST_TMPDIR/tree/harness/asgst/walk" "$BATS_TEST_TMPDIR/tree/stress"
  cd "$BATS_TEST_TMPDIR/tree"
  git init -q
  printf '#include "harness/base/a.h"\nnamespace walkhammer {\n' >harness/asgst/walk/bad.cc
  printf 'namespace walkhammer::asgst {\n' | tee harness/asgst/walk/good.cc >stress/worse.cc
  git add .
  run "$root/ci/includes.sh" "$PWD" "$root/docs/architecture.md"
  echo "$output"
  [ "$status" -eq 1 ]
  grep -qx 'harness/asgst/walk/bad.cc is in walkhammer, not in walkhammer::asgst' <<<"$output"
  grep -qx 'stress/worse.cc is in walkhammer::asgst, not in walkhammer::stress' <<<"$output"
  [[ "$output" != *good.cc* ]]
}

@test "a function that is too long, and one that says why" {
  mkdir "$BATS_TEST_TMPDIR/tree"
  cd "$BATS_TEST_TMPDIR/tree"
  git init -q
  body() { yes '  Do();' | head -n "$1"; }
  # NAME LINES BEFORE: writes a function in each form that a definition can have.
  {
    printf 'void Fits() {\n%s\n}\n\n' "$(body 60)"
    printf 'void Wide(int first,\n          int second) {\n%s\n}\n\n' "$(body 61)"
    printf 'Built::Built()\n    : one_(1) {\n%s\n}\n\n' "$(body 61)"
    printf 'class Holder {\n  int Inside() const {\n%s\n  }\n};\n\n' "$(body 61)"
    printf '// long: a table.\nvoid Excused() {\n%s\n}\n\nnamespace n {\n%s\n}\n' "$(body 61)" "$(body 61)"
  } >tree.cc
  git add tree.cc
  run "$root/ci/test/functions.sh" "$PWD"
  echo "$output"
  [ "$status" -ne 0 ]
  [ "${#lines[@]}" -eq 3 ]
  [[ "${lines[0]}" == *'61 lines: void Wide('* ]]
  [[ "${lines[1]}" == *'61 lines: Built::Built()'* ]]
  [[ "${lines[2]}" == *'61 lines: int Inside() const'* ]]
}

# marks_of LIBRARY: a pattern for the symbols of a library of docs/architecture.md, and a program
# that has such symbols. Nothing: what hosts a JVM may have the library. Fails for any other name.
marks_of() {
  case $1 in
    CLI11) echo '[ (<]CLI::' walkhammer ;;
    nlohmann-json) echo '[ (<]nlohmann::' walkhammer ;;
    Boost.Math) echo '[ (<]boost::' walkhammer ;;
    toml++) echo '[ (<]toml::' walkhammer ;;
    SQLite) echo '[ (<](sqlite3_|walkhammer::RunWriter::)' walkhammer ;;
    zlib) echo '[ (<]inflateInit2_' walkhammer ;;
    GoogleTest) echo '[ (<]testing::' guard_test ;;
    'Google Benchmark') echo '[ (<]benchmark::' walk_bench ;;
    fmt | Capstone | 'elfutils (libelf' | 'libdw)') ;;
    libFuzzer | AFL++ | bats) ;; # an engine hosts the JVM itself; bats is a program
    *) return 1 ;;
  esac
}

@test "what hosts a JVM carries no library but those that docs/architecture.md allows" {
  build=$(dirname "${WALKHAMMER:-$root/build/release/walkhammer}")
  sed -n '/^## Libraries/,/^What hosts/s/^| \([^|]*[^ |]\) *|.*/\1/p' "$root/docs/architecture.md" |
    sed -e 1,2d -e 's/, /\n/g' >"$BATS_TEST_TMPDIR/libraries"
  [ "$(wc -l <"$BATS_TEST_TMPDIR/libraries")" -ge 13 ]
  while read -r library; do
    echo "library $library"
    marks=$(marks_of "$library")
    [ -n "$marks" ] || continue
    nm -C "$build/${marks##* }" >"$table" # the pattern finds the library where it is
    grep -qE "${marks% *}" "$table"
    echo "${marks% *}" >>"$BATS_TEST_TMPDIR/marks"
  done <"$BATS_TEST_TMPDIR/libraries"
  for host in walkhammer_child libwalkhammer_agent.so walk_fuzzer walk_afl libasgst.so \
    libexample_profiler.so; do
    nm -C "$build/$host" >"$table"
    [ -s "$table" ]
    if grep -m 1 -Ef "$BATS_TEST_TMPDIR/marks" "$table"; then return 1; fi
    others=$(readelf -d "$build/$host" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
      grep -vE '^(lib(c|m|dl|pthread|stdc\+\+|gcc_s|elf|dw|capstone|fmt|asgst)|ld-linux.*)\.so' || true)
    echo "$host: ${others:-nothing else}"
    [ -z "$others" ]
  done
}
