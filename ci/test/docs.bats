#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The pages: links, lengths and dates, what is generated, the commands that they show and the
# messages that they quote.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154  # backquotes of Markdown; each test is a shell of its
# own; bats and lib.bash set these variables

load lib

# copy: a copy of the tree's pages, known issues and the scripts that read them, in $tmp/tree.
copy() {
  mkdir -p "$tmp/tree"
  git -C "$root" ls-files --cached --others --exclude-standard -- '*.md' docs corpora ci LICENSE |
    (cd "$root" && tar -cf - -T -) | tar -xf - -C "$tmp/tree"
  git -C "$tmp/tree" init -q
}

@test "a broken link and a broken anchor are found" {
  copy
  cd "$tmp/tree"
  printf '%s\n' '' '[gone](howto/gone.md) [none](architecture.md#none) `[code](no.md)`' >>docs/README.md
  git mv -f docs/howto/nights.md docs/howto/moved.md 2>/dev/null || mv docs/howto/nights.md docs/howto/moved.md
  run -1 "$root/ci/test/links.sh" "$tmp/tree"
  echo "$output"
  [[ "$output" == *'docs/README.md:'*': howto/gone.md does not exist'* ]]
  [[ "$output" == *'architecture.md#none is not a heading'* ]]
  [[ "$output" == *'nights.md does not exist'* ]]
  [[ "$output" != *'no.md'* ]]
}

# long_or_dated: prints pages of the current folder with more than 300 lines, a README beyond 120,
# and dates outside of code, figures, findings and the change log.
long_or_dated() {
  find docs README.md CONTRIBUTING.md -name '*.md' | sort | while read -r page; do
    limit=300
    [ "$page" != README.md ] || limit=120
    [ "$(wc -l <"$page")" -le "$limit" ] || echo "$page has more than $limit lines"
    case $page in
    docs/findings/* | docs/reference/figures*) ;;
    *)
      awk -v page="$page" '/^ *```/ { code = !code } !code && /20[0-9][0-9]-[01][0-9]-[0-3][0-9]/ {
        print page ":" FNR " has a date" }' "$page"
      ;;
    esac
  done
}

@test "pages are short, and have no dates but in figures and findings" {
  cd "$root"
  run -0 long_or_dated
  echo "$output"
  [ -z "$output" ]
  [ "$(head -n 1 README.md)" = '# walkhammer' ]
  copy
  cd "$tmp/tree"
  seq 300 >>docs/howto/gate.md
  seq 100 >>README.md
  echo 'Measured on 2026-11-24.' >>docs/howto/stress.md
  run -0 long_or_dated
  echo "$output"
  [ "${#lines[@]}" -eq 3 ]
}

@test "generated pages are what the program and the known issues say, with text below a table" {
  copy
  cd "$tmp/tree"
  echo 'Seen again.' >>docs/findings/WH-01.md
  run -0 "$root/ci/docs.sh" --check "$tmp/tree"
  [ -z "$output" ]
}

@test "a generated page that was edited is found, an issue without a row, and a row without an issue" {
  copy
  cd "$tmp/tree"
  mv corpora/known-issues/WH-02.toml corpora/known-issues/WH-99.toml
  run -1 "$root/ci/docs.sh" --check "$tmp/tree"
  has_parts 'met.tsv has no row for WH-99' 'met.tsv has WH-02, which is not a known issue'
  rm corpora/known-issues/WH-99.toml
  sed -i '/^WH-02/d' docs/findings/met.tsv
  sed -i 's/Forbidden/Acceptable/' docs/reference/oracles.md
  sed -i 's/^state = "open"/state = "fixed"/' corpora/known-issues/WH-03.toml
  run -1 "$root/ci/docs.sh" --check "$tmp/tree"
  has_parts 'nothing makes docs/findings/WH-02.md' '-| `survival` | `death` | Acceptable'
  [[ "$output" == *'+| [WH-03]'*'| fixed |'* ]]
}

@test "a walkhammer that fails leaves the pages as they are" {
  copy
  cat >"$tmp/walkhammer" <<END
#!/bin/sh
[ "\$*" = 'show workloads' ] || exec "$walkhammer" "\$@"
exit 4
END
  chmod +x "$tmp/walkhammer"
  cp -R "$tmp/tree/docs" "$tmp/before"
  WALKHAMMER=$tmp/walkhammer run -3 "$root/ci/docs.sh" "$tmp/tree"
  diff -r "$tmp/before" "$tmp/tree/docs"
}

# unquoted PAGE: prints the messages of PAGE that no source has. Literals that a source splits are
# joined; … and {} stand for any text.
unquoted() {
  [ -s "$tmp/literals" ] ||
    (cd "$root" && git ls-files 'harness/*.cc' 'harness/*.h' 'reports/*.cc' 'stress/*.cc' | grep -v '_test\.cc$' | xargs cat) |
    tr '\n' ' ' | sed -e 's/" *"//g' -e 's/\\"/"/g' -e 's/{}/…/g' >"$tmp/literals"
  sed -n 's/^| `\([^`]*\)` |.*/\1/p' "$1" | while read -r message; do
    # Each part between dots must be there; a part of less than 4 characters says nothing.
    tr '\036' '\n' <<<"${message//…/$'\036'}" | sed 's/^[ ;]*//; s/[ ;(]*$//' | while read -r part; do
      [ "${#part}" -lt 4 ] || grep -qF -- "$part" "$tmp/literals" || echo "no source has: $part"
    done
  done
}

