#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests of the command: what a user sees on bad input.
# shellcheck disable=SC2154  # bats sets stderr and stderr_lines

load lib

setup() {
  out=$tmp/run
}

# Prints the path of a shared library that is not a JVM.
other_library() {
  awk '/\/libc[.-].*so/ {print $6; exit}' /proc/self/maps
}

# fake_jdk LIBRARY: a tree that looks like a JDK; prints its path.
fake_jdk() {
  mkdir -p "$tmp/fake/lib/server" "$tmp/fake/bin"
  cp "$1" "$tmp/fake/lib/server/libjvm.so"
  chmod u+w "$tmp/fake/lib/server/libjvm.so"
  echo "$tmp/fake"
}

# ---- usage ----

@test "no verb, an unknown verb, an unknown option" {
  refuses 2 "--help"
  refuses 2 "--no-such-option" show scenes --no-such-option
  refuses 2 "" list
  refuses 2 "scenes" show scene
  refuses 2 "takes no flags after --" show scenes -- -Xint
}

# Prints "PURPOSE: VERB" for each verb of --help.
verbs_of_help() {
  "$walkhammer" --help | awk '
    /^[A-Z][a-z ]*:$/ && !/^Options:/ { purpose = $0; next }
    /^$/ { purpose = "" }
    purpose != "" && /^  [a-z]/ { print purpose " " $1 }'
}

