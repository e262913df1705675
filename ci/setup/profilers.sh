#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Provides released libraries of profilers, whose own walkers are tested:
#   ci/setup/profilers.sh [--machine M] [--dir D] [NAME...]
#   NAME         a name of `ci/setup/profilers.sh --list`, such as asprof-4.5; without one: all
#   --machine M  x86_64 or aarch64, in place of this machine
#   --dir D      the folder (default: $WALKHAMMER_PROFILERS, else ~/.cache/walkhammer/profilers; with
#                --machine for another machine, its name ends in -M)
# The script makes D/NAME.so for each NAME, and leaves existing files as they are. It prints NAME and
# path, a line for each. Maven downloads the libraries, and checks the registry's checksums.
# Exit codes: 0 all are there, 2 usage, 3 some are not available today; stderr says which.
set -eu
[ "${1:-}" != --help ] || exec sed -n '3,/^set/s/^# \{0,1\}//p' "$0"
cd "$(dirname "$0")/../.."

rows='
asprof-4.2  tools.profiler:async-profiler:4.2  linux-x64/libasyncProfiler.so  linux-arm64/libasyncProfiler.so
asprof-4.3  tools.profiler:async-profiler:4.3  linux-x64/libasyncProfiler.so  linux-arm64/libasyncProfiler.so
asprof-4.4  tools.profiler:async-profiler:4.4  linux-x64/libasyncProfiler.so  linux-arm64/libasyncProfiler.so
asprof-4.5  tools.profiler:async-profiler:4.5  linux-x64/libasyncProfiler.so  linux-arm64/libasyncProfiler.so
asprof-4.6  tools.profiler:async-profiler:4.6  linux-x64/libasyncProfiler.so  linux-arm64/libasyncProfiler.so
ddprof-1.4.0  com.datadoghq:ddprof:1.4.0  META-INF/native-libs/linux-x64/libjavaProfiler.so  META-INF/native-libs/linux-arm64/libjavaProfiler.so
ddprof-1.12.0  com.datadoghq:ddprof:1.12.0  META-INF/native-libs/linux-x64/libjavaProfiler.so  META-INF/native-libs/linux-arm64/libjavaProfiler.so
ddprof-1.19.0  com.datadoghq:ddprof:1.19.0  META-INF/native-libs/linux-x64/libjavaProfiler.so  META-INF/native-libs/linux-arm64/libjavaProfiler.so
ddprof-1.21.1  com.datadoghq:ddprof:1.21.1  META-INF/native-libs/linux-x64/libjavaProfiler.so  META-INF/native-libs/linux-arm64/libjavaProfiler.so
ddprof-1.22.0  com.datadoghq:ddprof:1.22.0  META-INF/native-libs/linux-x64/libjavaProfiler.so  META-INF/native-libs/linux-arm64/libjavaProfiler.so
ddprof-1.44.0  com.datadoghq:dd-java-agent:1.63.0  shared/META-INF/native-libs/linux-x64/libjavaProfiler.so  shared/META-INF/native-libs/linux-arm64/libjavaProfiler.so
'

machine=$(uname -m)
dir=${WALKHAMMER_PROFILERS:-${XDG_CACHE_HOME:-$HOME/.cache}/walkhammer/profilers}
if [ "${1-}" = --machine ]; then
  [ "${2-}" = "$machine" ] || dir=$dir-${2:?--machine must be x86_64 or aarch64}
  machine=$2
  shift 2
fi
# shellcheck source=ci/setup/lib_rows.sh
. ci/setup/lib_rows.sh
take_words "$@"
[ -n "$names" ] || names=$(row_names)

# library ARTIFACT MEMBER FILE: the member of the artifact becomes the file, whole or not at all.
library() {
  part=$3.part
  rm -rf "$part"
  mkdir "$part"
  if ! mvn --quiet --batch-mode --strict-checksums \
    org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy "-Dartifact=$1" \
    "-DoutputDirectory=$part" >"$part/log" 2>&1; then
    grep -v '^ *$' "$part/log" | head -n 2 >&2
    rm -rf "$part"
    return 3
  fi
  unzip -q -o "$part"/*.jar "$2" -d "$part" && mv "$part/$2" "$3" && rm -rf "$part"
}

case $machine in
  x86_64) member=2 ;;
  aarch64) member=3 ;;
  *) member= ;;
esac
missing=
for name in $names; do
  file=$dir/$name.so
  if [ ! -e "$file" ]; then
    reason=
    [ -n "$member" ] || reason="there is no library for $machine"
    command -v mvn >/dev/null || reason='there is no mvn to download it with: ci/setup.sh profilers'
    if [ -z "$reason" ]; then
      # shellcheck disable=SC2046  # a row's words
      set -- $(row "$name")
      artifact=$1
      shift "$((member - 1))"
      library "$artifact" "$1" "$file" || reason='it is not available today'
    fi
    if [ -n "$reason" ]; then
      echo "profilers: skipped $name: $reason" >&2
      missing="$missing $name"
      continue
    fi
  fi
  echo "$name $file"
done
[ -z "$missing" ] || exit 3
