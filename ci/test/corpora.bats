#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests of the corpora: every file is well-formed, no seed kills the child, and seeds and
# regressions have the results that they state on the builds of corpora/reference-builds. Other
# builds may differ, for example in stack layout: their results are printed and fail nothing.
# shellcheck disable=SC2154  # lib.bash sets these

load lib

setup() {
  cd "$BATS_TEST_DIRNAME/../../corpora" || return
}

# query SQL: queries $tmp/json; prints lines whose fields are separated by |.
query() {
  sqlite3 :memory: "with document(text) as (select readfile('$tmp/json')) $1"
}

# Prints a line for each JDK of this machine: feature version, build id, home, name.
jdks() {
  "$walkhammer" show jdks --json >"$tmp/json"
  query "select json_extract(value, '\$.feature'), json_extract(value, '\$.build_id'),
      json_extract(value, '\$.name'), json_extract(value, '\$.what')
    from document, json_each(text)"
}

is_reference() {
  grep -q "^$1 $2 " reference-builds
}

# replay HOME ARGUMENTS...: leaves its JSON in $tmp/json.
# The collector is given, because the JVM's own choice depends on the machine's size.
replay() {
  local home=$1 code=0
  shift
  "$walkhammer" replay --json --jdk "$home" "$@" -- -XX:+UseG1GC >"$tmp/json" || code=$?
  [ "$code" -eq 0 ] || [ "$code" -eq 1 ] || [ "$code" -eq 3 ] || {
    echo "walkhammer replay ended with exit code $code"
    return 1
  }
}

# Prints to the terminal even if the test passes.
report() {
  echo "# $*" >&3
}

@test "every corpus file is in canonical form" {
  for file in seeds/*.walk seeds/aarch64/*.walk regressions/*/*.walk known-issues/*.walk; do
    "$walkhammer" show --json "$file" >"$tmp/json"
    query "select json_extract(text, '\$.requests[0].text') from document" >"$tmp/canonical"
    { grep -v '^#' "$file" && echo; } >"$tmp/plain" # sqlite3 ends its answer with a newline
    diff "$tmp/canonical" "$tmp/plain" || {
      echo "$file is not what walkhammer show prints"
      return 1
    }
  done
}

@test "seeds name their bug class, and README describes every class and seed" {
  for file in seeds/*.walk seeds/aarch64/*.walk; do
    name=$(basename "$file" .walk)
    class=${name%%-*}
    head -n 1 "$file" | grep -q "^# Class ${class#0}[,:] " || {
      echo "$file does not begin with: # Class ${class#0}, bug ids"
      return 1
    }
    grep -q "^| ${class#0} |.*\`$name\`" README.md || {
      echo "corpora/README.md does not name $name for class ${class#0}"
      return 1
    }
  done
  [ "$(sed -n 's/^| \([0-9]*\) |.*/\1/p' README.md)" = "$(seq 20)" ]
  # shellcheck disable=SC2016  # README puts names in backquotes
  for name in $(sed -n 's/^| [0-9]* |//p' README.md | grep -o '`[0-9][0-9]-[a-z0-9-]*`' | tr -d '`'); do
    [ -f "seeds/$name.walk" ] || [ -f "seeds/aarch64/$name.walk" ] || {
      echo "corpora/README.md names a seed that is not there: $name"
      return 1
    }
  done
}

@test "README describes each known issue that ci/test/known_bugs.sh proves" {
  "$walkhammer" bugs list --store known-issues --json >"$tmp/json"
  "$walkhammer" gate --bugs known-issues
  query "select json_extract(b.value, '\$.id') from document, json_each(text, '\$.bugs') b
    where json_extract(b.value, '\$.proof.with') <> ''" >"$tmp/ids"
  [ "$(wc -l <"$tmp/ids")" -ge 4 ]
  while read -r id; do
    grep -q "^| $id |" README.md
  done <"$tmp/ids"
}