@test "each message of the troubleshooting page is in the sources" {
  page=$root/docs/reference/troubleshooting.md
  [ "$(grep -c '^| `' "$page")" -ge 30 ]
  run -0 unquoted "$page"
  echo "$output"
  [ -z "$output" ]
  sed 's/unpack it first/unzip it first/' "$page" >"$tmp/page.md"
  run -0 unquoted "$tmp/page.md"
  [ "$output" = 'no source has: unzip it first' ]
}

# blocks PAGE: makes 1.sh, 2.sh ... of the shell blocks of PAGE that no comment "not run" precedes,
# and N.text of the text block that follows block N.
blocks() {
  awk '/^<!-- not run/ { skip = 1; next }
    /^```sh$/ { if (!skip) { file = ++n ".sh"; printf "" >file } skip = 0; inside = 1; next }
    /^```text$/ { file = n ".text"; inside = 1; next }
    /^```$/ { file = ""; inside = 0 }
    inside && file != "" { print >file }' "$1"
}

# printed N: fails unless each line of N.text is a line of N.out; … stands for any text.
printed() {
  while read -r line; do
    pattern=$(sed 's/[][\.*^$/]/\\&/g; s/…/.*/g' <<<"$line")
    grep -q -- "^ *$pattern\$" "$1.out" || {
      echo "block $1 did not print: $line"
      return 1
    }
  done <"$1.text"
}

@test "the tutorial does what it says" {
  need_jdk
  export WALKHAMMER_JDK=$jdk PATH=${walkhammer%/*}:$PATH COURSE=$root/docs/tutorial/course
  export COLUMNS=80
  cd "$tmp"
  blocks "$root/docs/tutorial/first-finding.md"
  [ -s 6.sh ]
  for n in 1 2 3 4 5 6; do
    sh -u "./$n.sh" >"$n.out" 2>"$n.err" || code=$?
    cat "$n.out"
    [ "${code:-0}" -le 1 ]
    printed "$n"
    code=0
  done
  # A line that was not printed is found.
  echo 'reproduced  4 of 5' >>3.text
  run -1 printed 3
  [ "${lines[0]}" = 'block 3 did not print: reproduced  4 of 5' ]
}

# shown PAGE N: makes N.text of what the N-th block without a language of a how-to page prints, with
# neither blank lines nor "...", and N.sh of its commands.
shown() {
  awk -v n="$2" '/^```/ { open = !open; plain = open && $0 == "```"; count += plain; next }
    plain && count == n' "$root/docs/howto/$1.md" | sed -e ':again' -e '/\\$/ { N; s/\\\n//; b again' -e '}' >block
  sed -n 's/^\$ //p' block >"$2.sh"
  sed -E '/^(\$ .*|| *\.\.\.)$/d' block >"$2.text"
}

# same N [LINE...]: fails unless N.out has the lines of N.text but those with LINE. Words with a
# digit or a slash, and columns' widths, may differ.
same() {
  local n=$1 line
  shift
  for line in "$@"; do sed -i "/$line/d" "$n.text"; done
  [ -s "$n.text" ]
  sed -E 's,[^ ]*[0-9/][^ ]*,…,g' "$n.text" | tr -s ' ' >"shape-$n.text"
  tr -s ' ' <"$n.out" >"shape-$n.out"
  cat "$n.out"
  printed "shape-$n"
}

# newest FEATURE: prints the newest JDK of this feature version; skips the test if there is none.
newest() {
  local home
  home=$(jdks | while read -r home; do
    grep -q "^JAVA_VERSION=\"\(1\.\)\?$1[.\"]" "$home/release" 2>/dev/null && echo "$home"
  done | tail -n 1)
  [ -n "$home" ] && echo "$home"
}

@test "what the pages on builds and loads show is what the command prints" {
  need_jdk
  export PATH=${walkhammer%/*}:$PATH
  cd "$tmp"
  mkdir -p jdks few/known-issues
  shown find-the-build 2
  cp "$root"/corpora/known-issues/{JDK-8265150.toml,WH-01.*} few/known-issues
  cp -r "$root/corpora/regressions" few
  sh -c "$(sed "s,--jdk .*,--jdk $jdk --corpora few," 2.sh)" >2.out || [ "$?" -eq 1 ]
  sed -i 's/([A-Za-z]*) in/… in/' 2.text
  same 2 JDK-8352649 # which newer JDKs do not have
  shown failing-loads 1
  "$walkhammer" fuzz --engine faults --scene c1 --jdk "$jdk" --no-confirm --no-minimize --out faults >said 2>&1 || [ "$?" -le 1 ]
  "$walkhammer" report faults >1.out
  same 1
  [ "$(jdks | wc -l)" -gt 1 ] || skip 'a table needs two JDKs'
  ln -s "$(jdks | head -n 1)" jdks/old
  ln -s "$jdk" jdks/new
  # JDKs of today do not show the bug of the page; they show WH-02.
  shown find-the-build 1
  for issue in JDK-8302320 WH-02; do
    (cd "$root" && sh -c "$(sed "s,JDK-8302320,$issue,; s,~/.cache/walkhammer/jdks,$tmp/jdks," "$tmp/1.sh")") || [ "$?" -eq 1 ]
  done >1.out
  same 1
  # A word that was not printed is found.
  sed -i 's/reproduced/repeated/' 1.text
  run -1 same 1
  has_parts 'block shape-1 did not print: ' 'repeated'
}

@test "what the page on crash reports shows is what the command prints" {
  export PATH=${walkhammer%/*}:$PATH
  cd "$tmp"
  shown crash-reports 3
  cp "$root/harness/hs_err/testdata/25-jfr-native.log" hs_err_pid20360.log
  jdk=$(jdks | tail -n 1)
  sh -c "$(sed "s,--jdk .*,--jdk $jdk," 3.sh)" >3.out 2>&1
  same 3
  jdk=$(newest 17) || skip 'no JDK 17 on this machine'
  shown crash-reports 1
  "$walkhammer" replay "$root/corpora/regressions/jdk17/agct-frame-interpreter_frame_method-0x4.walk" \
    --jdk "$jdk" --times 1 --keep-crash died >said 2>&1 || [ "$?" -eq 1 ]
  mv died/*.log hs_err_pid16184.log
  sh -c "$(sed "s,--jdk [^ ]*,--jdk $jdk," 1.sh)" >1.out || [ "$?" -eq 1 ]
  same 1
  # The second crash needs a JDK from 17.0.13 to 17.0.15. Only its judgement is quick.
  shown crash-reports 2
  sed -i '/^on /,$d' 2.text
  grep -q '^JAVA_VERSION="17\.0\.1[345]"' "$jdk/release" || return 0
  # shellcheck disable=SC2046  # a list of flags
  "$walkhammer" replay "$root/corpora/known-issues/JDK-8352649.walk" --jdk "$jdk" --times 1 --keep-crash stopped -- \
    $(sed -n 's/^flags = "\(.*\)"/\1/p' "$root/corpora/known-issues/JDK-8352649.toml") >said 2>&1 || [ "$?" -eq 1 ]
  mv stopped/*.log hs_err_pid19991.log
  "$walkhammer" import hs_err_pid19991.log >2.out
  same 2
}

@test "the session of bugs is what the command prints" {
  need_jdk
  export PATH=${walkhammer%/*}:$PATH
  cd "$tmp"
  mkdir -p bugs jdks
  ln -s "$jdk" jdks/17.0.7
  # JDKs of today do not show the bug of the page; they show WH-02, with the same signature.
  cp "$root/corpora/known-issues/WH-02.walk" bugs/JDK-8302320.walk
  shown bugs 1
  sed -n '/^title/,/^flags/p' 1.text >bugs/JDK-8302320.toml
  sed -i '/17.0.9$/d; s/ *# .*//; s/--time 30s/--time 5s/; s/set --store bugs [^ ]*/set --store bugs $bug/' 1.sh
  sed -i 's,^walkhammer bugs update.*,& | tee update; bug=$(sed -n "s/^new *\\(agct-truth-.*\\)/\\1/p" update | head -n 1),' 1.sh
  sh 1.sh >1.out 2>said || true
  # Functions and scenes depend on the JDK.
  sed -i -E 's/in frame::[^ ]*/in …/; s/called from [^;]*/called from …/; s/, [0-9,]*x, replayed 5 of 5/…/; s/^([0-9]+ (new|known, 1 accepted)).*/\1…/' 1.text
  # What the fix of 17.0.9 adds is in bugs.bats.
  same 1 '^fixed ' 'fixed in ' 'none of 10' '1 open bug replayed on 17.0.9' 'truth.truncated in scene'
}

@test "what the page on structs shows is what the command prints" {
  at=${WALKHAMMER_JDKS:-${XDG_CACHE_HOME:-$HOME/.cache}/walkhammer/jdks}
  [ -e "$at/21" ] && [ -e "$at/28" ] || skip "no JDK 21 and 28 in $at"
  export PATH=${walkhammer%/*}:$PATH
  cd "$tmp"
  ln -s "$at" jdks
  shown structs 1
  sh 1.sh >1.out || [ "$?" -eq 1 ]
  same 1
}

@test "each lesson of the course replays as its comment says" {
  cd "$root/docs/tutorial/course"
  while read -r jdk; do
    for lesson in *.walk; do
      says=$(sed -n 's/^# Replays \(clean, with \|clean: \|\)\([^(:]*\).*/\2/p' "$lesson" | sed 's/ *$//')
      run "$walkhammer" replay "$lesson" --jdk "$jdk" --times 2
      echo "$lesson on $jdk says '$says': $output"
      [ -n "$says" ]
      case $lesson in
      1-*) is "$status" 0 && has_parts '2 x      ' ' frames' || return ;;
      3-*) is "$status" 0 && has_parts "2 x      $says" || return ;;
      *) is "$status" 1 && has_parts 'reproduced  2 of 2' "2 x      $says" || return ;;
      esac
    done
  done < <(jdks | sed -n '1p;$p' | sort -u)
}
