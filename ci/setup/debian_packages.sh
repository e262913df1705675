# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2154  # apt_trees
# Functions that unpack Debian packages into a folder, without installing them. To be sourced.
# The packages come from the mirror that this machine uses. apt works on a configuration of its own
# below $apt_trees, a folder that the sourcing script names: the machine's apt configuration and its
# installed packages stay as they are. apt checks downloads against the suite's signed checksums.

# The packages whose libraries HotSpot is linked with.
# shellcheck disable=SC2034  # for the scripts that source this
hotspot_libraries='libc6 libgcc-s1 libstdc++6 zlib1g'

# mirror: prints the URL of the first Debian mirror of this machine's apt configuration.
mirror() {
  # shellcheck disable=SC2016  # apt's own variables
  apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(LABEL)' 'Created-By: Packages' |
    sed -n 's/ Debian Debian$//p' | head -n 1
}

# apt_tree ARCHITECTURE SUITE COMMAND...: runs apt-get COMMAND with the configuration for that
# suite. Downloads go to the current folder.
apt_tree() {
  tree=$apt_trees/$2-$1
  if [ ! -e "$tree/sources.list" ]; then
    mkdir -p "$tree/lists/partial" "$tree/archives/partial"
    : >"$tree/status"
    for kind in ${apt_kinds:-deb}; do
      echo "$kind $(mirror) $2 main"
    done >"$tree/sources.list"
  fi
  architecture=$1
  shift 2
  apt-get -q -o Acquire::Retries=3 -o Dir::Etc::SourceList="$tree/sources.list" \
    -o Dir::Etc::SourceParts=- -o Dir::State="$tree" -o Dir::State::Status="$tree/status" \
    -o Dir::Cache="$tree" -o APT::Architecture="$architecture" \
    -o APT::Architectures="$architecture" -o Acquire::Languages=none \
    -o APT::Sandbox::User=root "$@"
}

# unpack ARCHITECTURE SUITE ROOT PACKAGE...: unpacks the packages into ROOT. If they cannot be
# downloaded, prints apt's messages and returns 3.
unpack() {
  echo "${0##*/}: unpacking $2's $1 packages:" >&2
  unpack_as=$1 unpack_of=$2 unpack_to=$3  # the names that scripts use are theirs
  shift 3
  printf '  %s\n' "$@" | fmt -w 90 >&2
  mkdir -p "$apt_trees"
  downloads=$(mktemp -d "$apt_trees/downloads-XXXXXX")
  if ! (
    cd "$downloads" && apt_tree "$unpack_as" "$unpack_of" update &&
      apt_tree "$unpack_as" "$unpack_of" download "$@"
  ) >"$downloads/log" 2>&1; then
    cat "$downloads/log" >&2
    rm -rf "$downloads"
    echo "${0##*/}: $unpack_of's $unpack_as packages cannot be downloaded" >&2
    return 3
  fi
  mkdir -p "$unpack_to"
  for package in "$downloads"/*.deb; do
    dpkg-deb -x "$package" "$unpack_to"
  done
  rm -rf "$downloads"
}

# one_lib_folder ROOT: moves /lib and /lib64 below /usr and links them there, as base-files does
# from Debian 13 on.
one_lib_folder() {
  for folder in lib lib64; do
    if [ -d "$1/$folder" ] && [ ! -L "$1/$folder" ]; then
      mkdir -p "$1/usr/$folder"
      cp -a "$1/$folder/." "$1/usr/$folder/"
      rm -rf "${1:?}/$folder"
    fi
    [ ! -d "$1/usr/$folder" ] || ln -sfn "usr/$folder" "$1/$folder"
  done
}

# make_links_relative ROOT: absolute links would lead to files of this machine instead of ROOT's.
make_links_relative() {
  find "$1" -type l -lname '/*' | while read -r link; do
    ln -sfnr "$1$(readlink "$link")" "$link"
  done
}
