#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# How the command behaves in a shell: help, misspelled words, terminals of all kinds, manual pages,
# completion.
# shellcheck disable=SC2154  # bats and lib.bash set these variables

load lib

setup() {
  unset COLUMNS
}

# Prints all verbs, with those of bugs: "fuzz", "bugs check".
all_verbs() {
  "$walkhammer" --help | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p'
  "$walkhammer" bugs --help | sed -n 's/^  \([a-z][a-z]*\) .*/bugs \1/p'
}

# ---- help ----

@test "help and version are words, too" {
  all_verbs >"$tmp/verbs"
  [ "$(wc -l <"$tmp/verbs")" -eq 19 ]
  while read -r verb; do
    # shellcheck disable=SC2086  # perhaps two words
    diff <("$walkhammer" help $verb) <("$walkhammer" $verb --help)
  done <"$tmp/verbs"
  diff <("$walkhammer" help) <("$walkhammer" --help)
  diff <("$walkhammer" version) <("$walkhammer" --version)
  refuses 2 "unknown verb \"bugs chek\"; did you mean \"bugs check\"?" help bugs chek
  refuses 2 "unknown verb \"--json\"" help --json
}

@test "what is misspelled gets a suggestion" {
  refuses 2 "unknown verb \"fuz\"; did you mean \"fuzz\"?" fuz
  refuses 2 "did you mean \"help\"?" hlep
  refuses 2 "did you mean \"replay\" or \"report\"?" re
  refuses 2 "unknown verb \"bugs updat\"; did you mean \"bugs update\"?" bugs updat
  refuses 2 "fuzz has no option --walkr; did you mean --walker?" fuzz --walkr agct
  refuses 2 "fuzz has no option -walker; did you mean --walker?" fuzz -walker agct
  refuses 2 "fuzz has no option --sede; did you mean --seed?" fuzz --sede=7
  refuses 2 "bugs check has no option --stor; did you mean --store?" bugs check --stor x
  refuses 2 "walkhammer has no option --verison; did you mean --version?" --verison
  refuses 2 "flags of the JVM follow after --: walkhammer fuzz ... -- -XX:+UseSerialGC" \
    fuzz -XX:+UseSerialGC --time 1s
  refuses 2 "flags of the JVM follow after --: walkhammer replay ... -- -Xint" replay x.walk -Xint
  refuses 2 "report has no option -Xint (" report x -Xint
  # What is missing is not said instead.
  refuses 2 "replay has no option --jdkk; did you mean --jdk?" replay --jdkk
}

@test "what resembles nothing gets no suggestion" {
  for words in banana list query reproduce x "bugs banana" "fuzz --banana" "fuzz -q" --banana; do
    # shellcheck disable=SC2086  # words
    refuses 2 "" $words
    [[ "$stderr" != *"did you mean"* ]]
    [[ "$stderr" == *"--help"* ]]
  done
  refuses 2 "fuzz takes no argument \"banana\"" fuzz banana
}

@test "what takes one JDK refuses two" {
  refuses 2 "fuzz takes one --jdk; run it once for each JDK" fuzz --jdk a --jdk b
  refuses 2 "minimize takes one --jdk" minimize --jdk a --jdk b x.walk
}

# ---- terminals ----

@test "--help fits into narrow terminals, and cuts no word" {
  while read -r verb; do
    for columns in 40 60 80; do
      # shellcheck disable=SC2086  # perhaps two words
      COLUMNS=$columns "$walkhammer" help $verb >"$tmp/$columns"
    done
    for columns in 40 60; do
      diff <(tr -s ' \n' '\n' <"$tmp/$columns") <(tr -s ' \n' '\n' <"$tmp/80")
    done
    run ! grep -E '.{61}' "$tmp/60"
    run ! grep -E '.{81}' "$tmp/80"
  done < <(all_verbs)
  [ "$(wc -l <"$tmp/60")" -gt "$(wc -l <"$tmp/80")" ]
  diff <(in_terminal 60 "$walkhammer" --help) <(COLUMNS=60 "$walkhammer" --help)
  diff <(in_terminal 300 "$walkhammer" --help) <("$walkhammer" --help)
  for wrong in '' 0 x -5 7; do
    diff <(COLUMNS=$wrong "$walkhammer" --help) <("$walkhammer" --help)
  done
}

