#!/usr/bin/env bats
# Who includes whom, and what hosts a JVM: the checks hold, and find what they are there to find.

setup() {
  root=$BATS_TEST_DIRNAME/..
  table=$BATS_TEST_TMPDIR/table
}

# finds SED-SCRIPT WHAT: in a table that was changed so, and nothing else.
finds() {
  sed "$1" "$root/docs/architecture.md" >"$table"
  run "$root/ci/includes.sh" "$root" "$table"
  echo "exit code $status: $output"
  [ "$status" -eq 1 ]
  while IFS= read -r line; do [[ "$line" == *"$2"* ]] || return 1; done <<<"$output"
}

@test "the sources hold to the table" {
  run "$root/ci/includes.sh"
  echo "$output"
  [ "$status" -eq 0 ]
  [ -z "$output" ]
}

@test "an include that no row names" {
  finds '/^| .harness\/store. /s/findings, //' 'store may not include findings (harness/findings/'
}

@test "a row that names what is above it" {
  finds '/^| .harness\/base. /s/-/cli/' 'base names cli, which '
}

@test "a row that names what its folder does not include" {
  finds '/^| .harness\/store. /s/base,/base, guard,/' 'store names guard, which it does not include'
}

@test "a folder without a row" {
  finds '/^| .workloads. /d' workloads
}

@test "what hosts a JVM carries no command line and no run store" {
  build=$(dirname "${WALKHAMMER:-$root/build/release/walkhammer}")
  nm -C "$build/walkhammer" >"$table" # which has both
  grep -q 'CLI::' "$table"
  grep -q 'RunDb::' "$table"
  for host in walkhammer_child libwalkhammer_agent.so walk_fuzzer walk_afl; do
    [ -e "$build/$host" ]
    nm -C "$build/$host" >"$table"
    if grep -m 1 -e 'CLI::' -e 'RunDb::' -e 'sqlite3_' "$table"; then return 1; fi
    others=$(readelf -d "$build/$host" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
      grep -vE '^(lib(c|m|dl|pthread|stdc\+\+|gcc_s|elf|dw|capstone|fmt)|ld-linux.*)\.so' || true)
    echo "$host: ${others:-nothing else}"
    [ -z "$others" ]
  done
}
