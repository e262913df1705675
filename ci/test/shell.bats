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
  [ "$(wc -l <"$tmp/verbs")" -eq 22 ]
  while read -r verb; do
    # shellcheck disable=SC2086  # perhaps two words
    diff <("$walkhammer" help $verb) <("$walkhammer" $verb --help)
  done <"$tmp/verbs"
  diff <("$walkhammer" help) <("$walkhammer" --help)
  diff <("$walkhammer" version) <("$walkhammer" --version)
  refuses 2 "there is no verb \"bugs chek\"; did you mean \"bugs check\"?" help bugs chek
  refuses 2 "there is no verb \"--json\"" help --json
}

@test "what is misspelled gets a suggestion" {
  refuses 2 "there is no verb \"fuz\"; did you mean \"fuzz\"?" fuz
  refuses 2 "did you mean \"help\"?" hlep
  refuses 2 "did you mean \"replay\" or \"report\"?" re
  refuses 2 "there is no verb \"bugs updat\"; did you mean \"bugs update\"?" bugs updat
  refuses 2 "fuzz has no option --walkr; did you mean --walker?" fuzz --walkr agct
  refuses 2 "fuzz has no option -walker; did you mean --walker?" fuzz -walker agct
  refuses 2 "fuzz has no option --sede; did you mean --seed?" fuzz --sede=7
  refuses 2 "bugs check has no option --stor; did you mean --store?" bugs check --stor x
  refuses 2 "walkhammer has no option --verison; did you mean --version?" --verison
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

# ---- terminals ----

# in_terminal COLUMNS COMMAND...: what COMMAND prints on a terminal of so many columns.
in_terminal() {
  script -qec "stty cols $1; $(printf '%q ' "${@:2}")" /dev/null </dev/null | tr -d '\r'
}

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
  [ "$(TERM=xterm in_terminal 80 "$@" --out "$tmp/terminal" | escapes)" -gt 0 ]
  [ "$(TERM=dumb in_terminal 80 "$@" --out "$tmp/dumb" | escapes)" -eq 0 ]
  TERM=xterm "$@" --out "$tmp/file" >"$tmp/stdout" 2>"$tmp/stderr" || [ $? -eq 1 ]
  [ "$(cat "$tmp/stdout" "$tmp/stderr" | escapes)" -eq 0 ]
  run ! grep -q $'\r' "$tmp/stdout" "$tmp/stderr"
  [ -e "$tmp/terminal/run.db" ] && [ -e "$tmp/dumb/run.db" ]
  # The first screen, narrow: only commands and paths, which stay whole, are wider.
  COLUMNS=60 "$@" --out "$tmp/n" 2>/dev/null >"$tmp/screen" || [ $? -eq 1 ]
  grep -q 'walks in ' "$tmp/screen"
  run ! grep -Ev '^(Page|More|    walkhammer) |^.{0,60}$' "$tmp/screen"
}
