#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes the pages of docs that are made from the program and from the known issues: verbs and
# options, oracles, walkers, scenes, workloads, profiles, exit codes and findings. Text below the
# table of a finding's page is kept.
#   ci/docs.sh [--check] [ROOT]    ROOT is the tree to read corpora and docs of (default: this one)
# WALKHAMMER names the executable (default: build/release/walkhammer). --check writes nothing, and
# prints how the pages differ from what would be written.
# Exit codes: 0 written, or nothing differs; 1 a page differs, or an issue has no row; 2 usage; 3
# the executable is not there, or fails.
# shellcheck disable=SC2016  # backquotes of Markdown
set -eu
[ "${1:-}" != --help ] || exec sed -n '/^# shellcheck/d;3,/^set/s/^# \{0,1\}//p' "$0"
check=
[ "${1:-}" != --check ] || {
  check=yes
  shift
}
[ $# -le 1 ] || {
  echo "docs: expected [--check] [ROOT], got $*" >&2
  exit 2
}
here=$(cd "$(dirname "$0")/.." && pwd)
walkhammer=$(realpath -m "${WALKHAMMER:-$here/build/release/walkhammer}")
cd "${1:-$here}"
"$walkhammer" --version >/dev/null 2>&1 || {
  echo "docs: $walkhammer is not there, or does not run: run cmake --build build/release" >&2
  exit 3
}
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
trap 'exit 130' INT TERM
mkdir -p "$made/docs/reference" "$made/docs/findings"
export COLUMNS=80

# says ARGUMENT...: prints what walkhammer prints. Ends the script if it fails; a pipe would hide
# that.
says() {
  "$walkhammer" "$@" >"$made/said" || exit 3
  cat "$made/said"
}
text=$(says --help)

# page PATH TITLE: begins a page; what follows is appended to $page.
page() {
  page=$made/$1
  printf '# %s\n\n<!-- ci/docs.sh makes this page: do not edit it. -->\n\n' "$2" >"$page"
}

# options VERB...: the verb's help as a section: usage, then a table of its arguments and options.
options() {
  printf '## %s\n\n' "$*"
  said=$(says help "$@")
  printf '%s\n' "$said" | awk '
    function cell(text) { gsub(/\|/, "\\|", text); return text }
    function flush() { if (name != "") print "| `" cell(name) "` | " cell(what) " |"; name = what = "" }
    NR == 1, /^Usage:/ { if (/^Usage:/) { sub(/^Usage: /, ""); usage = $0; reading = 1 } else lead = lead (lead == "" ? "" : " ") $0; next }
    reading && /^ / { sub(/^ +/, ""); usage = usage " " $0; next }
    reading { reading = 0; print lead ".\n\n    " usage "\n\n| option or argument | meaning |\n| --- | --- |" }
    /^(Options|Arguments):$/ { inside = 1; next }
    /^[A-Z]/ { flush(); inside = 0 }
    !inside { next }
    /^  [^ ]/ {
      flush()
      line = substr($0, 3)
      at = match(line, /  +/)
      name = at ? substr(line, 1, at - 1) : line
      what = at ? substr(line, at + RLENGTH) : ""
      if (name ~ /^-h,/) name = ""
      next
    }
    /^ +[^ ]/ && name != "" { sub(/^ +/, ""); what = what (what == "" ? "" : " ") $0 }
    END { flush() }'
  echo
}

# verbs PURPOSE: the verbs that --help lists under PURPOSE.
verbs() {
  printf '%s\n' "$text" | awk -v purpose="$1:" '
    $0 == purpose { inside = 1; next }
    /^$/ { inside = 0 }
    inside && /^  [a-z]/ { print $1 }'
}

# command_page FILE TITLE PURPOSE...: a page with the options of the verbs of each PURPOSE.
command_page() {
  page "docs/reference/$1" "$2"
  shift 2
  for purpose in "$@"; do
    for verb in $(verbs "$purpose"); do
      options "$verb"
      [ "$verb" != bugs ] || for inner in update grade list set check; do
        options bugs "$inner"
      done
    done
  done >>"$page"
}

command_page command-find.md 'Command: find' Find
command_page command-findings.md 'Command: work with a finding' 'Work with a finding'
command_page command-judge.md 'Command: judge runs' 'Judge runs'
command_page command-reports.md 'Command: crash reports, this machine' 'Crash reports' 'This machine'

