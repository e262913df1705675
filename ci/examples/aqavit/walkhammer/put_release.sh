#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Puts walkhammer into the folder release beside this script: put_release.sh LIB_DIR. Called by
# build.xml. WALKHAMMER_RELEASE is a release's tarball or the folder that it unpacks to; without it,
# the tarball is the newest of this machine's architecture in LIB_DIR.
# Exit codes: 0 done, 1 no release found.
set -eu
[ "${1:-}" != --help ] || exec sed -n '3,/^set/s/^# \{0,1\}//p' "$0"
cd "$(dirname "$0")"
from=${WALKHAMMER_RELEASE:-$(find "$1" -name "walkhammer-*-linux-$(uname -m).tar.gz" 2>/dev/null | sort -V | tail -n 1)}
[ -n "$from" ] || {
  echo "walkhammer: no release found in $1; put the tarball there, or set WALKHAMMER_RELEASE" >&2
  exit 1
}
rm -rf release
if [ -d "$from" ]; then
  ln -s "$from" release
else
  mkdir release
  tar -xzf "$from" -C release --strip-components 1
fi