# Counts the escape sequences of stdin.
escapes() {
  tr -cd '\033' | wc -c
}

@test "progress is drawn in place on a terminal, and only there" {
  need_jdk
  walks="fuzz --jdk $jdk --scene c2 --walks 2000 --no-confirm --no-coverage"
  # shellcheck disable=SC2086  # words
  set -- "$walkhammer" $walks
  TERM=xterm in_terminal 80 "$@" --out "$tmp/terminal" >"$tmp/drawn"
  [ "$(escapes <"$tmp/drawn")" -gt 0 ]
  run ! grep -qE $'\033\\[[0-9;]*m' "$tmp/drawn" # no colours, so none that NO_COLOR forbids
  [ "$(TERM=dumb in_terminal 80 "$@" --out "$tmp/dumb" | escapes)" -eq 0 ]
  TERM=xterm "$@" --out "$tmp/file" >"$tmp/stdout" 2>"$tmp/stderr" || [ $? -eq 1 ]
  [ "$(cat "$tmp/stdout" "$tmp/stderr" | escapes)" -eq 0 ]
  run ! grep -q $'\r' "$tmp/stdout" "$tmp/stderr"
  [ -e "$tmp/terminal/run.db" ]
  [ -e "$tmp/dumb/run.db" ]
  # The first screen, narrow: only commands and paths, which stay whole, are wider.
  COLUMNS=60 "$@" --out "$tmp/n" 2>/dev/null >"$tmp/screen" || [ $? -eq 1 ]
  grep -q 'walks in ' "$tmp/screen"
  run ! grep -Ev '^(Page|More|Next|    walkhammer) |^      .*walkhammer[^ ]? replay |^.{0,60}$' "$tmp/screen"
  in_terminal 60 "$walkhammer" doctor --jdk "$jdk" >"$tmp/doctor"
  grep -q 'can be fuzzed  *yes' "$tmp/doctor"
  # But for words that are wider than its column.
  run ! grep -Ev '^  (  fix|child|scenes jar|build id) |^.{0,60}$' "$tmp/doctor"
}

# ---- completion ----

scripts=$root/harness/cli/completion

# in_bash WORD...: prints what bash offers for the last WORD behind the command. bash splits words as
# COMP_WORDBREAKS says. Options of compopt are printed like "(default)".
in_bash() {
  bash --norc -c '
    source "$1"
    compopt() { options+=("(${*: -1})"); }
    COMP_LINE="${*:2}"
    COMP_WORDS=()
    for word in "${@:2}"; do
      while [[ $word =~ ^([^=:@]*)([=:@])(.*)$ ]]; do
        [ -z "${BASH_REMATCH[1]}" ] || COMP_WORDS+=("${BASH_REMATCH[1]}")
        COMP_WORDS+=("${BASH_REMATCH[2]}")
        word=${BASH_REMATCH[3]}
      done
      [ -z "$word" ] && [[ ${COMP_WORDS[-1]:-} == [=:@] ]] || COMP_WORDS+=("$word")
    done
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    COMP_POINT=${#COMP_LINE}
    _walkhammer "$2" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]:-}"
    echo "${options[@]}" "${COMPREPLY[@]}"' bash "$scripts/walkhammer.bash" "$walkhammer" "$@"
}

