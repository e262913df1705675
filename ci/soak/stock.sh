# SPDX-License-Identifier: Apache-2.0
# Stock JDKs end with 0: `fuzz` with each guided engine and each seed of WALKHAMMER_SEEDS (default:
# 1 2 3) for WALKHAMMER_TIME (default: 60s), and `stress` of the torture programs and two Debian programs,
# WALKHAMMER_CELL_TIME (default: 10s) each, on each JDK, two runs at a time. Fails if a bucket has no
# name. Then the run of seed 1 is judged without each known issue that it met: it must end with 1
# if one of its buckets is Forbidden, and only its buckets may be new.
# shellcheck shell=sh
# shellcheck disable=SC2154  # ci/soak.sh sets them
need_jdks
cp -r corpora "$work/corpora" # a known issue names requests in other folders

# buckets RUN DIR: $judged is the exit code of the run's verdict, and $work/buckets has a line for
# each bucket: "ISSUE GRADE KEY", or "new GRADE KEY" if it is not known by DIR. An issue that a later
# build has fixed is known.
buckets() {
  code=0
  "$walkhammer" report "$1" --known "$2" --json >"$work/report.json" || code=$?
  sqlite3 -separator ' ' :memory: "SELECT CASE WHEN json_extract(value, '\$.known.verdict') IN ('known', 'fixed')
      THEN json_extract(value, '\$.known.bug') ELSE 'new' END,
    json_extract(value, '\$.grade'), json_extract(value, '\$.key')
    FROM json_each(readfile('$work/report.json'), '\$.buckets')" | sort >"$work/buckets"
  judged=$code
}

# without RUN ISSUE: judges the run against the registry without that issue.
without() {
  mv "$work/corpora/known-issues/$2.toml" "$work/"
  buckets "$1" "$work/corpora/known-issues"
  mv "$work/$2.toml" "$work/corpora/known-issues/"
  sed -n 's/^new //p' "$work/buckets" >"$work/new"
  wanted=0 # of Interesting buckets alone
  ! grep -q '^Forbidden' "$work/of-$2" || wanted=1
  if [ "$judged" -ne "$wanted" ] || [ ! -s "$work/new" ]; then
    fail "$1: without $2 the run ends with $judged, with $(wc -l <"$work/new") new buckets"
  elif grep -vxFf "$work/of-$2" "$work/new"; then
    fail "$1: without $2 these buckets of other issues are new"
  else
    lacking=$((lacking + 1))
  fi
}

# settled RUN PID: waits for a run, and shows what it found.
settled() {
  runs=$((runs + 1))
  if ended "$1" "$2" 0; then
    green=$((green + 1))
  else
    sed -n '1p;/^New/,/^$/p' "$1.txt"
  fi
}

runs=0
green=0
lacking=0
last=
# next NAME VERB ARGUMENT...: starts a run, and waits for the one before it.
next() {
  name=$1
  shift
  start "$out/$name" "$@"
  # shellcheck disable=SC2086  # words
  [ -z "$last" ] || settled $last
  last="$out/$name $!"
}

for seed in ${WALKHAMMER_SEEDS-1 2 3}; do
  for engine in libfuzzer afl; do
    for jdk in $jdks; do
      next "$(basename "$jdk")-$engine-$seed" fuzz --engine "$engine" --seed "$seed" --workers 1 \
        --jdk "$jdk" --time "${WALKHAMMER_TIME:-60s}" --no-minimize
    done
  done
done
for jdk in $jdks; do
  next "$(basename "$jdk")-stress" stress --workload 'torture:*' --workload debian:xalan \
    --workload debian:ecj --jdk "$jdk" --time "${WALKHAMMER_CELL_TIME:-10s}" --jobs 1
done
# shellcheck disable=SC2086  # words
settled $last
echo "$green of $runs runs ended with 0"

for jdk in $jdks; do
  run=$out/$(basename "$jdk")-libfuzzer-1
  [ -d "$run" ] || continue
  buckets "$run" corpora/known-issues
  issues=$(sed -n 's/^\([A-Z][^ ]*\) .*/\1/p' "$work/buckets" | sort -u)
  for issue in $issues; do
    sed -n "s/^$issue //p" "$work/buckets" >"$work/of-$issue"
  done
  for issue in $issues; do
    without "$run" "$issue"
  done
done
echo "$lacking times, one issue was taken away, and was new"
