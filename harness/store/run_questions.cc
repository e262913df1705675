// SPDX-License-Identifier: Apache-2.0
// The questions that have a name. Each is a row: name, one sentence, SQL.
#include "harness/store/run_query.h"

namespace walkhammer {
namespace {

constexpr RunQuestion kQuestions[] = {
    {"runs", "The runs, oldest first: what ran on which build, how it ended, how much it found.",
     R"(SELECT id AS run, started_at, kind, build, walker, engine, status, time_ms / 1000 AS seconds,
       walks, (SELECT count(*) FROM bucket WHERE bucket.run = run.id) AS buckets,
       (SELECT count(*) FROM bucket WHERE bucket.run = run.id AND grade = 'Forbidden') AS forbidden,
       folder
FROM run ORDER BY started_at, id)"},

    {"new-buckets",
     "Buckets first seen in the seven days up to the newest run; older_runs: those that had not "
     "seen them.",
     R"(WITH week AS (
  SELECT strftime('%Y-%m-%dT%H:%M:%SZ', max(datetime(started_at)), '-7 days') AS begin FROM run)
SELECT grade, realism, title, group_concat(DISTINCT build) AS builds,
       min(started_at) AS first_seen, count(DISTINCT run) AS runs, sum(seen) AS seen,
       sum(confirmed) AS replayed, sum(tries) AS tries,
       (SELECT count(*) FROM run WHERE started_at <= week.begin) AS older_runs
FROM sighting, week GROUP BY oracle, outcome, title
HAVING min(started_at) > week.begin
ORDER BY grade = 'Forbidden' DESC, grade = 'Interesting' DESC, first_seen, title)"},

    {"crashes",
     "What crashed, hung or died on which build, and in how many of its replays it did so again.",
     R"(SELECT title, build, grade, realism, min(started_at) AS first_seen,
       max(started_at) AS last_seen, count(DISTINCT run) AS runs, sum(seen) AS seen,
       sum(confirmed) AS replayed, sum(tries) AS tries,
       CASE WHEN sum(confirmed) > 0 THEN 'yes' WHEN sum(tries) > 0 THEN 'no'
            WHEN count(tries) = 0 THEN 'not known' ELSE 'not tried' END AS confirmed
FROM sighting WHERE oracle IN ('survival', 'crash', 'hang')
GROUP BY oracle, title, build ORDER BY title, build)"},

    {"failures",
     "Share of walks without frames by walker and thread state, from 100 walks on, and the most "
     "frequent code.",
     R"(WITH answer AS (
  SELECT run.kind, ifnull(cell.build, run.build) AS build, count.walker, count.state, count.code,
         sum(count.count) AS walks
  FROM count JOIN run ON run.id = count.run
  LEFT JOIN cell ON cell.run = count.run AND cell.label = count.scene
  WHERE count.walker NOT IN ('jfr', 'agent')
  GROUP BY run.kind, ifnull(cell.build, run.build), count.walker, count.state, count.code)
SELECT kind, build, walker, state, sum(walks) AS walks,
       sum(iif(code = 'frames', 0, walks)) AS failed,
       round(100.0 * sum(iif(code = 'frames', 0, walks)) / sum(walks), 2) AS percent,
       iif(max(iif(code = 'frames', -1, walks)) < 0, NULL, code) AS mostly
FROM answer GROUP BY kind, build, walker, state HAVING sum(walks) >= 100
ORDER BY kind, percent DESC, walks DESC)"},

    {"unwalkable",
     "Methods and stubs in which no step was answered on one build, but some were on another "
     "(step runs).",
     R"(WITH piece AS (
  SELECT step_region.name, cell.walker, cell.build, sum(steps) AS steps, sum(answered) AS answered
  FROM step_region JOIN cell ON cell.run = step_region.run AND cell.position = step_region.cell
  GROUP BY step_region.name, cell.walker, cell.build)
SELECT bad.name, bad.walker, bad.build AS unwalkable_on, bad.steps, good.build AS walkable_on,
       round(100.0 * good.answered / good.steps, 2) AS percent_answered
FROM piece AS bad JOIN piece AS good ON good.name = bad.name AND good.walker = bad.walker
WHERE bad.answered = 0 AND bad.steps >= 10 AND good.answered > 0
ORDER BY bad.build, good.build, bad.steps DESC, bad.name)"},

    {"coverage",
     "Share of the walker's blocks that each run entered, and the change from the run before it "
     "on that build.",
     R"(WITH known AS (SELECT run, sum(blocks) AS blocks FROM coverage_function GROUP BY run)
SELECT build, walker, engine, started_at, time_ms / 1000 AS seconds, run.blocks,
       known.blocks AS all_blocks, round(100.0 * run.blocks / known.blocks, 2) AS percent,
       run.blocks - lag(run.blocks) OVER (
         PARTITION BY build, walker, engine ORDER BY started_at, run.id) AS change, folder
FROM run JOIN known ON known.run = run.id
WHERE known.blocks > 0 AND coverage_reason = ''
ORDER BY build, walker, engine, started_at, run.id)"},
};

}  // namespace

std::span<const RunQuestion> RunQuestions() { return kQuestions; }

}  // namespace walkhammer