page docs/reference/command.md 'The command'
{
  printf '%s\n\n' '`walkhammer VERB` does one thing; `walkhammer help VERB` prints what these pages say. Every verb has `--json`.'
  printf '| for | verb | does |\n| --- | --- | --- |\n'
  printf '%s\n' "$text" | awk '
    function flush() { if (verb != "") print "| " purpose " | [`" verb "`](" file[purpose] "#" verb ") | " what " |"; verb = "" }
    BEGIN {
      file["Find"] = "command-find.md"; file["Work with a finding"] = "command-findings.md"
      file["Judge runs"] = "command-judge.md"; file["Crash reports"] = file["This machine"] = "command-reports.md"
    }
    /^[A-Z][A-Za-z ]*:$/ { flush(); purpose = $0; sub(/:$/, "", purpose); next }
    /^[^ ]|^$/ { flush() }
    !(purpose in file) { next }
    /^  [a-z]/ { flush(); verb = $1; what = $0; sub(/^  [a-z]+ +/, "", what); next }
    /^ +[^ ]/ && verb != "" { sub(/^ +/, ""); what = what " " $0 }
    END { flush() }'
  printf '\nExit codes: [a page of their own](exit-codes.md). Messages that stop a run: [troubleshooting](troubleshooting.md).\n'
} >>"$page"

page docs/reference/exit-codes.md 'Exit codes'
{
  printf '%s\n\n| code | meaning |\n| --- | --- |\n' 'Every verb ends with one of these.'
  printf '%s\n' "$text" | awk '
    /^Exit codes: / { sub(/^Exit codes: /, ""); inside = 1 }
    inside { text = text (text == "" ? "" : " ") $0 }
    END {
      sub(/\.$/, "", text)
      count = split(text, code, /, /)
      for (i = 1; i <= count; i++) print "| " substr(code[i], 1, 1) " | " substr(code[i], 3) " |"
      exit count != 5
    }'
  cat <<'TEXT'

A 3 is a skip and never a pass: the machine or the JDK lacks something, and the message says what.
A 4 is never a pass, either: the run was vacuous, for example because no undisturbed scene was walked, or the tool failed.
What a verb means by a finding is on its page: [gate](../howto/gate.md), [bugs](../howto/bugs.md), [import](../howto/crash-reports.md).
TEXT
} >>"$page"

page docs/reference/oracles.md 'Oracles and grades'
{
  printf '%s\n' 'An oracle takes a request and its trace, and says whether there is a bug. Each outcome has a grade: Acceptable, Interesting or Forbidden.' '' \
    '| oracle | outcome | grade | because |' '| --- | --- | --- | --- |'
  said=$(says show oracles)
  printf '%s\n' "$said" | awk '
    function cell(text) { gsub(/\|/, "\\|", text); return text }
    /^[^ ]/ { oracle = $1; next }
    {
      sub(/^ +/, ""); outcome = $0; sub(/: .*/, "", outcome)
      rest = substr($0, length(outcome) + 3); grade = rest; sub(/, .*/, "", grade)
      print "| `" oracle "` | `" outcome "` | " grade " | " cell(substr(rest, length(grade) + 3)) " |"
    }'
} >>"$page"

# choices WHAT HEAD: the names of `show WHAT` and what they are, without what depends on this machine.
choices() {
  printf '| %s | is |\n| --- | --- |\n' "$2"
  said=$(says show "$1")
  printf '%s\n' "$said" | awk '
    /^[^ ]/ { name = $1; sub(/^[^ ]+ +/, ""); gsub(/\|/, "\\|"); print "| `" name "` | " $0 " |" }'
}

page docs/reference/walkers.md 'Walkers'
{
  printf '%s\n\n' 'Names for `--walker`, alone or several at once: `--walker agct,asgst` compares their answers.'
  choices walkers walker
  printf '\n%s\n' 'How they are driven: [profilers](../howto/profilers.md), [other implementations](../howto/other-providers.md), [your own](../howto/own-walker.md).'
} >>"$page"

page docs/reference/scenes.md 'Scenes'
{
  printf '%s\n\n' 'A scene is a Java thread that is parked at a known place, with a true stack that JVMTI reports. `walkhammer show scenes` says which a JDK can have.'
  choices scenes scene
} >>"$page"

