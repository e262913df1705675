#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ci/site.sh: links become links of the site, and one that leads nowhere is found.
# shellcheck disable=SC2016,SC2154  # a template; bats and lib.bash set these variables

load lib

setup() {
  command -v pandoc >/dev/null || skip "pandoc is not installed: ci/setup.sh site"
  mkdir -p "$tmp/tree/ci" "$tmp/tree/docs"
  cp -R "$root/ci/site" "$root/ci/site.sh" "$tmp/tree/ci"
  cd "$tmp/tree" || return 1
  # The pages that each page's head names.
  sed -n 's/.*href="$root$\(.*\)\.html".*/\1.md/p' ci/site/page.html | grep -v index | while read -r page; do
    mkdir -p "$(dirname "$page")"
    echo '# A page' >"$page"
  done
  printf '%s\n' '# One' '' '[two](docs/two.md#the-end), [a script](ci/site.sh), [a folder](docs)' >README.md
  printf '%s\n' '# Two' '' '[one](../README.md)' '' '## The end' >docs/two.md
  git init -q
  git add -A
}

@test "pages lead to pages and anchors, and files are beside them" {
  run -0 ci/site.sh "$tmp/site"
  [[ "$output" == *'site: 8 pages in '* ]]
  grep -q 'href="docs/two.html#the-end"' "$tmp/site/index.html"
  grep -q 'href="../README.html"' "$tmp/site/docs/two.html"
  grep -q 'href="../style.css"' "$tmp/site/docs/two.html"
  cmp ci/site.sh "$tmp/site/ci/site.sh"
  grep -q 'a folder' "$tmp/site/index.html"
  run ! grep -q 'href="docs"' "$tmp/site/index.html"
}

@test "links that lead nowhere are found" {
  sed -i 's/# The end/# The start/' docs/two.md
  echo '[gone](docs/three.md)' >>README.md
  run -1 ci/site.sh "$tmp/site"
  [[ "$output" == *'README.html: docs/two.html#the-end leads nowhere'* ]]
  [[ "$output" == *'README.html: docs/three.html leads nowhere'* ]]
}

@test "a folder that exists is left alone, and so is more than one" {
  mkdir "$tmp/site"
  run -2 ci/site.sh "$tmp/site"
  [[ "$output" == *'exists already'* ]]
  run -2 ci/site.sh "$tmp/a" "$tmp/b"
  [ -z "$(ls "$tmp/site")" ]
}
