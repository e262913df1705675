#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes a site of static pages out of the repository's Markdown, which any web server can serve:
# README is its first page, docs/README the index of all others.
#   ci/site.sh [FOLDER]   default: out/site, which must not exist yet
# Files that pages link to are copied; links to folders lead to the folders' pages, or become plain
# text. Checks that each link of the site leads to a file and an anchor of it.
# Needs pandoc: ci/setup.sh site.
# Exit codes: 0 made, 1 a link is broken, 2 usage, 3 pandoc is not installed.
set -eu
[ "${1:-}" != --help ] || exec sed -n '3,/^set/s/^# \{0,1\}//p' "$0"
[ $# -le 1 ] || {
  echo "site: expected one folder at most, got $*" >&2
  exit 2
}
site=$(realpath -m "${1:-$(dirname "$0")/../out/site}")
cd "$(dirname "$0")/.."
command -v pandoc >/dev/null || {
  echo 'site: pandoc is not installed: run ci/setup.sh site' >&2
  exit 3
}
[ ! -e "$site" ] || {
  echo "site: $site exists already" >&2
  exit 2
}
mkdir -p "$site"

# to_root PAGE: the way from PAGE's folder to the top: nothing, ../ or ../../
to_root() {
  printf '%s' "$1" | sed 's/[^/]*$//; s/[^/]*\//..\//g'
}

git ls-files -- '*.md' | while read -r page; do
  mkdir -p "$site/$(dirname "$page")"
  title=$(sed -n 's/^# //p;/^# /q' "$page" | tr -d '`')
  pandoc --from gfm --to html5 --standalone --template ci/site/page.html \
    --lua-filter ci/site/links.lua --metadata pagetitle="$title" --metadata lang=en \
    --variable root="$(to_root "$page")" --output "$site/${page%.md}.html" "$page"
done
cp ci/site/style.css "$site"
cp "$site/README.html" "$site/index.html"

# Files that pages link to, beside the pages.
find "$site" -name '*.html' | while read -r page; do
  from=${page#"$site"/}
  grep -oE '(href|src)="[^"#:]+' "$page" | sed 's/^[a-z]*="//' | while read -r link; do
    file=$(realpath -m --relative-to=. "$(dirname "$from")/$link")
    [ ! -f "$file" ] || [ -e "$site/$file" ] || { mkdir -p "$site/$(dirname "$file")" && cp "$file" "$site/$file"; }
  done
done

find "$site" -name '*.html' | sort | while read -r page; do
  grep -oE '(href|src)="[^":]+"' "$page" | sed 's/^[a-z]*="//; s/"$//' | sort -u | while read -r link; do
    path=${link%%#*}
    target=$page
    [ -z "$path" ] || target=$(dirname "$page")/$path
    anchor=
    [ "$link" = "$path" ] || anchor=${link#*#}
    if [ ! -f "$target" ] || { [ -n "$anchor" ] && ! grep -qF "id=\"$anchor\"" "$target"; }; then
      echo "site: ${page#"$site"/}: $link leads nowhere"
    fi
  done
done >"$site/broken"
cat "$site/broken" >&2
[ ! -s "$site/broken" ] || exit 1
rm "$site/broken"
echo "site: $(find "$site" -name '*.html' | wc -l) pages in $site"