page docs/reference/workloads.md 'Workloads'
{
  printf '%s\n\n' 'Names for `stress --workload` and `step --workload`; patterns such as `torture:*` are allowed. How to get or add them: [workloads](../howto/workloads.md).'
  choices workloads workload
} >>"$page"

page docs/reference/profiles.md 'Flag profiles'
{
  printf '%s\n\n| profile | is | flags |\n| --- | --- | --- |\n' 'Names for `stress --profile` and `step --profile`: JVM flags that users run with.'
  said=$(says show profiles --json)
  printf '%s\n' "$said" | awk -F '"' '
    /"flags": \[/ { inside = 1; flags = ""; if (/\]/) inside = 0; next }
    inside && /\]/ { inside = 0; next }
    inside { flags = flags (flags == "" ? "" : " ") "`" $2 "`" }
    $2 == "name" { name = $4 }
    $2 == "what" { print "| `" name "` | " $4 " | " (flags == "" ? "none" : flags) " |" }'
} >>"$page"

# What the awk programs below share: a TOML file is read up to its first table.
toml='
  # The value of a TOML line without quotes, brackets and the commas between lines.
  function value(line) {
    if (line ~ /^\[.*\]$/) line = substr(line, 2, length(line) - 2)
    sub(/,$/, "", line)
    gsub(/^\047|\047$/, "", line)
    gsub(/"/, "", line)
    gsub(/\|/, "\\|", line)
    return line
  }
  FILENAME ~ /met\.tsv$/ { if (!/^#/) { order[++rows] = $1; met[$1] = $2 } next }
  FNR == 1 { id = FILENAME; sub(/.*\//, "", id); sub(/\.toml$/, "", id); known[id] = 1; head = 1; list = "" }
  /^\[/ { head = 0 }
  !head { next }
  list != "" {
    if (/^\]/) { list = ""; next }
    sub(/^ +/, "")
    field[id, list] = field[id, list] (field[id, list] == "" ? "" : "\n") value($0)
    next
  }
  match($0, /^[a-z-]+ = /) {
    key = substr($0, 1, RLENGTH - 3)
    rest = substr($0, RLENGTH + 1)
    if (rest == "[") list = key; else field[id, key] = value(rest)
  }'
met=docs/findings/met.tsv

page docs/findings/README.md 'Findings'
{
  cat <<'TEXT'
This table lists the bugs of stack walkers in walkhammer's registry, `corpora/known-issues`. Bugs that profilers of healthy programs meet come first. `walkhammer bugs check --jdk JDK` says which of them a JDK has. `WH-N` is a root cause that walkhammer has found; the others are bugs of public trackers.

* **Met by**: what triggers the bug. *Real signals* are contexts that a profiler's signal shows in a healthy program. A profiler may never meet a bug that needs *damaged* registers or a damaged stack.
* **Upstream**: the ids of public trackers that are about it. This project has filed none; where a page says "To be filed", it has a text that is ready to file. "Not found" means that stored copies of GitHub's issues and pull requests have no such report. OpenJDK's own tracker was not searched.

Each issue has a page. Its figures were measured on x86_64, on two cores that other work shared. Each replay is a fresh process with address randomisation. The reference builds are [those of the corpora](../../corpora/reference-builds); the other JDKs are what `ci/setup/jdks.sh` lays out (8u504, 11.0.33-ea, 17.0.21, 21.0.13, 25.0.5, 26.0.2, 27.0.1, 28-ea+18). To repeat a figure:

```sh
walkhammer replay corpora/regressions/jdk25/NAME.walk --jdk JDK --times 10
walkhammer replay corpora/regressions/asprof-vm/NAME.walk --jdk JDK --times 10 --library ~/.cache/walkhammer/profilers/asprof-4.6.so
walkhammer replay corpora/regressions/ddprof/NAME.walk --jdk JDK17 --times 10 --library ~/.cache/walkhammer/profilers/ddprof-1.22.0.so
```

More: [profilers](profilers.md), [which walker gets what wrong](who-gets-what-wrong.md), [seen, and not counted](not-counted.md).

| id | bug | walkers | JDKs | libraries | met by | state | upstream |
| --- | --- | --- | --- | --- | --- | --- | --- |
TEXT
  awk -F '\t' "$toml"'
    END {
      for (id in known) if (!(id in met)) { print "docs: docs/findings/met.tsv has no row for " id >"/dev/stderr"; bad = 1 }
      for (i = 1; i <= rows; i++) {
        id = order[i]
        if (!(id in known)) { print "docs: docs/findings/met.tsv has " id ", which is not a known issue" >"/dev/stderr"; bad = 1; continue }
        upstream = field[id, "upstream"]
        name = id
        if (name ~ /^WH-/) sub(/[a-z]$/, "", name)
        print "| [" id "](" name ".md) | " field[id, "title"] " | " (field[id, "walkers"] == "" ? "-" : field[id, "walkers"]) \
          " | " (field[id, "affected"] == "" ? "-" : "`" field[id, "affected"] "`") \
          " | " (field[id, "affected-libraries"] == "" ? "-" : field[id, "affected-libraries"]) \
          " | " met[id] " | " field[id, "state"] " | " (upstream == "" ? "no" : upstream) " |"
      }
      exit bad
    }' "$met" corpora/known-issues/*.toml
} >>"$page"

# A page for each root cause: its files of the registry as tables, then what its page had below this
# line.
kept_below='<!-- ci/docs.sh keeps what follows. -->'
for cause in $(find corpora/known-issues -name '*.toml' | sed 's/.*\///; s/\.toml$//; s/^\(WH-[0-9]*\)[a-z]$/\1/' | sort -u); do
  title=$(sed -n "s/^title = ['\"]\(.*\)['\"]\$/\1/p" "corpora/known-issues/$cause.toml" 2>/dev/null) || true
  page "docs/findings/$cause.md" "$cause: ${title:-several root causes}"
  # shellcheck disable=SC2046  # no blanks in these names
  awk -F '\t' -v cause="$cause" "$toml"'
    function row(head, text) { if (text != "") print "| " head " | " text " |" }
    function code(text) { return text == "" ? "" : "`" text "`" }
    function links(text, all,   n, i, part, path) {
      n = split(text, part, "\n")
      for (i = 1; i <= n; i++) {
        path = part[i]
        sub(/^\.\.\//, "", path)
        all = all (all == "" ? "" : ", ") "[" substr(path, index(path, "/") + 1) "](../../corpora/" path ")"
      }
      return all
    }
    FNR == 1 { ids[++count] = id }
    END {
      for (i = 1; i <= count; i++) {
        id = ids[i]
        if (count > 1) print "## " id ": " field[id, "title"] "\n"
        print "| | |\n| --- | --- |"
        row("walkers", field[id, "walkers"])
        row("JDKs", code(field[id, "affected"]))
        row("libraries", field[id, "affected-libraries"])
        row("met by", met[id])
        row("state", field[id, "state"])
        row("upstream", field[id, "upstream"] (field[id, "upstream"] == "" ? "" : ": ") field[id, "upstream-status"])
        row("cause", field[id, "cause"])
        row("seen by", field[id, "trigger"])
        row("flags", code(field[id, "flags"]))
        own = "corpora/known-issues/" id ".walk"
        has_own = (getline line <own) > 0
        row("requests", links(field[id, "requests"], has_own ? "[" id ".walk](../../" own ")" : ""))
        print ""
      }
    }' "$met" $(find corpora/known-issues -name "$cause.toml" -o -name "${cause}[a-z].toml" | sort) >>"$page"
  if grep -qxF "$kept_below" "docs/findings/$cause.md" 2>/dev/null; then
    sed -n "\\|^$kept_below\$|,\$p" "docs/findings/$cause.md" >>"$page"
  else
    sed -i '$d' "$page"
  fi
done

grep -rlF '<!-- ci/docs.sh makes this page' docs --include='*.md' | sort | while read -r page; do
  [ -e "$made/$page" ] || echo "docs: nothing makes $page: is its issue gone?"
done >"$made/stale"
cat "$made/stale" >&2
failed=0
[ ! -s "$made/stale" ] || failed=1

if [ -n "$check" ]; then
  for page in $(cd "$made" && find docs -name '*.md' | sort); do
    diff -u "$page" "$made/$page" || failed=1
  done
  [ "$failed" -eq 0 ] || echo "docs: run ci/docs.sh"
  exit "$failed"
fi
cp -R "$made/docs" .
exit "$failed"
