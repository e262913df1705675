#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Holds an installed tree to what a release promises: ci/release/check.sh TREE [GLIBC]. Each program
# and library needs the C library alone or what is in the tree, nothing newer than that GLIBC
# (default: 2.31), and each symbol; no file names the folder that it was built in. Prints each breach.
# Exit codes: 0 the tree is sound, 1 it is not, 2 usage.
set -eu
[ "${1:-}" != --help ] || exec sed -n '3,/^set/s/^# \{0,1\}//p' "$0"
[ -d "${1:-}" ] || {
  echo "check: expected the folder of an installed tree, got ${1:-nothing}" >&2
  exit 2
}
tree=$(cd "$1" && pwd)
newest=${2:-2.31}
source=$(cd "$(dirname "$0")/../.." && pwd)

# programs: the ELF files of the tree, one a line.
programs() {
  find "$tree" -type f -exec sh -c \
    'for file; do [ "$(head -c 4 "$file" | tail -c 3)" != ELF ] || echo "$file"; done' sh {} +
}

# later FILE: prints the versions of glibc after $newest that FILE needs, with the symbols.
later() {
  objdump -T "$1" | sed -n 's/.*(\{0,1\}GLIBC_\([0-9.]*\))\{0,1\} */\1 /p' |
    awk -v newest="$newest" '
      function number(version, part) { split(version, part, "."); return part[1] * 1000 + part[2] }
      number($1) > number(newest) { print $2 " of glibc " $1 }'
}

# needs FILE: prints the libraries that FILE is linked with, other than the C library's parts and the
# tree's.
needs() {
  objdump -p "$1" | sed -n 's/^ *NEEDED *//p' |
    grep -vE '^(lib(c|m|dl|pthread|rt)\.so\.[0-9]+|ld-linux.*)$' | while read -r library; do
    [ -n "$(find "$tree" -name "$library")" ] || echo "needs $library"
  done
}

# machine FILE: the byte of its ELF header that names the machine.
machine() {
  od -An -tx1 -j18 -N1 "$1"
}

# traced FILE: what ldd -r says; of a file for another machine, what the loader of $WALKHAMMER_SYSROOT
# says under $WALKHAMMER_EMULATOR.
traced() {
  if [ "$(machine "$1")" = "$(machine /proc/self/exe)" ]; then
    ldd -r "$1"
  else
    "$WALKHAMMER_EMULATOR" -L "$WALKHAMMER_SYSROOT" -E LD_TRACE_LOADED_OBJECTS=1 -E LD_WARN=yes \
      -E LD_BIND_NOW=yes "$(ls "$WALKHAMMER_SYSROOT"/lib/ld-linux-*)" "$1"
  fi
}

# unmet FILE: what the dynamic loader does not find.
unmet() {
  traced "$1" 2>&1 | grep -E 'not found|undefined symbol' | sed 's/^[ \t]*//'
}

# from_here FILE: prints the folders of this checkout, of its build and of its user in FILE.
from_here() {
  for folder in "$source" "${WALKHAMMER_SYSROOT:-$source}" "${HOME:-$source}/"; do
    [ "$folder" = / ] || ! grep -qaF "$folder" "$1" || echo "names $folder"
  done | sort -u
}

breaches() {
  programs | while read -r file; do
    {
      later "$file"
      needs "$file"
      unmet "$file"
    } | sed "s|^|${file#"$tree"/}: |"
  done
  find "$tree" -type f | while read -r file; do
    from_here "$file" | sed "s|^|${file#"$tree"/}: |"
  done
}

[ -n "$(programs)" ] || {
  echo "check: $tree has no program" >&2
  exit 1
}
found=$(breaches)
[ -z "$found" ] || {
  echo "$found"
  exit 1
}
echo "check: $(programs | wc -l) programs and libraries are sound; they need glibc $newest"
