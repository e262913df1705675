# SPDX-License-Identifier: Apache-2.0
# For scripts that lay out what their table $rows names, a row a line and the name first; to be
# sourced from the repository's root.
# shellcheck shell=sh
# shellcheck disable=SC2154  # $rows and $dir are set where this is sourced

# row_names: prints the names of all rows.
row_names() {
  echo "$rows" | awk 'NF { print $1 }'
}

# row NAME: prints the row's words after the name.
row() {
  echo "$rows" | awk -v name="$1" '$1 == name { $1 = ""; print }'
}

# check_row NAME: ends the script with 2 if no row has the name.
check_row() {
  row_names | grep -qxF -- "$1" || {
    echo "$(basename "$0" .sh): no row for $1: choose of $(row_names | tr '\n' ' ')" >&2
    exit 2
  }
}

# take_words WORD...: reads --list, which prints the names and ends the script, --dir D, and names
# of rows; --build N, too, if $builds is set before. Sets $names, $builds and $dir, which then
# exists; its value before is the default.
take_words() {
  names=
  while [ "$#" -gt 0 ]; do
    case ${builds+may}$1 in
      --dir | may--dir)
        dir=${2:?--dir must be a folder}
        shift
        ;;
      may--build)
        builds="$builds ${2:?--build must be a name}"
        shift
        ;;
      --list | may--list)
        row_names
        exit 0
        ;;
      *)
        check_row "$1"
        names="$names $1"
        ;;
    esac
    shift
  done
  mkdir -p "$dir"
  dir=$(cd "$dir" && pwd)
  # Two at once would fetch the same into the same folder. Held until the script ends.
  if [ -w "$dir" ]; then
    exec 9>"$dir/.lock"
    flock 9
  fi
}
