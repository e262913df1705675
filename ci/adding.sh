#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests the section "Adding things" of docs/architecture.md. Adds a walker, an oracle, a scene, a
# mutation, a workload, a known issue and a form of crash log to a clone. Builds the clone, and checks
# that each of them is listed, walked or tested. Prints the places that each addition touched.
#   ci/adding.sh [FOLDER]   FOLDER will hold the clone (default: a temporary folder, removed at the
#                           end)
# Exit codes: 0 all are seen, 1 one is not, 4 a table lacks the row that the script looks for.
set -eu
[ "${1:-}" != --help ] || exec sed -n '3,/^set/s/^# \{0,1\}//p' "$0"
cd "$(dirname "$0")/.."

clone=${1:-}
if [ -z "$clone" ]; then
  clone=$(mktemp -d)/clone
  trap 'rm -rf "$(dirname "$clone")"' EXIT
  trap 'exit 130' INT TERM
fi
git clone -q . "$clone"
cd "$clone"

# after FILE TEXT LINE: inserts LINE after the first line of FILE that contains TEXT.
after() {
  awk -v text="$2" -v new="$3" '{ print } !done && index($0, text) { print new; done = 1 }
    END { exit !done }' "$1" >"$1.new" || { echo "adding.sh: no \"$2\" in $1" >&2; exit 4; }
  mv "$1.new" "$1"
}

places() {
  echo "$1: $2"
}

cat >harness/walkers/dummy.cc <<'EOF'
#include "harness/walkers/makers.h"

namespace walkhammer {
namespace {

class Dummy final : public Walker {
 public:
  Status Bind(const WalkerHost&) override { return Ok(); }
  void Walk(const WalkInput&, Trace& trace) override { trace.num_frames = 0; }
  bool BufferIntact(const WalkInput&) const override { return true; }
};

}  // namespace

std::unique_ptr<Walker> MakeDummy() { return std::make_unique<Dummy>(); }

}  // namespace walkhammer
EOF
cat >>harness/request/walker_rows.inc <<'EOF'
ROW(MakeDummy, {.name = "dummy-walker", .what = "finds nothing", .codes = kAgctCodes})
EOF
places walker 'a file, a row'

cat >harness/oracles/dummy.cc <<'EOF'
#include "harness/oracles/observation.h"
#include "harness/oracles/rows.h"

namespace walkhammer {
namespace {

constexpr OutcomeInfo kDummyOutcomes[] = {
    {"fine", Grade::kAcceptable, "it accepts all"},
    {"never", Grade::kInteresting, "it never says so"},
};

uint8_t JudgeNothing(const Observation&, char*, size_t) { return 0; }

}  // namespace

const Oracle kDummyOracle = {"dummy-oracle", "accepts all", kDummyOutcomes, JudgeNothing};

}  // namespace walkhammer
EOF
row='ROW(kDummyOracle)'
after harness/oracles/rows.h 'ROW(kFrameKindOracle)' "  $row \\"
places oracle 'a file, a row (and a planted bug, which this one cannot have)'

cat >harness/scenes/java/wh/Dummy.java <<'EOF'
package wh;

final class Dummy {
  private Dummy() {}

  static void play() {
    Harness.arm();
    Harness.park();
  }
}
EOF
after harness/scenes/java/wh/Scenes.java 'case "zombie-code"' '      case "dummy-scene": Dummy.play(); break;'
after harness/request/scene_table.cc '{"zombie-code"' '    {"dummy-scene", "a thread that is parked at once"},'
places scene 'a file, a row in Java, a row in C++'

after harness/generate/mutations.cc '{"forge-anchor"' '    {"dummy-mutation", 1, Fresh},'
places mutation 'a row (and a function, where it does something new)'

cat >>workloads/debian.catalogue <<'EOF'

name: dummy-workload
what: nothing of Debian's
packages: libh2-java
classpath: /usr/share/java/h2.jar
main: Dummy
EOF
places workload 'a stanza'

cat >corpora/known-issues/dummy-issue.toml <<'EOF'
title = "nothing"
signatures = ["dummy-walker: crash in f reading 8 bytes"]
state = "open"
affected = "[8,)"
EOF
places issue 'a file'

cat >harness/hs_err/testdata/dummy-log.log <<'EOF'
EXPECT signal: SIGILL
EXPECT pc: 0x1000
EXPECT guilt: unknown
#  SIGILL (0x4) at pc=0x0000000000001000, pid=1, tid=2
EOF
places 'crash log' 'a file'

cmake --preset release -DCMAKE_UNITY_BUILD=ON >/dev/null
cmake --build --preset quick
cmake --build build/release --target workloads corpora hs_err_test

missing=
sees() {
  if "$@" | grep -q "dummy-$what"; then
    echo "$what: seen"
  else
    missing="$missing $what"
  fi
}
walkhammer=build/release/walkhammer
for what in walker oracle scene workload; do
  sees "$walkhammer" show "${what}s"
done
what=issue
sees "$walkhammer" bugs list --store build/release/known-issues
what=mutation
sees grep -a -o 'dummy-mutation' build/release/walkhammer_child
what=scene
sees "$walkhammer" fuzz --walks 2000 --scene dummy-scene --walker dummy-walker --no-coverage \
  --no-confirm --no-minimize --out out/dummy || true
# The test reads the new log, and fails where it does not say what is expected.
what=log
reads_log() { build/release/hs_err_test --gtest_filter='*ReadsAsExpected/dummy_log'; }
if reads_log | grep -q 'PASSED.* 1 test'; then
  sed -i 's/pc: 0x1000/pc: 0x2000/' harness/hs_err/testdata/dummy-log.log
  sees reads_log
else
  missing="$missing $what"
fi
if [ -n "$missing" ]; then
  echo "adding.sh: built, and not to be seen:$missing" >&2
  exit 1
fi
