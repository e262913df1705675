# SPDX-License-Identifier: Apache-2.0
# For soaks whose words are homes of JDKs; to be sourced from the repository's root. Sets
# $walkhammer, the executable, and, if no JDK is named, the script's words to all JDKs of this
# machine. Ends the script with 4 without an executable, with 3 without a JDK.
# shellcheck shell=sh
soak=$(basename "$0" .sh)
walkhammer=${WALKHAMMER:-build/release/walkhammer}
failed=0

# fail WHAT: prints and remembers a failure; the script exits with $failed, or with 1 for it.
fail() {
  echo "FAILED  $1"
  # shellcheck disable=SC2034  # used where this is sourced
  failed=1
}

# ask FOLDER SQL: queries FOLDER's run.db.
ask() {
  sqlite3 -readonly "$1/run.db" "$2"
}

if [ ! -x "$walkhammer" ]; then
  echo "$soak: no $walkhammer: run cmake --preset release && cmake --build build/release" >&2
  exit 4
fi
if [ "$#" -eq 0 ]; then
  # shellcheck disable=SC2046  # no blanks in the paths of JDKs
  set -- $("$walkhammer" show jdks | sed 's/  .*//')
fi
if [ "$#" -eq 0 ]; then
  echo "$soak: no JDK on this machine" >&2
  exit 3
fi