# Prints the same of the rows of the table of verbs in a README: none that is outside of it.
verbs_of_readme() {
  awk -F ' *[|] *' '
    /^\| for \| verb \|/ { inside = 1; next }
    !/^\|/ { inside = 0 }
    inside && $3 ~ /^`walkhammer [a-z]*`$/ { gsub(/`|walkhammer /, "", $3); print $2 ": " $3 }' "$1"
}

@test "--help and the table of README name the same verbs, by purpose" {
  verbs_of_help >"$tmp/help"
  [ "$(wc -l <"$tmp/help")" -eq 14 ]
  verbs_of_readme "$root/README.md" >"$tmp/readme"
  diff "$tmp/help" "$tmp/readme"
  while read -r verb; do
    "$walkhammer" "${verb##* }" --help | grep -q "walkhammer ${verb##* }"
  done <"$tmp/help"
  # A row that has strayed out of the table is none of it.
  row='| .walkhammer fuzz. |'
  { grep "$row" "$root/README.md" && grep -v "$row" "$root/README.md"; } >"$tmp/stray.md"
  verbs_of_readme "$tmp/stray.md" >"$tmp/readme"
  run ! diff "$tmp/help" "$tmp/readme"
}

# Prints what is out of place in documents: no title first, or rows of a table without its head.
astray() {
  awk '
    FNR == 1 { row = fenced = 0; if (!/^# /) print FILENAME ": begins without a title" }
    /^```/ { fenced = !fenced }
    /^\|/ && !fenced { row++; if (row == 2 && !/^\| *-/) print FILENAME ":" FNR ": rows without a head" }
    !/^\|/ { row = 0 }' "$@"
}

@test "a document begins with its title, and its tables with their heads" {
  cd "$root"
  mapfile -t documents < <(find . -name '*.md' -not -path './build/*' -not -path './out/*')
  [ "${#documents[@]}" -gt 20 ]
  run -0 astray "${documents[@]}"
  [ -z "$output" ]
  { echo '| a | b |' && echo '| c | d |' && cat README.md; } >"$tmp/stray.md"
  run -0 astray "$tmp/stray.md"
  [ "${#lines[@]}" -eq 2 ]
}

@test "the verbs that others have taken over are gone" {
  for verb in list redact reproduce query check walk night try; do
    refuses 2 "unknown verb \"$verb\"" "$verb"
  done
}

@test "show prints a table, or a file of a table's name" {
  refuses 2 "one table at a time" show walkers scenes
  printf 'walk 1\nscene c2\n' >"$tmp/walkers"
  cd "$tmp"
  "$walkhammer" show ./walkers | grep -qx 'scene c2'
  "$walkhammer" show walkers >"$tmp/text"
  grep -q '^agct  ' "$tmp/text"
  run ! grep -q 'scene c2' "$tmp/text"
  refuses 2 "go with a table" show ./walkers --all
}

@test "gate refuses options that its mode has no use for" {
  for option in --nights --failed --jobs; do
    refuses 2 "$option requires --night" gate "$option" 1
  done
  for option in --candidate --build --markdown --keep; do
    refuses 2 "$option excludes --night" gate --night night "$option" 26
  done
  refuses 2 "one night as --baseline" gate --night night --baseline one two
}

@test "import refuses options that its mode has no use for" {
  refuses 2 "--time requires --reproduce" import log --time 3s
  refuses 2 "excludes --redact" import log --redact --json
  refuses 2 "--redact excludes --reproduce" import log --redact --reproduce
  refuses 2 "one crash report at a time" import log log --reproduce
  refuses 2 "one crash report at a time" import log log --redact
  refuses 2 "go with --reproduce" import log -- -Xint
  refuses 2 "go with --reproduce" import log --redact -- -Xint
  refuses 2 "go with --reproduce" import log --walk -- -Xint
  refuses 2 "--jdk requires --reproduce or --walk" import log --jdk jdk
  refuses 2 "--jdk requires --reproduce or --walk" import log --redact --jdk jdk
  for option in "--tid all" --native "--expect file" "--write file"; do
    # shellcheck disable=SC2086  # perhaps two words
    refuses 2 "${option%% *} requires --walk" import log $option
  done
  for option in --reproduce --redact "--out dir" "--force --redact"; do
    # shellcheck disable=SC2086  # perhaps two words
    refuses 2 "excludes" import log --walk $option
  done
  refuses 2 "--force requires --redact" import log --walk --force
  refuses 2 "--time requires --reproduce" import log --walk --time 3s
}

# Options that mean something else to some verb, and why:
#   baseline  gate takes several runs, report one
#   out       minimize writes one file, the others a folder
#   state     of bugs: list chooses by it, set sets it
#   times, most-times  of bugs check: a bug that rarely shows takes more replays
@test "an option has one meaning for all verbs" {
  {
    verbs_of_help | sed 's/.* //'
    printf 'bugs %s\n' update grade list set check
  } | while read -r verb; do
    # shellcheck disable=SC2086  # perhaps two words
    "$walkhammer" $verb --help | awk -v verb="$verb" '
      function flush() { if (line != "") print line; line = "" }
      /^  --/ { flush(); line = $0; next }
      /^   / && line != "" { line = line " " $0; next }
      { flush() }
      END { flush() }' |
      sed -E 's/ +/ /g; s/\. (Not|Only) with:( --[a-z-]+)+//g; s/ \([^()]*default[^()]*\)//g; s/; repeatable$//'
  done | sort -u | grep -vE '^ --(baseline|out|state|times|most-times) ' >"$tmp/options"
  [ "$(wc -l <"$tmp/options")" -gt 60 ]
  awk '{ print $1 }' "$tmp/options" | uniq -d >"$tmp/several"
  grep -wFf "$tmp/several" "$tmp/options" || true
  [ ! -s "$tmp/several" ]
  run ! grep -E ' (Of|Who) ' "$tmp/options"
}

@test "malformed numbers and durations" {
  for time in x "" 30 0s 1d 5seconds inf; do
    refuses 2 "--time must be a duration such as 30s, 500ms or 2m, not \"$time\"" \
      fuzz --time "$time" --out "$out"
  done
  refuses 2 "" fuzz --time=-5s --out "$out"
  refuses 2 "--hang-limit must be a duration" fuzz --time 1s --hang-limit soon --out "$out"
  refuses 2 "--walks must be a whole number, not \"many\"" fuzz --time 1s --walks many --out "$out"
  refuses 2 "--walks" fuzz --time 1s --walks=-1 --out "$out"
  refuses 2 "--seed" fuzz --time 1s --seed x --out "$out"
  refuses 2 "nonsense" fuzz --time 1s --engine nonsense --out "$out"
  [ ! -e "$out" ]
}

@test "fuzz ends with commands that show and replay its first finding" {
  need_jdk
  set -- fuzz --jdk "$jdk" --scene monitor-enter-c2 --walks 4000 --workers 1 --no-confirm --no-coverage
  run --separate-stderr "$walkhammer" "$@" --out "$tmp/a run" -- -XX:+UseSerialGC
  [ "$status" -le 1 ]
  [[ "${lines[-2]}" == "Next  "*" show '$tmp/a run/crashes/"* ]]
  [[ "${lines[-1]}" == "      "*" replay '$tmp/a run/crashes/"*" --times 5 --jdk $jdk -- -XX:+UseSerialGC" ]]
  local show=${lines[-2]#Next} replay=${lines[-1]}
  run -0 bash -c "$show"
  [[ "$output" == *"scene monitor-enter-c2"* ]]
  run bash -c "$replay"
  [ "$status" -le 1 ]
  [[ "$output" == *"5 of 5"* ]]
  run --separate-stderr "$walkhammer" "$@" --out "$tmp/json" --json
  jq -e .verdict <<<"$output"
}

@test "output that cannot be written is no success" {
  [ -c /dev/full ] || skip "no /dev/full"
  run bash -c "'$walkhammer' show scenes >/dev/full"
  [ "$status" -eq 4 ]
  run bash -c "'$walkhammer' --help >/dev/full"
  [ "$status" -eq 4 ]
}

@test "a run goes on when the reader of its output is gone" {
  need_jdk
  run bash -c "'$walkhammer' show scenes --json 2>'$tmp/stderr' | true; exit \${PIPESTATUS[0]}"
  [ "$status" -eq 0 ]
  [ ! -s "$tmp/stderr" ]
  run bash -c "'$walkhammer' fuzz --jdk '$jdk' --walks 200000 --no-confirm --out '$out' 2>&1 |
    head -n 1 >/dev/null; exit \${PIPESTATUS[0]}"
  [ "$status" -le 1 ]
  [ "$(sqlite3 "$out/run.db" 'select walks, status from run')" = "200000|clean-end" ]
}

# ---- show and doctor ----

@test "show prints the tables" {
  for topic in scenes walkers oracles; do
    "$walkhammer" show "$topic" | sed -n 's/^\([^ ][^ ]*\)  .*/\1/p' >"$tmp/text"
    "$walkhammer" show "$topic" --json >"$tmp/list.json"
    sqlite3 :memory: \
      "select json_extract(value, '\$.name') from json_each(readfile('$tmp/list.json'))" \
      >"$tmp/names"
    [ -s "$tmp/text" ]
    diff "$tmp/text" "$tmp/names"
  done
  "$walkhammer" show scenes | sed -n 's/^\([^ ][^ ]*\)  .*/\1/p' >"$tmp/text"
  sed -n 's/^    {"\([a-z0-9-]*\)",.*/\1/p' "$root/harness/request/scene_table.cc" >"$tmp/source"
  diff "$tmp/text" "$tmp/source"
}

@test "show walkers hides the planted bugs" {
  "$walkhammer" show walkers | grep -q '^agct  '
  shown=$("$walkhammer" show walkers | wc -l)
  all=$("$walkhammer" show walkers --all | wc -l)
  [ "$all" -gt "$shown" ]
}

@test "doctor finds a JDK that can be fuzzed" {
  need_jdk
  run --separate-stderr "$walkhammer" doctor --jdk "$jdk"
  echo "$output" "$stderr"
  [ "$status" -eq 0 ]
  [[ "$output" == *"can be fuzzed"*yes* ]]
  run --separate-stderr "$walkhammer" doctor --jdk "$jdk" --json
  [ "$status" -eq 0 ]
  is_json "$output"
}

@test "doctor says why a JDK cannot be fuzzed" {
  fake=$(fake_jdk "$(other_library)")
  run --separate-stderr "$walkhammer" doctor --jdk "$fake"
  [ "$status" -eq 3 ]
  [[ "$output" == *"exports no AsyncGetCallTrace"* ]]
  refuses 2 "is not a JDK" doctor --jdk "$tmp"
}

# ---- unusable JDKs ----

@test "a path that is not a JDK" {
  refuses 2 "$tmp/nowhere" fuzz --jdk "$tmp/nowhere" --time 1s --out "$out"
  refuses 2 "$tmp is not a JDK" fuzz --jdk "$tmp" --time 1s --out "$out"
  refuses 2 "/dev/null is not a JDK" fuzz --jdk /dev/null --time 1s --out "$out"
  [ ! -e "$out" ]
}

@test "no file of a run gets the descriptor of a closed standard stream" {
  need_jdk
  run timeout 60 "$walkhammer" fuzz --jdk "$jdk" --walks 2000 --no-coverage --no-confirm \
    --no-minimize --out "$out" <&-
  [ "$status" -le 1 ]
  [ "$(sqlite3 "$out/run.db" 'select walks from run')" -eq 2000 ]
}

@test "a libjvm.so without AsyncGetCallTrace" {
  fake=$(fake_jdk "$(other_library)")
  refuses 3 "exports no AsyncGetCallTrace" fuzz --jdk "$fake" --time 1s --out "$out"
}

@test "a libjvm.so without vmStructs, such as OpenJ9's" {
  echo 'void AsyncGetCallTrace(void) {} void JNI_CreateJavaVM(void) {}' |
    gcc -shared -fPIC -x c - -o "$tmp/other.so"
  fake=$(fake_jdk "$tmp/other.so")
  refuses 3 "exports no vmStructs" fuzz --jdk "$fake" --time 1s --out "$out"
  refuses 3 "exports no vmStructs" show scenes --jdk "$fake"
  [ ! -e "$out" ]
}

@test "a JRE that lacks what HotSpot needs to start" {
  need_jdk
  cp -r "$jdk/lib/server" "$tmp/server"
  mkdir -p "$tmp/bare/lib" && mv "$tmp/server" "$tmp/bare/lib/server"
  run --separate-stderr timeout 30 "$walkhammer" fuzz --jdk "$tmp/bare" --time 1s --out "$out"
  echo "exit code $status, stderr '$stderr'"
  [ "$status" -eq 3 ]
  [[ "$stderr" == *"this JVM does not start: "*"with all of its modules?"* ]]
}

@test "a libjvm.so for another architecture" {
  fake=$(fake_jdk "$(other_library)")
  other=aarch64
  machine='\267' # EM_AARCH64
  if [ "$(uname -m)" = aarch64 ]; then
    other=x86_64
    machine='\076' # EM_X86_64
  fi
  # shellcheck disable=SC2059  # the format is the bytes
  printf "$machine\000" | dd of="$fake/lib/server/libjvm.so" bs=1 seek=18 conv=notrunc 2>/dev/null
  refuses 3 "is for $other, this machine is $(uname -m)" \
    fuzz --jdk "$fake" --time 1s --out "$out"
}

@test "a request for another architecture" {
  other=aarch64
  [ "$(uname -m)" != aarch64 ] || other=x86_64
  printf 'walk 1\nscene c2\narch %s\n' $other >"$tmp/other.walk"
  for verb in replay minimize; do
    refuses 3 "other.walk is a request for $other, and this JDK is for $(uname -m)" \
      $verb "$tmp/other.walk"
  done
  printf 'walk 1\nscene c2\narch %s\n' "$(uname -m)" >"$tmp/own.walk"
  run "$walkhammer" replay "$tmp/own.walk"
  [ "$status" -eq 0 ]
}

@test "a libjvm.so that is truncated, empty or text" {
  fake=$(fake_jdk "$(other_library)")
  library=$fake/lib/server/libjvm.so
  truncate -s 100000 "$library"
  refuses 2 "is truncated" fuzz --jdk "$fake" --time 1s --out "$out"
  truncate -s 0 "$library"
  refuses 2 "is not an ELF file" fuzz --jdk "$fake" --time 1s --out "$out"
  echo text >"$library"
  refuses 2 "is not an ELF file" fuzz --jdk "$fake" --time 1s --out "$out"
}

# ---- unusable names and files ----

@test "a scene or a walker that does not exist" {
  refuses 2 "c2-inlined-chain" fuzz --scene c2-inlined-chian --time 1s --out "$out"
  refuses 2 "agct" fuzz --walker agtc --time 1s --out "$out"
  refuses 2 "agct" fuzz --walker agct,agtc --time 1s --out "$out"
  refuses 2 "at most 4 walkers" fuzz --walker agct,agct,agct,agct --walker agct --time 1s --out "$out"
  [ ! -e "$out" ]
}

@test ".walk files that cannot be read" {
  printf '' >"$tmp/empty.walk"
  printf 'walk 99\nwalker agct\nscene c2\nstate in_Java\n' >"$tmp/newer.walk"
  printf 'walk 1\nwalker agct\nscene c2\nstate in_Java\npc nmethod "wh.Sc' >"$tmp/cut.walk"
  printf 'walk 1\nwalker agct\nscene c3\nstate in_Java\n' >"$tmp/scene.walk"
  printf 'walk 1\nwalker agtc\nscene c2\nstate in_Java\n' >"$tmp/walker.walk"
  for name in empty newer cut scene walker; do
    refuses 2 "$name.walk" show "$tmp/$name.walk"
    refuses 2 "$name.walk" replay "$tmp/$name.walk"
  done
  refuses 2 "99" show "$tmp/newer.walk"
  refuses 2 "nowhere.walk" show "$tmp/nowhere.walk"
  refuses 2 "nowhere.walk" replay "$tmp/nowhere.walk"
  refuses 2 "$tmp is not a crash folder: it has no input.walk" show "$tmp"
}

@test "a crash folder stands for its input" {
  need_jdk
  mkdir "$tmp/crash"
  printf 'walk 1\nwalker agct\nscene c2\n' >"$tmp/crash/input.walk"
  run -0 --separate-stderr "$walkhammer" show "$tmp/crash/"
  is "$output" "$("$walkhammer" show "$tmp/crash/input.walk")"
  run -0 --separate-stderr timeout 60 "$walkhammer" replay "$tmp/crash" --jdk "$jdk" --times 1
  [[ "$output" == *"$tmp/crash/input.walk"* ]]
}

@test "a JVM that does not start with its flags says why, after our words" {
  need_jdk
  run -3 --separate-stderr timeout 60 "$walkhammer" fuzz --jdk "$jdk" --time 1s --out "$out" -- \
    -XX:NoSuchFlag=1
  [[ "$stderr" == *"(JNI_CreateJavaVM answered -6) | it printed: "*"NoSuchFlag"* ]]
}

# Who opens a FIFO waits for its other end.
@test "files that are not regular are refused by each reader" {
  mkfifo "$tmp/pipe"
  mkdir "$tmp/crash"
  mkfifo "$tmp/crash/input.walk"
  while read -r arguments; do
    # shellcheck disable=SC2086  # words
    refuses 2 "not a regular file" $arguments
  done <<END
show $tmp/pipe
replay $tmp/pipe
minimize $tmp/pipe
bisect $tmp/pipe
import $tmp/pipe
import --redact $tmp/pipe
import --reproduce $tmp/pipe
gate --policy $tmp/pipe
bundle --out $tmp/bundle $tmp/pipe
bundle --out $tmp/bundle $tmp/crash
END
  rm "$tmp/crash/input.walk"
  printf 'walk 1\nwalker agct\nscene c2\nstate in_Java\n' >"$tmp/crash/input.walk"
  mkfifo "$tmp/crash/explain.txt"
  refuses 2 "explain.txt as a crash report: it is not a regular file" bundle --out "$tmp/bundle" \
    "$tmp/crash"
}

@test "a .walk file without permission" {
  [ "$(id -u)" -ne 0 ] || skip "root reads everything"
  printf 'walk 1\nwalker agct\nscene c2\nstate in_Java\n' >"$tmp/secret.walk"
  chmod 000 "$tmp/secret.walk"
  refuses 2 "secret.walk" show "$tmp/secret.walk"
}

@test "a report of something that is no run" {
  refuses 2 "$tmp/nowhere" report "$tmp/nowhere"
  refuses 2 "$tmp" report "$tmp"
  mkdir "$out"
  echo "no database" >"$out/run.db"
  refuses 2 "$out" report "$out"
}

@test "a run of another version of walkhammer is refused by each reader" {
  mkdir "$out"
  sqlite3 "$out/run.db" 'PRAGMA application_id = 0x5748524e; PRAGMA user_version = 1;
    CREATE TABLE run (id INTEGER)'
  for reader in "report" "report --history" "merge --out $tmp/merged" \
    "gate --candidate $tmp/other --baseline" "bugs update --store $tmp/store"; do
    # shellcheck disable=SC2086
    refuses 2 "$out/run.db: another version of walkhammer wrote this run" $reader "$out"
  done
  [ ! -e "$tmp/merged" ]
}
