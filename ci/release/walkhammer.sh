#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What is installed as bin/walkhammer: starts the command, which is in lib/walkhammer. On a system
# without glibc (Alpine has musl) the shell would say "not found" of a program that is there.
loader=/lib64/ld-linux-x86-64.so.2
[ "$(uname -m)" != aarch64 ] || loader=/lib/ld-linux-aarch64.so.1
[ -e "$loader" ] || {
  echo "walkhammer: this system lacks $loader: walkhammer needs glibc, so run it in a container of Debian" >&2
  exit 3
}
exec "$(dirname "$(readlink -f "$0")")/../lib/walkhammer/walkhammer" "$@"
