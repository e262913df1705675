#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ci/examples: what the definitions for CI servers and fleets name exists, their scripts are clean,
# and what they start does its part. No CI server, scheduler or network is needed.
# shellcheck disable=SC2154  # bats sets stderr and stderr_lines

load lib

setup() {
  examples=$root/ci/examples
  unset SLURM_ARRAY_TASK_ID JOB_COMPLETION_INDEX PARALLEL_SEQ
  cd "$BATS_TEST_TMPDIR" || return
}

# named FILE...: prints the commands in FILEs and the options given to them, one a line: "COMMAND"
# or "COMMAND OPTION". A COMMAND is a script of ci/, or walkhammer and a verb.
named() {
  # shellcheck disable=SC2016  # they are the files'
  sed -e 's,\$here/\.\./,ci/,g' -e 's,\$here/,ci/examples/,g' -e 's/\$walkhammer/walkhammer/g' \
    -e "s/[\"'\`()]/ /g" "$@" | awk '
    /\\$/ { sub(/\\$/, ""); held = held $0; next }
    {
      count = split(held $0, words); held = ""; command = ""
      for (i = 1; i <= count; i++) {
        word = words[i]
        if (word ~ /(^|\/)ci\/([a-z-]+\/)*[a-z_]+\.sh[.,:;]*$/) {
          sub(/.*ci\//, "ci/", word); sub(/[.,:;]*$/, "", word); print command = word
        } else if (word ~ /(^|\/)walkhammer$/ && words[i + 1] ~ /^[a-z]+[.,:;]*$/) {
          word = words[++i]; sub(/[.,:;]*$/, "", word); command = "walkhammer " word
          if (word == "bugs" && words[i + 1] ~ /^[a-z]+$/) command = command " " words[++i]
          print command
        } else if (word ~ /^([|&;]+|--|#)$/) command = ""
        else if (word ~ /^--[a-z]/ && command != "") { sub(/[^a-z-].*/, "", word); print command, word }
        if (word ~ /;$/) command = ""
      }
    }' | sort -u
}

# wrong FILE...: prints what of named FILE... does not exist, and what cmake is asked for in vain.
wrong() {
  named "$@" | while read -r command option; do
    case $command in
    walkhammer)
      command="walkhammer ${option%% --*}" # its verb
      option=${option#"${option%% --*}"} option=${option# }
      # shellcheck disable=SC2086  # bugs and its own verb
      text=$("$WALKHAMMER" ${command#* } --help 2>&1) || echo "there is no $command"
      ;;
    *)
      [ -x "$root/$command" ] || echo "there is no $command"
      # ci/setup/lib_rows.sh reads options for others.
      text=$(sed '/^ *#/d' "$root/$command" "$root/ci/setup/lib_rows.sh")
      case $command in
      ci/examples/sh* | ci/examples/sl*) text="$text $("$WALKHAMMER" fuzz --help)" ;; # handed on
      esac
      ;;
    esac
    [ -z "$option" ] || grep -Eq -e "$option([^a-z-]|\$)" <<<"$text" ||
      echo "$command has no $option"
  done
  grep -ho 'WALKHAMMER_[A-Z_]*=' "$@" | sort -u | while read -r variable; do
    grep -qw "${variable%=}" "$root/CMakeLists.txt" || echo "cmake knows no ${variable%=}"
  done
  grep -ho 'preset [a-z0-9]*' "$@" | sort -u | while read -r _ preset; do
    grep -q "\"name\": \"$preset\"" "$root/CMakePresets.json" || echo "cmake has no preset $preset"
  done
}

# code_of PAGE...: prints the shell blocks and the code spans of pages, without variables that are set
# and without the words of walkhammer that are not verbs.
code_of() {
  awk '
    FNR == 1 { block = "" }
    /^ *```/ { block = block == "" ? $0 "." : ""; next }
    block == "```sh." { print; next }
    block == "" { for (rest = $0; match(rest, /`[^`]+`/); rest = substr(rest, RSTART + RLENGTH)) print substr(rest, RSTART + 1, RLENGTH - 2) }
  ' "$@" | sed -E 's/WALKHAMMER_[A-Z]+=[^ ]*//g; s/walkhammer (help|manual|complete)( |$)//g; s/ +# .*//; s/(^| )#.*//'
}

# Those for harnesses are the business of harnesses.bats.
definitions() {
  find "$examples" -maxdepth 1 -type f ! -name nightly.config
  find "$examples/oss-fuzz" -type f
}

# needs PROGRAM: skips the test without it.
needs() { command -v "$1" >/dev/null || skip "$1 is not installed"; }

@test "what definitions and documents name exists" {
  mapfile -t files < <(definitions)
  mapfile -t pages < <(find "$root/docs" -name '*.md' ! -path '*/findings/*' ! -name 'figures*' \
    ! -name troubleshooting.md | sort)
  set -- "${files[@]}" "$root/README.md" "$root/CONTRIBUTING.md" "$root/corpora/README.md" "${pages[@]}"
  code_of "${@:${#files[@]}+1}" >pages
  set -- "${files[@]}" pages
  run wrong "$@"
  echo "$output"
  [ -z "$output" ]
  run named "$@"
  echo "$output"
  [ "${#lines[@]}" -ge 30 ]
  has_parts 'ci/gate.sh --out' 'ci/examples/night.sh' 'ci/examples/shard.sh --walks' \
    'walkhammer fuzz --shard' 'walkhammer merge --out'
}

@test "a name that does not exist is found" {
  cp -R "$examples" copy
  plant() { sed -i "$1" "copy/$2" && ! diff -q "copy/$2" "$examples/$2" >&2; }
  plant 's/--walks/--walk/' kubernetes.yaml
  plant 's/gate.sh --time/gate.sh --tme/' github-gate.yml
  plant 's/night\.sh/nigth.sh/' gitlab-ci.yml
  plant 's/TESTS=OFF/TEST=OFF/; s/preset release/preset relase/' Jenkinsfile
  plant 's/" merge --out/" merg --out/; s/--shard/--sahrd/' shard.sh
  cat >page.md <<'PAGE'
Prose may say that walkhammer drives walkers, or `walkhammer frob`.
```sh
walkhammer bugs set --sate open   # walkhammer prints nothing
ci/gate.sh --rnds 3
```
PAGE
  code_of page.md >copy/page.txt
  run --separate-stderr wrong copy/*.* copy/Jenkinsfile
  echo "$output"
  has_parts 'there is no walkhammer frob' 'walkhammer bugs set has no --sate' 'ci/gate.sh has no --rnds' \
    'ci/examples/shard.sh has no --walk' 'ci/gate.sh has no --tme' \
    'there is no ci/examples/'nigth.sh 'cmake knows no WALKHAMMER_TEST' \
    'cmake has no preset relase' 'there is no walkhammer merg' 'walkhammer fuzz has no --sahrd'
}

# steps FILE...: writes the shell steps of YAML files to step-1 and so on.
steps() {
  perl -e '
    use strict; use CPAN::Meta::YAML; my $number = 0;
    sub keep { open my $out, ">", "step-" . ++$number; print $out join("\n", @_), "\n" }
    sub walk {
      my ($node, $name) = @_;
      if (ref $node eq "HASH") { walk($node->{$_}, $_) for keys %$node }
      elsif (ref $node eq "ARRAY") {
        if ($name =~ /script$/) { keep(@$node) }
        elsif ($name eq "command") { keep($node->[2]) }
        else { walk($_, "") for @$node }
      }
      elsif ($name eq "run") { keep($node) }
    }
    for my $file (@ARGV) { walk($_, "") for @{CPAN::Meta::YAML->read($file)} }' "$@"
}

@test "YAML parses, and the steps in it are clean" {
  needs perl
  needs shellcheck
  perl -MCPAN::Meta::YAML -e 1 2>/dev/null || skip "perl has no CPAN::Meta::YAML"
  steps "$examples"/*.y*ml "$examples/oss-fuzz/project.yaml"
  awk "/^ *sh '''/ { out = \"step-jenkins\" ++number; next } /'''/ { out = \"\" } out { print >out }" \
    "$examples/Jenkinsfile"
  [ "$(find . -name 'step-*' | wc -l)" -ge 11 ]
  grep -q 'examples/night.sh' step-jenkins1
  grep -q 'ci/gate.sh' step-jenkins2
  shellcheck --shell=sh step-*
  printf 'jobs:\n  one: two\n three\n' >bad.yml
  run steps bad.yml
  [ "$status" -ne 0 ]
  # shellcheck disable=SC2016  # it is to be unquoted there
  printf 'jobs:\n  run: cat $UNQUOTED\n' >bad.yml
  steps bad.yml
  run shellcheck --shell=sh step-1
  [ "$status" -eq 1 ]
}

@test "yamllint has nothing to say" {
  needs yamllint
  yamllint --strict -d '{extends: default, rules: {document-start: disable, truthy: disable,
    line-length: {max: 110}}}' "$examples"
}

# Replaces walkhammer: runs are folders with an empty run.db.
fake_walkhammer() {
  export WALKHAMMER=$BATS_TEST_TMPDIR/walkhammer
  cat >"$WALKHAMMER" <<'END2'
#!/bin/sh
echo "$*" >>"$0.calls"
verb=$1
case $*:${JUDGED:-0} in
'gate --night '*) touch "$3/night.json" && exit "${JUDGED:-0}" ;;
esac
while [ "$#" -gt 0 ]; do
  if [ "$1" = --out ]; then mkdir -p "$2" && touch "$2/run.db"; fi
  shift
done
[ "$verb" != fuzz ] || exit "${CODE:-0}"
END2
  chmod +x "$WALKHAMMER"
}

# wait_for_second FOLDER: until the clock names another folder than this one.
wait_for_second() {
  while [ "$(date -u +%Y%m%d-%H%M%S)" = "$(basename "$1")" ]; do sleep 0.1; done
}

@test "a night keeps its state, and is compared with the last green one" {
  fake_walkhammer
  mkdir -p jdks/25/bin
  printf '#!/bin/sh\n' >jdks/25/bin/java
  chmod +x jdks/25/bin/java
  kept() { find state/nights -mindepth 1 -maxdepth 1 | wc -l; }
  "$examples/night.sh" jdks/25 state one
  grep -q '^fuzz --jdk jdks/25 .*--corpus state/corpus/' walkhammer.calls
  grep -qx 'gate --night one/night --nights state/nights --failed 0' walkhammer.calls
  tar -tzf one/night.tar.gz | grep -q '^night/summary.txt$'
  green=$(dirname state/nights/*/green)
  [ -f "$green/night.json" ]
  [ -f "$green/merged/fuzz.25.agct/run.db" ]
  # A red night keeps no inputs, and leaves those of the green one.
  mkdir "$green/merged/fuzz.25.agct/crashes"
  wait_for_second "$green"
  JUDGED=1 run "$examples/night.sh" jdks/25 state two
  [ "$status" -eq 1 ]
  [ "$(kept)" -eq 2 ]
  [ -d "$green/merged/fuzz.25.agct/crashes" ]
  # The oldest goes, unless it is the last green one.
  for number in $(seq 10 39); do mkdir "state/nights/20000101-0000$number"; done
  mv "$green" state/nights/20000101-000000
  wait_for_second "$(find state/nights -maxdepth 1 | sort | tail -n 1)"
  CODE=4 run "$examples/night.sh" jdks/25 state three
  [ "$status" -eq 0 ] # the judgement says so
  [ "$(kept)" -eq 30 ]
  [ ! -e state/nights/20000101-000000 ]
  JUDGED=4 run "$examples/night.sh" jdks/25 state four
  [ "$status" -eq 4 ]
  [ -f four/night.tar.gz ]
  for words in 'jdks/25 state' 'jdks/24 state five' 'jdks/25 state one' 'jdks/25 state five none'; do
    # shellcheck disable=SC2086  # a list of words
    one_sentence 2 "" "$examples/night.sh" $words
  done
}

@test "a shard takes its number from whatever started it, and is walked once" {
  fake_walkhammer
  SLURM_ARRAY_TASK_ID=1 "$examples/shard.sh" 3 all --walks 9
  JOB_COMPLETION_INDEX=1 CODE=1 "$examples/shard.sh" 3 all --walks 9
  PARALLEL_SEQ=3 CODE=4 run "$examples/shard.sh" 3 all --walks 9
  [ "$status" -eq 4 ]
  PARALLEL_SEQ=3 "$examples/shard.sh" 3 all --walks 9
  JOB_COMPLETION_INDEX=0 "$examples/shard.sh" 3 all --walks 9
  [ "$(grep -c . walkhammer.calls)" -eq 4 ]
  for index in 1 2 3; do
    grep -qx "fuzz --shard $index/3 --out all/$index --walks 9" walkhammer.calls
  done
  "$examples/shard.sh" merge all
  tail -n 2 walkhammer.calls | head -n 1 | grep -qx 'merge --out all/all all/1 all/2 all/3'
  for words in '3' '3 all' 'three all' 'merge none'; do
    # shellcheck disable=SC2086  # a list of words
    one_sentence 2 "" "$examples/shard.sh" $words
  done
}

@test "slurm: an array of shards, then a merge" {
  fake_walkhammer
  mkdir bin
  cat >bin/sbatch <<'END2'
#!/bin/sh
echo "$WALKHAMMER $*" >>sbatch.calls
echo "4$(wc -l <sbatch.calls);cluster"
END2
  chmod +x bin/sbatch
  PATH=$PWD/bin:$PATH run --separate-stderr "$examples/slurm.sh" 4 all --walks 9
  [ "$output" = '41 42' ]
  [[ "$(sed -n 1p sbatch.calls)" == "$WALKHAMMER "*" --array=1-4 "*"/shard.sh 4 $PWD/all --walks 9" ]]
  [[ "$(sed -n 2p sbatch.calls)" == *" --dependency=afterany:41 "*"/shard.sh merge $PWD/all" ]]
  for words in '4' '0 new' '4 all'; do
    # shellcheck disable=SC2086  # a list of words
    PATH=$PWD/bin:$PATH one_sentence 2 "" "$examples/slurm.sh" $words
  done
}
