#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the tests of a finished release build with one JDK as the only JDK of the machine:
# ci/test/one_jdk.sh HOME. /usr/lib/jvm is replaced in a mount namespace for these tests alone,
# which needs root. The JDK must have javac and run with the machine's C library. ci/test/jdks.bats
# and ci/test/aarch64.bats are left out, because they provide their own JDKs.
# Exit codes: 0 all passed, 1 something failed, 2 usage, 3 this machine cannot do it.
set -eu
cd "$(dirname "$0")/../.."
[ "$#" -eq 1 ] || {
  echo 'one_jdk: expected the home of one JDK: ci/test/one_jdk.sh HOME' >&2
  exit 2
}
home=$(realpath "$1")
[ -x "$home/bin/javac" ] || {
  echo "one_jdk: $home has no bin/javac" >&2
  exit 2
}
"$home/bin/java" -version >/dev/null 2>&1 || {
  echo "one_jdk: $home does not run with this machine's C library" >&2
  exit 3
}
if [ "$(id -u)" -ne 0 ] || ! unshare --mount true 2>/dev/null; then
  echo 'one_jdk: replacing /usr/lib/jvm needs root and mounts' >&2
  exit 3
fi
# shellcheck disable=SC2016  # the inner shell's
exec unshare --mount sh -euc '
  mount --make-rprivate /
  aside=$(mktemp -d)
  trap "rmdir \"$aside\"" EXIT
  mount --bind "$1" "$aside"
  mount -t tmpfs tmpfs /usr/lib/jvm
  mkdir /usr/lib/jvm/only
  mount --bind "$aside" /usr/lib/jvm/only
  umount "$aside"
  export PATH="/usr/lib/jvm/only/bin:$PATH" WALKHAMMER="$PWD/build/release/walkhammer"
  unset JAVA_HOME
  "$WALKHAMMER" show jdks
  code=0
  ctest --test-dir build/release -L jvm --output-on-failure --no-tests=error --timeout 300 -j "$(nproc)" ||
    code=1
  set --
  for suite in $(git ls-files "*.bats" | grep -v "^ci/test/\(jdks\|aarch64\).bats$"); do set -- "$@" "$suite"; done
  bats --tap "$@" || code=1
  exit "$code"
' sh "$home"
