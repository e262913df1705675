# SPDX-License-Identifier: Apache-2.0
# Runs the real harnesses of docs/howto/harnesses.md: green on a stock JDK or an honest library, red
# where a bug is planted, skipped where walkhammer cannot run. jtreg and TKG (AQAvit) run the smoke
# tests, and jtreg the known issues, on each --jdk that has a compiler (default: the oldest and the
# newest of /usr/lib/jvm from 17 on), and on a copy whose AsyncGetCallTrace is broken; Maven and Gradle
# stress a library. WALKHAMMER_TIME (default: 10s) is that of each run. WALKHAMMER_RELEASE names the
# tarball (default: ci/release.sh builds it), WALKHAMMER_TKG a clone of TKG, without which AQAvit is
# left out, as is each harness that is not installed (ci/setup.sh harnesses).
# shellcheck shell=sh
# shellcheck disable=SC2154  # ci/soak.sh sets them
built=$(dirname "$walkhammer")
time=${WALKHAMMER_TIME:-10s}
tarball=$(realpath -m "${WALKHAMMER_RELEASE:-$out/walkhammer.tar.gz}")
tried=0
unset WALKHAMMER

# has NAME PROGRAM...: true if these are installed.
has() {
  name=$1
  shift
  for program; do
    command -v "$program" >/dev/null || {
      echo "  left out: $name, as $program is not installed"
      return 1
    }
  done
  tried=$((tried + 1))
}

# must WHAT CODE PATTERN FILE: fails unless the exit code in $code and a line of FILE are as they must be.
must() {
  if [ "$code" -eq "$2" ] && grep -qE "$3" "$4"; then
    echo "  ok      $1"
  else
    fail "$1: exit code $code in place of $2, or no \"$3\" in $4"
  fi
}

# compilers: prints the JDKs of /usr/lib/jvm from 17 on that have one, the oldest first.
compilers() {
  "$walkhammer" show jdks | sed -n 's,^\(/usr/lib/jvm[^ ]*\)  .*,\1,p' | while read -r jdk; do
    version=$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$jdk/release")
    [ "${version:-0}" -lt 17 ] || [ ! -x "$jdk/bin/javac" ] || echo "$jdk"
  done
}

need_compilers() {
  [ -n "$jdks" ] || jdks=$(compilers | sed -n '1p;$p' | uniq)
  [ -n "$jdks" ] || lacks 'no JDK with a compiler in /usr/lib/jvm'
}

# broken JDK: prints the home of a copy whose AsyncGetCallTrace has no stack.
broken() {
  copy=$work/broken-$(basename "$1")
  [ -d "$copy" ] || {
    # The first branch of the function decides whether there is anything to walk.
    id=$("$built/walker_mutants" list "$1" - 1 100000 | awk -F'\t' '
      $1 ~ /^branch/ && $2 ~ /^AsyncGetCallTrace\+/ { at = $2; sub(/.*\+/, "", at); print length(at), at, $1 }' |
      sort | awk 'NR == 1 { print $3 }')
    "$built/walker_mutants" make "$1" "$id" "$copy"
  }
  echo "$copy"
}

# suite NAME JDK TEST...: runs these in the folder NAME; sets $code.
suite() {
  folder=$out/$1 home=$2
  shift 2
  code=0
  jtreg "-jdk:$home" "-w:$folder/work" "-r:$folder/report" -v1 -retain:fail,error \
    "-Djdk.test.lib.artifacts.walkhammer=$artifact" "-Dwalkhammer.time=$time" "$@" \
    >"$folder.log" 2>&1 || code=$?
}

try_jtreg() {
  artifact=$tarball
  tests=ci/examples/jtreg
  issues=$tests/applications/walkhammer/KnownIssues.java
  for jdk in $jdks; do
    name=jtreg-$(basename "$jdk")
    suite "$name" "$jdk" "$tests:tier1_walkhammer" "$issues"
    must "$name" 0 'passed: 2$' "$out/$name.log"
    suite "$name-broken" "$(broken "$jdk")" "$tests:tier1_walkhammer"
    must "$name-broken" 2 'failed: 1$' "$out/$name-broken.log"
  done
  fastdebug=${XDG_CACHE_HOME:-$HOME/.cache}/walkhammer/jdks/17-fastdebug
  if [ -d "$fastdebug" ]; then
    # A JRE, whose tests a JDK of its own version compiles: the oldest here.
    suite jtreg-fastdebug "$fastdebug" "-compilejdk:${jdks%%[[:space:]]*}" "$tests:tier1_walkhammer" "$issues"
    must jtreg-fastdebug 0 'passed: 2$' "$out/jtreg-fastdebug.log"
    # Of its two runs, one is skipped.
    grep -qE '^(KNOWN|CLEAN): ' "$out/jtreg-fastdebug/work/applications/walkhammer/Smoke.jtr" ||
      fail 'jtreg-fastdebug: stress gave no verdict'
  else
    echo '  left out: a debug build, as ci/setup/jdks.sh --build 17-fastdebug has not made one'
  fi
  mkdir -p "$work/other/lib/walkhammer/ci"
  cp ci/harness.sh "$work/other/lib/walkhammer/ci"
  printf '\177ELF' >"$work/other/lib/walkhammer/walkhammer"
  chmod +x "$work/other/lib/walkhammer/walkhammer"
  artifact=$work/other
  suite jtreg-other "$jdk" "$issues"
  must 'jtreg, of another machine' 0 'skipped: 1$' "$out/jtreg-other.log"
}