@test "bash completes verbs, options and their values" {
  is "$(in_bash fu)" "fuzz"
  is "$(in_bash re)" "replay report"
  is "$(in_bash banana)" ""
  is "$(in_bash bugs ch)" "check"
  is "$(in_bash help bugs s)" "set"
  is "$(in_bash fuzz --walk)" "--walker --walks"
  is "$(in_bash fuzz --walks 5 --walk)" "--walker"
  is "$(in_bash report --json --unre)" "" # they exclude each other
  is "$(in_bash fuzz --engine r)" "random"
  is "$(in_bash fuzz --walker agct,asgs)" "agct,asgst agct,asgst@jdk agct,asgst-uncached"
  is "$(in_bash fuzz --walker=agc)" "agct agct-library"
  is "$(in_bash fuzz --walker=agct,asgst@)" "jdk"
  is "$(in_bash fuzz --scene c2-inl)" "c2-inlined-chain"
  is "$(in_bash stress --clock "")" "cpu wall"
  is "$(in_bash stress --clock=)" "cpu wall"
  is "$(in_bash stress --workload torture:mi)" "mixed"
  is "$(in_bash fuzz --seed "")" ""
  is "$(in_bash fuzz --walks 5 -- -XX)" ""
}

@test "bash completes files and folders where they belong" {
  is "$(in_bash fuzz --out "")" "(plusdirs)"
  is "$(in_bash gate --baseline a "")" "(plusdirs)"
  is "$(in_bash replay "")" "(default)"
  is "$(in_bash show walk)" "(default) walkers"
  is "$(in_bash fuzz --provider "")" "(default) jdk ref"
  need_jdk
  [[ "$(in_bash fuzz --jdk "")" == "(plusdirs) "*"$jdk"* ]]
}

@test "completion offers each verb and each option of --help, and none else" {
  diff <({ "$walkhammer" complete "" | cut -f1; "$walkhammer" complete bugs "" | sed 's/\t.*//; s/^/bugs /'; } | sort) \
    <({ all_verbs && printf 'help\nversion\n'; } | sort)
  while read -r verb; do
    # shellcheck disable=SC2086  # perhaps two words
    diff <("$walkhammer" complete $verb - | cut -f1 | sort) \
      <("$walkhammer" $verb --help | sed -nE 's/^  (-h,)?(--[a-z-]+).*/\2/p' | sort)
  done < <(all_verbs)
}

# zsh_makes LINE TEXT: in a real zsh, on a terminal of its own, Tab after LINE makes TEXT appear.
zsh_makes() {
  # shellcheck disable=SC2016  # they are zsh's
  timeout "${limit:-30}" zsh -f -c '
    zmodload zsh/zpty
    zpty shell "TERM=dumb zsh -f -i"
    zpty -w shell "PS1=; fpath=(${(q)1} \$fpath); path=(${(q)2:h} \$path)"
    zpty -w shell "autoload -U compinit; compinit -D -u; cd ${(q)5}; echo re\"\"ady"
    zpty -r -m shell line "*ready*"
    zpty -w -n shell "$3"$'"'\t'"'
    zpty -r -m shell line "*${(b)4}*"' zsh "$scripts" "$walkhammer" "$1" "$2" "$tmp" || {
    echo "zsh: $1: $2 does not appear"
    return 1
  }
}

@test "zsh completes, too" {
  command -v zsh >/dev/null || skip "zsh is not installed: ci/setup.sh shells"
  zsh_makes "walkhammer fu" "walkhammer fuzz "
  zsh_makes "walkhammer fuzz --walk" "Stop after this many walks"
  zsh_makes "walkhammer bugs ch" "walkhammer bugs check "
  zsh_makes "walkhammer fuzz --walker agct,ji" "--walker agct,"
  zsh_makes "walkhammer fuzz --engine=r" "--engine=random "
  zsh_makes "walkhammer stress --workload torture:mi" "torture:mixed "
  mkdir "$tmp/a folder"
  touch "$tmp/a walk"
  zsh_makes "walkhammer fuzz --out a" "a\\ folder/"
  zsh_makes "walkhammer fuzz --out=a" "--out=a\\ folder/"
  zsh_makes "walkhammer replay a\\ w" "a\\ walk "
  # The check itself notices what does not appear.
  limit=3
  run ! zsh_makes "walkhammer fu" "walkhammer fuzzy"
}

