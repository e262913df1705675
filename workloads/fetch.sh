#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Downloads a suite of the table `distributions` and verifies it:
#   fetch.sh ID [--from FILE-OR-FOLDER] [--mirror URL] [--cache FOLDER]
# --from takes a local copy instead; --mirror is the URL of a folder that holds the file.
# WALKHAMMER_DISTRIBUTIONS names another table. Exit codes: 0 the suite is there and verified · 2
# usage, or a file with the wrong contents · 3 the download failed, or a tool is missing.
set -eu
table=${WALKHAMMER_DISTRIBUTIONS:-$(dirname "$0")/distributions}

fail() {
  code=$1
  shift
  echo "fetch: $*" >&2
  exit "$code"
}

# field KEY: prints this field of the distribution $id; nothing if there is none.
field() {
  awk -v id="$id" -v key="$1:" '
    $1 == "id:" { mine = $2 == id }
    mine && $1 == key { sub(/^[^ ]* +/, ""); print; exit }' "$table"
}

usage() {
  fail 2 "$1; usage: fetch.sh ID [--from FILE-OR-FOLDER] [--mirror URL] [--cache FOLDER]; IDs:" \
    "$(awk '$1 == "id:" { print $2 }' "$table" | tr '\n' ' ')"
}

# sum FILE: prints the sha512 of FILE.
sum() {
  sha512sum <"$1" | cut -d ' ' -f 1
}

# download URL FILE: resumes where FILE ends. If FILE is complete already, servers refuse that
# (416).
download() {
  if command -v curl >/dev/null; then
    curl --fail --location --silent --show-error --retry 3 --connect-timeout 20 \
      --continue-at - --output "$2" "$1"
  elif command -v wget >/dev/null; then
    wget --quiet --tries=3 --timeout=20 --continue --output-document="$2" "$1"
  else
    fail 3 "neither curl nor wget is installed; run: apt-get install curl"
  fi
}

id='' from='' mirror='' cache=${XDG_CACHE_HOME:-${HOME:-}/.cache}/walkhammer
while [ $# -gt 0 ]; do
  case $1 in
    --from | --mirror | --cache)
      if [ $# -lt 2 ] || [ -z "$2" ]; then usage "$1 needs a value"; fi
      case $1 in
        --from) from=$2 ;;
        --mirror) mirror=$2 ;;
        --cache) cache=$2 ;;
      esac
      shift
      ;;
    -*) usage "unknown option $1" ;;
    *)
      [ -z "$id" ] || usage "one ID at a time, not also $1"
      id=$1
      ;;
  esac
  shift
done
[ -n "$id" ] || usage "which one?"
url=$(field url)
[ -n "$url" ] || usage "there is no distribution \"$id\""
[ -z "$from" ] || [ -z "$mirror" ] || usage "either --from or --mirror"

wanted=$(field sha512)
jar=$(field jar)
name=${url##*/}
case $cache in /*) ;; *) cache=$PWD/$cache ;; esac
folder=$cache/$id

if [ "$(sed -n 1p "$folder/verified" 2>/dev/null)" = "$wanted" ] &&
  [ -e "$folder/$(sed -n 2p "$folder/verified")" ]; then
  echo "fetch: $id is there: $folder/$(sed -n 2p "$folder/verified")"
  exit 0
fi
case $name in
  *.zip) command -v unzip >/dev/null || fail 3 "unzip is missing; run: apt-get install unzip" ;;
esac
echo "fetch: $id, version $(field version): about $(field size); licence: $(field licence)"

mkdir -p "$folder" || fail 3 "cannot make $folder: choose another with --cache FOLDER"
if [ -n "$from" ]; then
  file=$from
  [ ! -d "$from" ] || file=$from/$name
  [ -f "$file" ] || fail 2 "there is no $file; wanted: $name with sha512 $wanted"
else
  [ -z "$mirror" ] || url=${mirror%/}/$name
  file=$folder/$name.part
  echo "fetch: downloading $url"
  kept=
  [ ! -s "$file" ] || kept=$file
  code=0
  download "$url" "$file" || code=$?
  # The server answered, but does not resume: download from the start.
  case $code:$kept in
    22:?* | 33:?* | 36:?* | 8:?*)
      if [ "$(sum "$file")" != "$wanted" ]; then
        echo "fetch: $url cannot be resumed: downloading it from the start"
        mv "$file" "$file.old"
        code=0
        download "$url" "$file" || code=$?
        if [ -s "$file" ]; then rm "$file.old"; else mv "$file.old" "$file"; fi
      fi
      ;;
  esac
  if [ ! -s "$file" ] || { [ "$code" -ne 0 ] && [ "$(sum "$file")" != "$wanted" ]; }; then
    kept=
    [ ! -s "$file" ] || kept=" (what came is kept, the next try goes on from there)"
    fail 3 "cannot download $url$kept; get it elsewhere and give it with --from FILE:" \
      "sha512 $wanted"
  fi
fi

found=$(sum "$file")
if [ "$found" != "$wanted" ]; then
  if [ -n "$from" ]; then
    fail 2 "$file is not $name of $id: its sha512 is $found, not $wanted"
  fi
  mv "$file" "$folder/$name.bad"
  fail 2 "what $url gave is set aside as $folder/$name.bad: its sha512 is $found, not $wanted"
fi

rm -f "$folder/verified"
case $name in
  *.zip)
    # The folder must be empty: leftovers of an interrupted unpacking must not pass for complete.
    rm -rf "$folder/files"
    unzip -q "$file" -d "$folder/files" || fail 2 "$file cannot be unpacked; is the disk full?"
    # The jar nearest to the top.
    start=$(cd "$folder" && find files -name "$jar" -type f | awk '{ print gsub("/", "/"), $0 }' |
      sort -n | sed -n '1s/^[0-9]* //p')
    [ -n "$start" ] || fail 2 "$name holds no $jar"
    [ -n "$from" ] || rm -f "$file"
    ;;
  *)
    start=$jar
    if [ -n "$from" ]; then cp "$file" "$folder/$jar"; else mv "$file" "$folder/$jar"; fi
    ;;
esac
printf '%s\n%s\n' "$wanted" "$start" >"$folder/verified.new"
mv "$folder/verified.new" "$folder/verified"
echo "fetch: $id is verified: $folder/$start"
