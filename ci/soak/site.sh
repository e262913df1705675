# SPDX-License-Identifier: Apache-2.0
# The site of the pages (ci/site.sh), in the folder `pages`: fails if one of its links leads nowhere.
# Takes half a minute, and pandoc.
# shellcheck shell=sh
# shellcheck disable=SC2154  # ci/soak.sh sets it
code=0
ci/site.sh "$out/pages" >"$out/site.log" 2>&1 || code=$?
case $code in
  0) echo "  ok      $(tail -n 1 "$out/site.log")" ;;
  3) lacks 'pandoc is not installed: ci/setup.sh site' ;;
  *) fail "ci/site.sh: exit code $code, see $out/site.log" ;;
esac
