#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# One request on many builds: replay's table, bisect, bugs check, bundle. What ci/setup/jdks.sh cannot
# lay out today is skipped, by name.
# shellcheck disable=SC2154  # bats sets stderr and stderr_lines

load lib

setup_file() {
  cd "$BATS_TEST_DIRNAME/../.." || return 1
  export JDKS=$BATS_FILE_TMPDIR/jdks
  mkdir "$JDKS"
  ci/setup/jdks.sh 17.0.2 17.0.9 >"$BATS_FILE_TMPDIR/homes" 2>"$BATS_FILE_TMPDIR/err" || true
  while read -r name home; do
    ln -s "$home" "$JDKS/$name"
  done <"$BATS_FILE_TMPDIR/homes"
  mkdir "$JDKS/no-jdk"
}

setup() {
  truncated=$root/corpora/known-issues/JDK-8302320.walk
  # Breaks wherever it is walked.
  crash=$tmp/crash.walk
  printf 'walk 1\nwalker puzzle-crash\nscene c2\nstate in_Java\npc 0x5\n' >"$crash"
}

need_pair() {
  if [ ! -e "$JDKS/17.0.2" ] || [ ! -e "$JDKS/17.0.9" ]; then
    skip "17.0.2 and 17.0.9 are not available: $(tail -n 1 "$BATS_FILE_TMPDIR/err")"
  fi
}

# query SQL: over $tmp/json, as `text`.
query() {
  sqlite3 :memory: "with document(text) as (select readfile('$tmp/json')) select $1 from document"
}

@test "replay: a row for each build and profile, older builds first" {
  need_pair
  run --separate-stderr "$walkhammer" replay "$truncated" --jdk-dir "$JDKS" --profile serial,g1 --times 1
  echo "$output"
  [ "$status" -eq 1 ]
  [ "${#lines[@]}" -eq 7 ]
  [[ "${lines[3]}" =~ 17\.0\.2\ +serial\ +1\ of\ 1\ +1\ x\ 23\ frames,\ 1\ x\ truth/truncated ]]
  [[ "${lines[4]}" =~ 17\.0\.2\ +g1\ +1\ of\ 1 ]]
  [[ "${lines[5]}" =~ 17\.0\.9\ +serial\ +0\ of\ 1\ +1\ x\ 32\ frames ]]
  [[ "${lines[6]}" =~ 17\.0\.9\ +g1\ +0\ of\ 1 ]]
}

@test "replay: what each replay showed, as JSON" {
  need_pair
  "$walkhammer" replay "$truncated" --jdk "$JDKS/17.0.9" --times 2 --jobs 2 --json >"$tmp/json"
  is "$(query "json_extract(text, '\$.replays[0].version', '\$.replays[0].profile',
    '\$.replays[0].each')")" '["17.0.9","default",["32 frames","32 frames"]]'
}

@test "bisect: finds where a known bug was mended" {
  need_pair
  run "$walkhammer" bisect "$truncated" --jdk-dir "$JDKS" --fix --measure-times 3 --json
  echo "$output" | sed '/^{/,$!d' >"$tmp/json"
  is "$status" 1
  is "$(query "json_extract(text, '\$.verdict', '\$.pair.older.version', '\$.pair.newer.version',
    '\$.changes')")" '["pair","17.0.2","17.0.9",[["17.0.2","17.0.9"]]]'
  [[ "$output" == *"no-jdk"* ]] # what it could not use is reported
}

@test "bisect: a bug that each build has has no pair" {
  need_pair
  run --separate-stderr "$walkhammer" bisect "$crash" --jdk-dir "$JDKS" --measure-times 2
  echo "$output" "$stderr"
  is "$status" 1
  [[ "$output" == *"The oldest build that can walk the request breaks already"* ]]
  [[ "$output" != *"were not replayed"* ]]
}

@test "bugs check: by version and by replay" {
  need_pair
  "$walkhammer" bugs check --corpora "$root/corpora" --jdk-dir "$JDKS" --times 1 --json >"$tmp/json" || is "$?" 1
  # verdicts ID: those of both builds.
  verdicts() {
    query "(select group_concat(json_extract(b.value, '\$.verdict') || ' ' ||
        json_extract(b.value, '\$.by_version') || ' ' || json_extract(b.value, '\$.reproduced'), ', ')
      from json_each(text, '\$.jdks') j, json_each(j.value, '\$.bugs') b
      where json_extract(b.value, '\$.id') = '$1')"
  }
  is "$(verdicts JDK-8302320)" 'yes yes 1, no no 0'
  is "$(verdicts JDK-8283849)" 'yes yes 1, no no 0'
  is "$(verdicts JDK-8265150)" 'yes yes 0, no no 0'
  is "$(verdicts WH-02)" 'yes yes 1, yes yes 1'
  is "$(verdicts WH-09)" 'no no 0, no no 0'
  is "$(verdicts WH-03)" '' # of a profiler
  is "$(query "json_extract(text, '\$.jdks[0].affected') > json_extract(text, '\$.jdks[1].affected')")" 1
}

