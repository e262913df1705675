#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks the links of Markdown files: each relative link names a file or folder of the tree, and
# each anchor a heading of the page. Links in code blocks and to other hosts are not checked.
#   ci/test/links.sh [ROOT]
# Exit codes: 0 all links hold, 1 one is broken; each broken one is printed with its file and line.
set -eu
cd "${1:-$(dirname "$0")/../..}"
{
  git ls-files --cached --others --exclude-standard | sed 's/^/path\t/'
  git ls-files --cached --others --exclude-standard -- '*.md' | while read -r page; do
    [ ! -f "$page" ] || awk -v page="$page" '{ print "line\t" page "\t" FNR "\t" $0 }' "$page"
  done
} | awk -F '\t' '
  # The path of `target` as seen from the folder of `page`, without . and ..
  function resolve(page, target,    part, count, i, depth, kept, path) {
    sub(/[^\/]*$/, "", page)
    count = split(page target, part, "/")
    for (i = 1; i <= count; i++) {
      if (part[i] == "" || part[i] == ".") continue
      if (part[i] == "..") { if (--depth < 0) return "outside of the tree" } else kept[++depth] = part[i]
    }
    for (i = 1; i <= depth; i++) path = path (i > 1 ? "/" : "") kept[i]
    return path
  }
  # The anchor that a heading gets: lower case, without punctuation, blanks as hyphens.
  function anchor(heading) {
    gsub(/\]\([^)]*\)/, "", heading)
    heading = tolower(heading)
    gsub(/[^a-z0-9_ -]/, "", heading)
    gsub(/ /, "-", heading)
    return heading
  }
  $1 == "path" {
    for (path = $2; path != "" && !(path in exists); sub(/\/?[^\/]*$/, "", path)) exists[path] = 1
    next
  }
  {
    page = $2
    line = $3
    text = $0
    sub(/^line\t[^\t]*\t[^\t]*\t/, "", text)
    if (page != last) { code = 0; last = page }
    if (text ~ /^ *```/) { code = !code; next }
    if (code) next
    if (text ~ /^#+ /) {
      heading = text
      sub(/^#+ /, "", heading)
      name = page "#" anchor(heading)
      anchors[seen[name]++ ? name "-" (seen[name] - 1) : name] = 1
    }
    gsub(/`[^`]*`/, "", text)
    while (match(text, /\]\([^) ]+\)/)) {
      link = substr(text, RSTART + 2, RLENGTH - 3)
      text = substr(text, RSTART + RLENGTH)
      if (link ~ /^[a-z]+:/) continue
      links++
      from[links] = page
      at[links] = line
      to[links] = link
    }
  }
  END {
    for (i = 1; i <= links; i++) {
      hash = index(to[i], "#")
      path = hash ? substr(to[i], 1, hash - 1) : to[i]
      path = path == "" ? from[i] : resolve(from[i], path)
      if (!(path in exists)) {
        print from[i] ":" at[i] ": " to[i] " does not exist"
        bad = 1
      } else if (hash && path ~ /\.md$/ && !((path substr(to[i], hash)) in anchors)) {
        print from[i] ":" at[i] ": " to[i] " is not a heading"
        bad = 1
      }
    }
    if (!links) { print "no link was seen"; bad = 1 }
    exit bad
  }'
