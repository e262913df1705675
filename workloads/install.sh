#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages of workloads: install.sh [NAME...], such as install.sh fop ecj
# (default: all workloads of debian.catalogue). Runs apt-get as root or through sudo.
# Exit codes: 0 installed, 2 unknown NAME, 3 no apt-get or no root, others apt-get's.
set -eu
catalogue=$(dirname "$0")/debian.catalogue

for name; do
  grep -qx "name: $name" "$catalogue" || {
    echo "install: debian.catalogue has no workload \"$name\"" >&2
    exit 2
  }
done
if ! command -v apt-get >/dev/null; then
  echo "install: no apt-get here: these workloads are programs as Debian packages them" >&2
  exit 3
fi

packages=$(awk -v wanted=" $* " '
  $1 == "name:" { name = $2 }
  $1 == "packages:" && (wanted == "  " || index(wanted, " " name " ")) {
    for (i = 2; i <= NF; i++) print $i
  }' "$catalogue" | sort -u)
root=
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || {
    echo "install: neither root nor sudo is available; as root, run: apt-get install" \
      "--no-install-recommends $(echo "$packages" | tr '\n' ' ')" >&2
    exit 3
  }
  root=sudo
fi
# shellcheck disable=SC2086  # lists of words
$root env DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=3 \
  -o DPkg::Lock::Timeout=300 install -y --no-install-recommends $packages