@test "bugs check: what beside the command is known is what corpora says" {
  for folder in known-issues regressions; do
    diff -r "$root/corpora/$folder" "$(dirname "$walkhammer")/$folder"
  done
}

@test "bugs check: a JDK without any known issue, and one that nobody can judge" {
  need_jdk
  [ -n "$jdk" ] || skip "no JDK on this machine"
  mkdir -p "$tmp/corpora/known-issues"
  # issue AFFECTED STATE...: one issue, and what bugs check says of it.
  issue() {
    printf 'title = "t"\nsignatures = ["s"]\naffected = "%s"\nstate = %b\n' "$@" \
      >"$tmp/corpora/known-issues/X-1.toml"
    run --separate-stderr "$walkhammer" bugs check --corpora "$tmp/corpora" --jdk "$jdk"
    echo "$output $stderr"
  }
  issue '[1,2)' '"fixed"\nfixed-in = "2"'
  is "$status" 0
  [[ "$output" == *"X-1 "*"not affected"*"affected by 0 of 1 known issue"* ]]
  issue '[1,2)' '"open"'
  is "$status" 3
  [[ "$output" == *"unknown for this version"* ]]
  issue '[1,)' '"open"'
  is "$status" 1
  [[ "$output" == *"AFFECTED"* ]]
  issue '[1,1)' '"open"'
  is "$status" 2
  is "$stderr" "walkhammer: $tmp/corpora/known-issues/X-1.toml:3: affected: \"[1,1)\" is not a range of versions, such as [17,17.0.9) or [19,)"
}

@test "bundle: what is in it, and what is not" {
  need_jdk
  run "$walkhammer" bundle "$crash" --jdk "$jdk" --times 1 --out "$tmp/bundle" -- \
    -Dwh.password=hunter2 -Dwh.file=/srv/customer/x.jar
  echo "$output"
  is "$status" 1
  is "$(cd "$tmp/bundle" && echo ./*)" \
    './builds.json ./input.walk ./redacted.txt ./replay.sh ./report.md'
  run ! grep -rE "hunter2|customer|$jdk|$tmp" "$tmp/bundle"
  is "$(sqlite3 :memory: "select json_extract(text, '\$.schema', '\$.builds[0].reproduced')
    from (select cast(readfile('$tmp/bundle/builds.json') as text) text)")" '[1,1]'
  grep -q '^  "builds"' "$tmp/bundle/builds.json" # indented by two
  grep -q 'secret, ' "$tmp/bundle/redacted.txt"
  grep -q '| 1 of 1 |' "$tmp/bundle/report.md"
  WALKHAMMER=$walkhammer run sh "$tmp/bundle/replay.sh" "$jdk"
  is "$status" 1
  [[ "$output" == *"reproduced  5 of 5"* ]]
}

@test "each bad input is one sentence" {
  need_jdk
  mkdir "$tmp/empty" "$tmp/full"
  touch "$tmp/full/file"
  refuses 2 "holds no JDK that can be used" replay "$crash" --jdk-dir "$tmp/empty"
  refuses 2 "holds no JDK that can be used" bugs check --jdk-dir "$tmp/nowhere"
  refuses 2 "has no known issues" bugs check --corpora "$tmp/empty" --jdk "$jdk"
  refuses 2 "--store" bugs check --jdk "$jdk" --build 17.0.1
  refuses 2 "--store needs a folder" bugs check --jdk "$jdk" --store ""
  refuses 2 "--store" bugs check --jdk "$jdk" --most-times 3
  refuses 2 "--corpora" bugs check --jdk "$jdk" --store "$tmp/store" --corpora "$root/corpora"
  refuses 2 "--jdk-dir" bugs check --jdk-dir "$JDKS" --store "$tmp/store"
  [ ! -e "$tmp/store" ]
  refuses 2 "name the builds" bisect "$crash"
  refuses 3 "takes at least two builds, and 1 can be used" bisect "$crash" --jdk "$jdk" --jdk "$jdk"
  refuses 2 "takes one profile" bisect "$crash" --jdk-dir "$JDKS" --jdk "$jdk" --profile g1,serial
  refuses 2 "cannot read" bisect "$tmp/nowhere.walk" --jdk "$jdk"
  refuses 2 "aot-cache" replay "$crash" --jdk "$jdk" --profile aot-cache
  refuses 2 "--out DIR says where" bundle "$crash" --jdk "$jdk"
  refuses 2 "is not empty" bundle "$crash" --jdk "$jdk" --out "$tmp/full"
  refuses 2 "is not a crash folder" bundle "$tmp/empty" --jdk "$jdk" --out "$tmp/new"
  printf 'walk 1\nscene c2\n' >"$tmp/clean.walk"
  refuses 2 "there is nothing to report" bundle "$tmp/clean.walk" --jdk "$jdk" --times 1 --out "$tmp/new"
  refuses 3 "builds could walk" bundle "$crash" --jdk "$jdk" --out "$tmp/new" -- -XX:+NoSuchFlag
  [ ! -e "$tmp/new" ]
}