# in_fish LINE: what a real fish offers for the last word of LINE.
in_fish() {
  # shellcheck disable=SC2016  # they are fish's
  (cd "$tmp" && timeout 30 fish --no-config -c '
    set PATH $argv[1] $PATH
    source $argv[2]/walkhammer.fish
    complete -C $argv[3]' "$(dirname "$walkhammer")" "$scripts" "$1" | cut -f1 | tr '\n' ' ')
}

@test "fish completes, too" {
  command -v fish >/dev/null || skip "fish is not installed: ci/setup.sh shells"
  is "$(in_fish "walkhammer fu")" "fuzz "
  is "$(in_fish "walkhammer bugs ch")" "check "
  is "$(in_fish "$(printf %q "$walkhammer") fuzz --walk")" "--walker --walks "
  is "$(in_fish "walkhammer fuzz --walker agct,asgs")" "agct,asgst agct,asgst@jdk agct,asgst-uncached "
  is "$(in_fish "walkhammer fuzz --engine=r")" "--engine=random "
  is "$(in_fish "walkhammer banana")" ""
  mkdir "$tmp/afolder"
  touch "$tmp/awalk"
  is "$(in_fish "walkhammer fuzz --out a")" "afolder/ "
  is "$(in_fish "walkhammer fuzz --out=a")" "--out=afolder/ "
  is "$(in_fish "walkhammer replay a")" "afolder/ awalk "
}

# ---- manual pages ----

@test "the command and each verb have a manual page" {
  mkdir "$tmp/man"
  "$walkhammer" manual "$tmp/man"
  diff <(cd "$tmp/man" && printf '%s\n' *) \
    <({ echo walkhammer && all_verbs | sed 's/^/walkhammer-/; s/ /-/'; } | sed 's/$/.1/' | LC_ALL=C sort)
  for page in "$tmp"/man/*; do
    for section in NAME SYNOPSIS DESCRIPTION OPTIONS 'EXIT STATUS' ENVIRONMENT FILES EXAMPLES \
      'SEE ALSO'; do
      [ "$(grep -cx ".SH $section" "$page")" -eq 1 ]
    done
    run ! grep -q '[^ -~]' "$page"
  done
  mkdir "$tmp/again"
  "$walkhammer" manual "$tmp/again"
  diff -r "$tmp/man" "$tmp/again"
  refuses 4 "/none" manual "$tmp/none"
}

@test "man and lexgrog take the manual pages" {
  command -v man >/dev/null && command -v groff >/dev/null || skip "man is not installed: ci/setup.sh shells"
  mkdir "$tmp/man"
  "$walkhammer" manual "$tmp/man"
  for page in "$tmp"/man/*; do
    run -0 --separate-stderr env MANWIDTH=80 LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l "$page"
    is "$stderr" ""
    name=$(basename "$page" .1)
    [[ "$output" == *"$name - "*SYNOPSIS*"SEE ALSO"* ]]
    run ! grep -E '.{81}' <<<"$(grep -v '^ *walkhammer ' <<<"$output")"
    [[ "$(lexgrog "$page")" == *": \"$name - "* ]]
  done
  # The check itself notices what groff warns of.
  printf '.TH A 1\n.SH NAME\na \\- b \\*[undefined]\n' >"$tmp/bad.1"
  run --separate-stderr env LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l "$tmp/bad.1"
  [ -n "$stderr" ]
}

@test "each option of --help is in the manual page of its verb" {
  command -v man >/dev/null && command -v groff >/dev/null || skip "man is not installed: ci/setup.sh shells"
  mkdir "$tmp/man"
  "$walkhammer" manual "$tmp/man"
  while read -r verb; do
    # shellcheck disable=SC2086  # perhaps two words
    diff <("$walkhammer" $verb --help | grep -oE '^  (-h,)?--[a-z-]+' | grep -oE -- '--.*' | sort) \
      <(sed -n '/^.SH OPTIONS/,/^.SH EXIT/p' "$tmp/man/walkhammer-${verb/ /-}.1" |
        sed -nE 's/\\-/-/g; s/^(.*, )?\\fB(--[a-z-]+)\\fR.*/\2/p' | sort)
  done < <(all_verbs)
}
