#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The pages: links, lengths and dates, what is generated, the commands that they show and the
# messages that they quote.
# shellcheck disable=SC2016,SC2154  # backquotes of Markdown; bats and lib.bash set these variables

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
