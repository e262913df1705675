#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests of how workloads are obtained: fetch.sh with a local server, install.sh, show workloads.
# shellcheck disable=SC2154  # bats sets stderr and stderr_lines

load lib

# One server for all tests: busybox httpd, which knows ranges.
setup_file() {
  site=$BATS_FILE_TMPDIR/site
  mkdir -p "$site/broken" "$BATS_FILE_TMPDIR/inside/top/dat"
  # The first block is known, so that a test can change a byte of it.
  { head -c 4096 /dev/zero && head -c 2995904 /dev/urandom; } >"$site/suite.jar"
  head -c 3000000 /dev/urandom >"$site/broken/suite.jar"
  echo starts >"$BATS_FILE_TMPDIR/inside/top/suite-1.jar"
  echo data >"$BATS_FILE_TMPDIR/inside/top/dat/suite-2.jar"
  (cd "$BATS_FILE_TMPDIR/inside" && zip -q -r "$site/suite.zip" .)
  (cd "$BATS_FILE_TMPDIR/inside/top/dat" && zip -q -r "$site/empty.zip" .)
  echo "$BATS_FILE_TMPDIR" >"$site/whose"
  local try
  for try in 1 2 3 4 5 6 7 8; do
    port=$((20000 + (RANDOM + try) % 20000))
    busybox httpd -f -p "127.0.0.1:$port" -h "$site" 3>&- &
    server=$!
    for _ in 1 2 3 4 5 6 7 8 9 10; do
      sleep 0.1
      [ "$(curl -s "http://127.0.0.1:$port/whose")" != "$BATS_FILE_TMPDIR" ] || break 2
    done
    kill "$server" 2>/dev/null || true
  done
  export site port server
}

teardown_file() {
  kill "$server" 2>/dev/null || true
}

setup() {
  fetch=$root/workloads/fetch.sh
  cache=$tmp/cache
  url=http://127.0.0.1:$port
  export WALKHAMMER_DISTRIBUTIONS=$tmp/distributions
  digest=$(digest_of suite.jar)
  {
    echo "# comment"
    entry suite suite.jar "$digest" suite.jar
    entry zipped suite.zip "$(digest_of suite.zip)" 'suite-*.jar'
    entry empty empty.zip "$(digest_of empty.zip)" 'other-*.jar'
    entry gone gone.jar "$digest" gone.jar
  } >"$WALKHAMMER_DISTRIBUTIONS"
}

digest_of() {
  sha512sum <"$site/$1" | cut -d ' ' -f 1
}

# entry ID FILE DIGEST JAR: adds a row to the table of distributions.
entry() {
  printf 'id: %s\nversion: 1.0 of %s\nurl: %s/%s\nsize: 3 MB\nlicence: %s\nsha512: %s\njar: %s\n\n' \
    "$1" "$1" "$url" "$2" "MIT, mostly" "$3" "$4"
}

# fails CODE PART ARGUMENTS...: fetch.sh exits with CODE and one sentence on stderr that contains
# PART.
fails() {
  local code=$1 part=$2
  shift 2
  run --separate-stderr timeout 60 "$fetch" --cache "$cache" "$@"
  echo "fetch $*: exit code $status, stdout '$output', stderr '$stderr'"
  [ "$status" -eq "$code" ]
  [[ "${stderr_lines[-1]}" == "fetch: "*"$part"* ]]
}

@test "a download is announced, verified, and not repeated" {
  run "$fetch" suite --cache "$cache"
  echo "$output"
  [ "$status" -eq 0 ]
  [ "${lines[0]}" = "fetch: suite, version 1.0 of suite: about 3 MB; licence: MIT, mostly" ]
  [ "${lines[1]}" = "fetch: downloading $url/suite.jar" ]
  [ "${lines[2]}" = "fetch: suite is verified: $cache/suite/suite.jar" ]
  cmp "$site/suite.jar" "$cache/suite/suite.jar"
  [ "$(sed -n 1p "$cache/suite/verified")" = "$digest" ]
  run "$fetch" suite --cache "$cache" --mirror http://127.0.0.1:1
  [ "$status" -eq 0 ]
  [ "$output" = "fetch: suite is there: $cache/suite/suite.jar" ]
  # With another digest in the table, the downloaded file is no longer the right one.
  sed -i "s/$digest/00/" "$WALKHAMMER_DISTRIBUTIONS"
  fails 2 "not 00" suite
}

@test "an interrupted download is resumed" {
  mkdir -p "$cache/suite"
  head -c 2000000 "$site/suite.jar" >"$cache/suite/suite.jar.part"
  # A changed byte in the part that is here already shows that this part is used.
  printf x | dd of="$cache/suite/suite.jar.part" bs=1 seek=1000 conv=notrunc status=none
  fails 2 "its sha512 is" suite
  [ "$(stat -c %s "$cache/suite/suite.jar.bad")" -eq 3000000 ]

  head -c 2000000 "$site/suite.jar" >"$cache/suite/suite.jar.part"
  "$fetch" suite --cache "$cache"
  cmp "$site/suite.jar" "$cache/suite/suite.jar"
}

@test "a complete file that is not yet verified is used, a longer one is replaced" {
  mkdir -p "$cache/suite"
  cp "$site/suite.jar" "$cache/suite/suite.jar.part"
  "$fetch" suite --cache "$cache"
  cmp "$site/suite.jar" "$cache/suite/suite.jar"

  rm -r "$cache/suite"
  mkdir -p "$cache/suite"
  cat "$site/suite.jar" "$site/whose" >"$cache/suite/suite.jar.part"
  "$fetch" suite --cache "$cache"
  cmp "$site/suite.jar" "$cache/suite/suite.jar"
}

@test "a wrong digest is set aside, and the next try starts anew" {
  fails 2 "set aside as $cache/suite/suite.jar.bad" suite --mirror "$url/broken/"
  [[ "$stderr" == *"not $digest"* ]]
  [ ! -e "$cache/suite/verified" ]
  [ ! -e "$cache/suite/suite.jar" ]
  cmp "$site/broken/suite.jar" "$cache/suite/suite.jar.bad"
  "$fetch" suite --cache "$cache"
}

@test "a file or folder of --from is verified the same way, and kept" {
  fails 2 "$site/broken/suite.jar is not suite.jar of suite" suite --from "$site/broken"
  [ -e "$site/broken/suite.jar" ]
  fails 2 "there is no $tmp/suite.jar; wanted: suite.jar with sha512 $digest" suite --from "$tmp"
  cp "$site/suite.jar" "$tmp/other name"
  "$fetch" suite --from "$tmp/other name" --cache "$cache"
  cmp "$tmp/other name" "$cache/suite/suite.jar"
  "$fetch" suite --from "$site" --cache "$tmp/second"
  cmp "$site/suite.jar" "$tmp/second/suite/suite.jar"
}

@test "an archive is unpacked, and the jar to start is found in it" {
  run "$fetch" zipped --cache "$cache"
  [ "${lines[-1]}" = "fetch: zipped is verified: $cache/zipped/files/top/suite-1.jar" ]
  [ "$(cat "$cache/zipped/files/top/suite-1.jar")" = starts ]
  [ ! -e "$cache/zipped/suite.zip.part" ]
  fails 2 "empty.zip holds no other-*.jar" empty
  [ ! -e "$cache/empty/verified" ]
}

@test "without a network: the URL, the digest, and --from" {
  # No server listens on port 1.
  fails 3 "cannot download http://127.0.0.1:1/suite.jar; get it elsewhere and give it with" \
    suite --mirror http://127.0.0.1:1
  [[ "$stderr" == *"--from FILE: sha512 $digest" ]]
  fails 3 "cannot download $url/gone.jar" gone
  # The part that was downloaded before is kept.
  mkdir -p "$cache/suite"
  head -c 2000000 "$site/suite.jar" >"$cache/suite/suite.jar.part"
  fails 3 "what came is kept" suite --mirror http://127.0.0.1:1
  [ "$(stat -c %s "$cache/suite/suite.jar.part")" -eq 2000000 ]
  fails 3 "what came is kept" suite --mirror "$url/nowhere"
  [ "$(stat -c %s "$cache/suite/suite.jar.part")" -eq 2000000 ]
}

@test "wget does it where there is no curl" {
  command -v wget >/dev/null || skip "no wget"
  mkdir "$tmp/bin"
  for tool in sh awk cat cp cut dirname find mkdir mv rm sed sha512sum sort tr wget; do
    ln -s "$(command -v "$tool")" "$tmp/bin/$tool"
  done
  mkdir -p "$cache/suite"
  head -c 2000000 "$site/suite.jar" >"$cache/suite/suite.jar.part"
  PATH=$tmp/bin "$fetch" suite --cache "$cache"
  cmp "$site/suite.jar" "$cache/suite/suite.jar"
  rm "$tmp/bin/wget"
  run env "PATH=$tmp/bin" "$fetch" suite --cache "$tmp/second"
  [ "$status" -eq 3 ]
  [[ "${lines[-1]}" == "fetch: neither curl nor wget is installed; run: apt-get install curl" ]]
}

@test "fetch: usage" {
  fails 2 "IDs: suite zipped empty gone"
  fails 2 "no distribution \"suit\"" suit
  fails 2 "unknown option --form" suite --form x
  fails 2 "--from needs a value" suite --from
  fails 2 "one ID at a time, not also zipped" suite zipped
  fails 2 "either --from or --mirror" suite --from x --mirror y
  [ ! -e "$cache" ]
}

@test "the table of distributions is whole" {
  for key in version url size licence jar; do
    [ "$(grep -c "^$key: ." "$root/workloads/distributions")" -eq \
      "$(grep -c '^id: .' "$root/workloads/distributions")" ]
  done
  [ "$(grep -cE '^sha512: [0-9a-f]{128}$' "$root/workloads/distributions")" -eq \
    "$(grep -c '^id: .' "$root/workloads/distributions")" ]
}

@test "install.sh knows the workloads of Debian" {
  run "$root/workloads/install.sh" nonsense
  [ "$status" -eq 2 ]
  [ "$output" = 'install: debian.catalogue has no workload "nonsense"' ]
}

@test "show workloads says what can run, and what to do about the rest" {
  run env XDG_CACHE_HOME="$tmp" "$walkhammer" show workloads
  [ "$status" -eq 0 ]
  [[ "$output" == *"debian:fop "* ]]
  [[ "$output" == *"run: "*"/workloads/fetch.sh renaissance"* ]]
  "$walkhammer" show workloads --json >"$tmp/list.json"
  names=$(sqlite3 :memory: \
    "select count(distinct json_extract(value, '\$.name')) from json_each(readfile('$tmp/list.json'))")
  [ "$names" -eq "$(cat "$root"/workloads/*.catalogue | grep -c '^name: ')" ]
}

@test "docs/howto/workloads.md names every workload of Debian" {
  sed -n "s/^name: //p" "$root/workloads/debian.catalogue" >"$tmp/names"
  while read -r name; do
    grep -q "^| \`$name\` |" "$root/docs/howto/workloads.md" || {
      echo "docs/howto/workloads.md lacks $name"
      return 1
    }
  done <"$tmp/names"
}