@test "a zombie can be had where HotSpot has a sweeper, by flags" {
  jdks >"$tmp/jdks"
  [ -s "$tmp/jdks" ] || skip "no JDK on this machine"
  bug=known-issues/JDK-8352649
  while IFS='|' read -r feature _ home what; do
    [ "$feature" -ge 17 ] || continue # no scenes there
    replay "$home" "$bug.walk"
    grep -q 'needs a sweeper' "$tmp/json"
    # shellcheck disable=SC2046  # a list of flags
    "$walkhammer" replay --json --jdk "$home" "$bug.walk" \
      -- $(sed -n 's/^flags = "\(.*\)"/\1/p' "$bug.toml") >"$tmp/json" || [ "$?" -ne 2 ]
    unable=$(query "select json_extract(r.value, '\$.unable')
      from document, json_each(text, '\$.replays') r")
    [ "$unable" -eq "$((feature >= 20))" ] || {
      echo "on $what: $(cat "$tmp/json")"
      return 1
    }
  done <"$tmp/jdks"
}

@test "seeds do not kill the child, and answer as they say" {
  jdks >"$tmp/jdks"
  [ -s "$tmp/jdks" ] || skip "no JDK on this machine"
  bad=0
  while IFS='|' read -r feature build home what; do
    replay "$home" seeds/*.walk
    query "select json_extract(r.value, '\$.file'),
        case when json_extract(r.value, '\$.unable') > 0 then 'not available'
          else (select group_concat(key, ' and ')
            from json_each(json_extract(r.value, '\$.outcomes'))) end,
        json_extract(r.value, '\$.unable_reason')
      from document, json_each(text, '\$.replays') r" >"$tmp/answers"
    different=0
    while IFS='|' read -r file answer reason; do
      expected=$(sed -n "s/^# On JDK $feature: //p" "$file")
      case $answer in
        *death*)
          echo "$file: $answer on $what"
          bad=$((bad + 1))
          continue
          ;;
      esac
      [ "$answer" != "$expected" ] || continue
      different=$((different + 1))
      ! is_reference "$feature" "$build" || {
        echo "$file: '$answer' on $what, should be '$expected' $reason"
        bad=$((bad + 1))
      }
    done <"$tmp/answers"
    is_reference "$feature" "$build" ||
      report "$what is no reference build; $different of $(wc -l <"$tmp/answers") seeds answer otherwise"
  done <"$tmp/jdks"
  [ "$bad" -eq 0 ]
}

# regressions_of FEATURE: replays each file of regressions/jdkFEATURE twice.
regressions_of() {
  jdks >"$tmp/all"
  grep "^$1|" "$tmp/all" >"$tmp/jdks" || skip "no JDK $1 on this machine"
  bad=0
  references=0
  summary=
  while IFS='|' read -r feature build home what; do
    replay "$home" --times 2 "regressions/jdk$1"/*.walk
    query "select json_extract(r.value, '\$.file'), json_extract(r.value, '\$.reproduced'),
        (select coalesce(sum(value), 0) from json_each(json_extract(r.value, '\$.outcomes'))
          where key = json_extract(r.value, '\$.expect')),
        (select group_concat(key, ' and ') from json_each(json_extract(r.value, '\$.outcomes'))),
        json_extract(r.value, '\$.unable_reason')
      from document, json_each(text, '\$.replays') r" >"$tmp/answers"
    [ -s "$tmp/answers" ]
    alive=0
    while IFS='|' read -r file reproduced exact answer reason; do
      [ "$reproduced" -eq 0 ] || alive=$((alive + 1))
      if is_reference "$feature" "$build"; then
        [ "$exact" -gt 0 ] || {
          echo "$file: not reproduced on $what: $answer $reason"
          bad=$((bad + 1))
        }
      elif [ "$reproduced" -eq 0 ]; then
        report "$file no longer reproduces on $what: $answer $reason"
      fi
    done <"$tmp/answers"
    ! is_reference "$feature" "$build" || references=$((references + 1))
    summary="$summary; $alive of $(wc -l <"$tmp/answers") reproduce on $what"
  done <"$tmp/jdks"
  report "JDK $1${summary}"
  [ "$bad" -eq 0 ]
  [ "$references" -gt 0 ] || skip "the reference build of JDK $1 is not on this machine$summary"
}

@test "regressions of JDK 17" {
  regressions_of 17
}

@test "regressions of JDK 25" {
  regressions_of 25
}

@test "no folder of regressions is forgotten" {
  for folder in regressions/*; do
    case $folder in regressions/asprof-vm* | regressions/ddprof*) continue ;; esac # ci/test/profilers.bats
    grep -q "^  regressions_of ${folder#regressions/jdk}\$" "$BATS_TEST_FILENAME" || {
      echo "no test replays corpora/$folder"
      return 1
    }
    grep -q "^${folder#regressions/jdk} " reference-builds
  done
}
