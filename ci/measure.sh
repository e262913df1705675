#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Measures figures of docs/reference/figures.md at this commit, and writes them there:
#   ci/measure.sh [OPTION...] [PART...]
# A PART is a file of ci/measure/figures (default: all). What a part has measured at this commit is
# kept, so a run that was interrupted goes on where it ended.
#   --list      prints the parts, and how long each takes
#   --jdk HOME  a JDK; repeatable (default: all JDKs of this machine)
#   --again     measures the parts once more
#   --page      only writes the kept rows into the page
# WALKHAMMER names the executable (default: the release build's), WALKHAMMER_MACHINE how the page
# describes the machine (default: its processor). WALKHAMMER_FIGURES is the page. Rows are kept in
# out/figures/COMMIT. The sources must be committed: a figure is of a commit.
# Exit codes: 0 measured, 1 a part failed, 2 usage, 3 no JDK, 4 no build.
# shellcheck disable=SC2317  # the parts call the functions
set -eu
cd "$(dirname "$0")/.."

usage() {
  echo "measure: $1; see ci/measure.sh --help" >&2
  exit 2
}

parts=
jdks=
again=
only_page=
while [ "$#" -gt 0 ]; do
  case $1 in
    --help)
      sed -n '3,/^set/s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    --list)
      for part in ci/measure/figures/*.sh; do
        printf '%-10s %s\n' "$(basename "$part" .sh)" "$(sed -n '2s/^# //p' "$part")"
      done
      exit 0
      ;;
    --jdk)
      [ "$#" -gt 1 ] || usage '--jdk needs a value'
      jdks="$jdks $2"
      shift
      ;;
    --again) again=yes ;;
    --page) only_page=yes ;;
    *)
      [ -f "ci/measure/figures/$1.sh" ] || usage "unknown part: $1"
      parts="$parts $1"
      ;;
  esac
  shift
done
[ -n "$parts" ] || parts=$(basename -a -s .sh ci/measure/figures/*.sh)
page=${WALKHAMMER_FIGURES:-docs/reference/figures.md}
commit=$(git rev-parse --short=8 HEAD)
kept=out/figures/$commit

# shellcheck source=ci/measure/lib_measure.sh
. ci/measure/lib_measure.sh
# shellcheck source=ci/test/lib_clients.sh
. ci/test/lib_clients.sh

# --- for the parts ----------------------------------------------------------------------------

# row SECTION CLAIM FIGURE COMMAND: a row of the page, which replaces the one of this claim.
row() {
  [ ! -e "$work/bad" ] || exit 1 # in what has made the figure
  [ -n "$3" ] || {
    echo "measure: $part: no figure for: $2" >&2
    exit 1
  }
  printf '%s\t| %s | %s | %s | %s | %s | %s | %s |\n' "$1" "$2" "$3" "$names" "\`$4\`" \
    "$(date +%F)" "$commit" "$machine, load $load" >>"$work/rows"
}

# run FOLDER VERB ARGUMENT...: runs walkhammer; fails unless its exit code is 0, 1 or 3.
run() {
  folder=$work/$1
  verb=$2
  shift 2
  rm -rf "$folder"
  code=0
  "$walkhammer" "$verb" --out "$folder" "$@" >"$folder.txt" 2>"$folder.log" || code=$?
  case $code in
    0 | 1 | 3) ;;
    *)
      echo "measure: $part: $verb ended with $code: $(tail -n 1 "$folder.log")" | tee "$work/bad" >&2
      exit 1
      ;;
  esac
}

# ask FOLDER SQL: queries FOLDER's run.db.
ask() {
  sqlite3 -readonly "$work/$1/run.db" "$2"
}

# library NAME: the profiler's library that ci/setup/profilers.sh has laid out; nothing: it has not.
library() {
  found=${WALKHAMMER_PROFILERS:-${XDG_CACHE_HOME:-$HOME/.cache}/walkhammer/profilers}/$1.so
  [ ! -e "$found" ] || echo "$found"
}

# each COMMAND...: runs it for each JDK, as $jdk and $name; joins what it prints by "; ".
each() {
  for jdk in $jdks; do
    name=$(feature "$jdk")
    export name
    "$@"
  done | awk '{ printf "%s%s", (NR > 1 ? "; " : ""), $0 }'
}

# thousands NUMBER: with commas.
thousands() {
  echo "$1" | sed -e :a -e 's/\([0-9]\)\([0-9]\{3\}\)\($\|,\)/\1,\2\3/;ta'
}

# -----------------------------------------------------------------------------------------------

# measure PART: leaves the part's rows in $kept, if all of it succeeds. Not to be called in a
# condition, where the part would go on after an error.
measure() {
  part=$1
  [ -n "$again" ] || [ ! -s "$kept/$part" ] || return 0
  echo "measure: $part, after $(($(date +%s) - begin)) s" >&2
  load=$(cut -d. -f1 /proc/loadavg)
  : >"$work/rows"
  rm -f "$work/bad"
  set +e
  # shellcheck source=/dev/null
  (set -e; . "ci/measure/figures/$part.sh")
  code=$?
  set -e
  if [ "$code" -eq 0 ] && [ -s "$work/rows" ]; then
    mkdir -p "$kept"
    mv "$work/rows" "$kept/$part"
  else
    echo "FAILED  $part" >&2
    failed=1
  fi
}

# write_page: each kept row takes the place of the row of its claim, or comes at the end of the
# first table of its section.
write_page() {
  cat "$kept"/* >"$work/all"
  awk -F '\t' '
    function claim(line) { return substr(line, 1, index(substr(line, 3), " | ") + 1) }
    function rest(  i) {
      for (i = 1; i <= count; i++)
        if (where[i] == section && !(i in written)) { print text[i]; written[i] }
    }
    NR == FNR { where[++count] = $1; text[count] = $2; next }
    /^## / { section = substr($0, 4); in_table = 0; tables = 0 }
    /^\|/ && !in_table { in_table = 1; tables++ }
    !/^\|/ && in_table { in_table = 0; if (tables == 1) rest() }
    {
      line = $0
      if (in_table)
        for (i = 1; i <= count; i++)
          if (where[i] == section && claim(text[i]) == claim($0)) { line = text[i]; written[i] }
      print line
    }
    END { for (i = 1; i <= count; i++) if (!(i in written)) bad = bad " " where[i]
          if (bad != "") { print "measure: no such section:" bad >"/dev/stderr"; exit 1 } }
  ' "$work/all" "$page" >"$work/page"
  cp "$work/page" "$page"
}

begin=$(date +%s)
failed=0
if [ -z "$only_page" ]; then
  [ -x "$walkhammer" ] || {
    echo "measure: no $walkhammer: run cmake --preset release && cmake --build build/release" >&2
    exit 4
  }
  git diff --quiet HEAD -- . ":!$page" || usage 'commit first: there are changes'
  [ -n "$jdks" ] || jdks=$("$walkhammer" show jdks | sed 's/  .*//')
  [ -n "$jdks" ] || {
    echo 'measure: no JDK on this machine' >&2
    exit 3
  }
  names=$(each printenv name)
  # shellcheck disable=SC2034,SC2086  # words; the parts use it
  jdk_options=$(printf -- '--jdk %s ' $jdks)
  machine=${WALKHAMMER_MACHINE:-$(sed -n '/^model name/{s/.*: //p;q}' /proc/cpuinfo), $(nproc) cores}
  for part in $parts; do
    measure "$part"
  done
fi
[ ! -d "$kept" ] || write_page
exit "$failed"
