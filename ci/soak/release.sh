# SPDX-License-Identifier: Apache-2.0
# The release in bare machines: builds it (ci/release.sh), unless WALKHAMMER_RELEASE names a tarball,
# and unpacks it in a minimal Debian of each of WALKHAMMER_SUITES (default: bullseye bookworm trixie
# sid), in a folder with a blank in its name and with nothing else installed but that Debian's
# newest JDK. There `try` and `stress` run for WALKHAMMER_TIME (default: 15s) each; both must give a
# verdict, known or new. Fails also if the tree breaks a promise of ci/release/check.sh, or if the
# first verdict takes more than WALKHAMMER_BOUND seconds (default: 60). Needs root and 3 GB below
# ${TMPDIR:-/tmp}, which it frees.
# shellcheck shell=sh
# shellcheck disable=SC2154  # ci/soak.sh sets them
cannot() {
  lacks "$1"
}
# shellcheck source=ci/setup/bare_root.sh
. ci/setup/bare_root.sh
cleanup() { end_inside; }
reason=$(why_no_bare_root)
[ -z "$reason" ] || lacks "$reason"

tarball=${WALKHAMMER_RELEASE:-}
if [ -z "$tarball" ]; then
  ci/release.sh "$out" >"$out/build.log" 2>&1 || fail "ci/release.sh: see $out/build.log"
  tarball=$(find "$out" -maxdepth 1 -name '*.tar.gz')
fi

# apt SUITE ARGUMENT...: apt-get in the root of SUITE.
apt() {
  root=$work/$1
  shift
  in_root "$root" root . env DEBIAN_FRONTEND=noninteractive apt-get -q -o Acquire::Retries=3 "$@"
}

# jdk_package SUITE: the newest JDK of that Debian that is no early access.
jdk_package() {
  in_root "$work/$1" root . apt-cache search --names-only '^openjdk-[0-9]*-jdk-headless$' |
    sed -n 's/^openjdk-\([0-9]*\)-.*/\1/p' | grep -xE '8|11|17|21|25' | sort -n |
    sed -n '$s/.*/openjdk-&-jdk-headless/p'
}

# verdict SUITE NAME LOG: the first word that the run printed; fails the soak if it is no verdict.
verdict() {
  word=$(sed -n 's/^\(KNOWN\|CLEAN\|FINDINGS\): .*/\1/p' "$3" | head -n 1)
  if [ -n "$word" ]; then
    good=$((good + 1))
    echo "$1: $2: $(grep -m 1 "^$word: " "$3")"
  else
    fail "$1: $2 gave no verdict: $(tail -n 1 "$3")"
  fi
}

# runs SUITE NAME VERB ARGUMENT...: runs the release's command; prints how long it took.
runs() {
  suite=$1 name=$2
  shift 2
  log=$out/$suite-$name.log
  began=$(date +%s)
  code=0
  in_root "$work/$suite" root "a folder/$(basename "$tarball" .tar.gz)" bin/walkhammer "$@" \
    >"$log" 2>&1 || code=$?
  took=$(($(date +%s) - began))
  [ "$code" -le 1 ] || fail "$suite: $name ended with $code"
  verdict "$suite" "$name, $took s" "$log"
}

good=0
wanted=0
for suite in ${WALKHAMMER_SUITES:-bullseye bookworm trixie sid}; do
  wanted=$((wanted + 2))
  make_bare "$suite" "$work/$suite"
  mkdir "$work/$suite/root/a folder"
  tar -xzf "$tarball" -C "$work/$suite/root/a folder"
  unpacked="$work/$suite/root/a folder/$(basename "$tarball" .tar.gz)"
  [ "$wanted" -gt 2 ] || ci/release/check.sh "$unpacked" || fail 'ci/release/check.sh'
  { apt "$suite" update && apt "$suite" install -y --no-install-recommends "$(jdk_package "$suite")"; } \
    >"$out/$suite-apt.log" 2>&1 || fail "$suite: no JDK can be installed: see $out/$suite-apt.log"
  runs "$suite" try try --time "${WALKHAMMER_TIME:-15s}"
  [ "$took" -le "${WALKHAMMER_BOUND:-60}" ] || fail "$suite: $took s to the first verdict"
  runs "$suite" stress stress --workload torture:mixed --time "${WALKHAMMER_TIME:-15s}"
  rm -rf --one-file-system "${work:?}/$suite"
done
echo "$good of $wanted runs gave a verdict"
