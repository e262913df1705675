# SPDX-License-Identifier: Apache-2.0
# SQL fragments by which scripts and tests read how far the walkers of a run with
# `--walker agct,asgst` agree. To be sourced.
# shellcheck shell=sh
# shellcheck disable=SC2034  # used where this is sourced

# $agree is an expression over table `agreement`: the percentage of samples in which both walkers
# report the same methods. $compared is its WHERE condition: both walked, and both named each
# method.
agree="100.0 * SUM(CASE WHEN kind IN ('none', 'bci', 'level') THEN samples END) / SUM(samples)"
compared="kind NOT IN ('one-failed', 'unnamed')"

# contradicted walker|other: the number of samples in which a witness contradicts callers or methods
# that the second walker (walker) or the first one (other) reports. A sample that several witnesses
# contradict counts once.
contradicted() {
  echo "(SELECT COALESCE(SUM(most), 0) FROM (SELECT MAX(samples) AS most FROM evidence
    WHERE against = '$1' AND kind IN ('truncated', 'skipped-caller', 'method')
    GROUP BY cell, region, kind))"
}
# As $agree, without the samples in which AsyncGetCallTrace is proven wrong.
agree_unproven="100.0 * SUM(CASE WHEN kind IN ('none', 'bci', 'level') THEN samples END) /
  (SUM(samples) - $(contradicted other))"
