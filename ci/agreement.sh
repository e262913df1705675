# SPDX-License-Identifier: Apache-2.0
# What scripts and tests ask a run of two walkers, agct,asgst: parts of SQL, to be sourced.
# shellcheck shell=sh
# shellcheck disable=SC2034  # used where this is sourced

# Over `agreement`: the share of samples, in per cent, whose methods agree, of those ($compared) in
# which both walked and named each method.
agree="100.0 * SUM(CASE WHEN kind IN ('none', 'bci', 'level') THEN samples END) / SUM(samples)"
compared="kind NOT IN ('one-failed', 'unnamed')"

# contradicted walker|other: the samples in which a witness contradicts callers or methods of the
# second walker (walker) or of the first one (other). One that several contradict counts once.
contradicted() {
  echo "(SELECT COALESCE(SUM(most), 0) FROM (SELECT MAX(samples) AS most FROM evidence
    WHERE against = '$1' AND kind IN ('truncated', 'skipped-caller', 'method')
    GROUP BY cell, region, kind))"
}
# The same share without the samples in which AsyncGetCallTrace is proven wrong.
agree_unproven="100.0 * SUM(CASE WHEN kind IN ('none', 'bci', 'level') THEN samples END) /
  (SUM(samples) - $(contradicted other))"