# kit NAME JDK: runs the smoke test by TKG; sets $code. TKG knows its one library by its checksum.
kit() {
  rm -rf "$work/kit" "$work/jvmtest"
  mkdir -p "$work/kit" "$work/lib"
  git clone -q "$WALKHAMMER_TKG" "$work/kit/TKG"
  cp -R ci/examples/aqavit/walkhammer "$work/kit"
  [ -f "$work/lib/json-simple.jar" ] ||
    mvn -q -B dependency:copy -Dartifact=com.googlecode.json-simple:json-simple:1.1.1 \
      "-DoutputDirectory=$work/lib" -Dmdep.stripVersion >"$out/aqavit-mvn.log" 2>&1 || true
  code=0
  (
    cd "$work/kit/TKG"
    export "TEST_JDK_HOME=$2" "LIB_DIR=$work/lib" "WALKHAMMER_RELEASE=$tarball" "WALKHAMMER_TIME=$time" \
      "JAVACMD=$oldest/bin/java" AUTO_DETECT=true BUILD_LIST=walkhammer JDK_IMPL=hotspot
    make compile && make _walkhammer_smoke
  ) >"$out/$1.log" 2>&1 || code=$?
}

try_aqavit() {
  oldest=${jdks%%[[:space:]]*} # Debian's Ant does not start on the newest JDKs
  for jdk in $jdks; do
    name=aqavit-$(basename "$jdk")
    kit "$name" "$jdk"
    must "$name" 0 '^TOTAL: 1 .*PASSED: 1 ' "$out/$name.log"
    kit "$name-broken" "$(broken "$jdk")"
    must "$name-broken" 2 '^TOTAL: 1 .*FAILED: 1 ' "$out/$name-broken.log"
  done
}

# maven LIBRARY WALKER, gradle LIBRARY WALKER: build with that library; set $code.
maven() {
  rm -rf "$work/maven"
  cp -R ci/examples/maven "$work/maven"
  code=0
  mvn -B "-Dmaven.repo.local=$out/m2" -f "$work/maven/pom.xml" verify "-Dwalkhammer.library=$work/$1.so" \
    "-Dwalkhammer.walker=$2" "-Dwalkhammer.time=$time" >"$out/maven-$1.log" 2>&1 || code=$?
  cp "$work/maven/target/failsafe-reports"/*.xml "$out/maven-$1.xml"
}

gradle_build() {
  rm -rf "$work/gradle"
  cp -R ci/examples/gradle "$work/gradle"
  : >"$work/gradle/settings.gradle"
  code=0
  gradle --no-daemon --offline "-Dmaven.repo.local=$out/m2" -p "$work/gradle" check "-PwalkhammerLibrary=$work/$1.so" \
    "-PwalkhammerWalker=$2" "-PwalkhammerTime=$time" >"$out/gradle-$1.log" 2>&1 || code=$?
  cp "$work/gradle/build/test-results/walkhammer"/*.xml "$out/gradle-$1.xml"
}

# try_build NAME COMMAND: with each library.
try_build() {
  cp "$built/providers/bad_walkers.so" "$work/honest.so"
  cp "$built/providers/bad_walkers.so" "$work/crashes-1-in-1000.so"
  cp "$built/providers/fake_profiler_refuses.so" "$work/refuses.so"
  "$2" honest asgst
  must "$1, an honest library" 0 '<testcase' "$out/$1-honest.xml"
  "$2" crashes-1-in-1000 asgst
  must "$1, a bad library" 1 '<failure' "$out/$1-crashes-1-in-1000.xml"
  "$2" refuses asprof-vm
  must "$1, a library that cannot walk here" 0 '<skipped' "$out/$1-refuses.xml"
}

[ "$(uname -m)" = x86_64 ] || lacks 'bugs are planted in code of x86_64 only'
need_compilers
for part in walker_mutants providers/bad_walkers.so providers/fake_profiler_refuses.so; do
  [ -e "$built/$part" ] || lacks "no $built/$part: build all"
done
[ -f "$tarball" ] || {
  ci/release.sh "$out" >"$out/build.log" 2>&1 || fail "ci/release.sh: see $out/build.log"
  mv "$out"/walkhammer-*.tar.gz "$tarball"
}
! has jtreg jtreg || try_jtreg
if [ -z "${WALKHAMMER_TKG:-}" ]; then
  echo '  left out: AQAvit, as WALKHAMMER_TKG names no clone of TKG'
elif has AQAvit ant make mvn; then
  try_aqavit
fi
if has Maven mvn; then
  version=$(sed -n 's/^project(walkhammer VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)
  mvn -q -B "-Dmaven.repo.local=$out/m2" install:install-file "-Dfile=$tarball" -DgroupId=walkhammer \
    -DartifactId=walkhammer "-Dversion=$version" "-Dclassifier=linux-$(uname -m)" -Dpackaging=tar.gz \
    >"$out/maven-install.log" 2>&1 || fail "Maven: the tarball cannot be installed"
  try_build maven maven
  ! has Gradle gradle || try_build gradle gradle_build
fi
[ "$tried" -gt 0 ] || lacks 'none of the harnesses is installed: ci/setup.sh harnesses'
