// SPDX-License-Identifier: Apache-2.0
// The schema of run.db and the words that it stores. Private to RunDb. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_STORE_RUN_SCHEMA_H_
#define WALKHAMMER_HARNESS_STORE_RUN_SCHEMA_H_

namespace walkhammer {

inline constexpr char kDbName[] = "run.db";
inline constexpr char kLockName[] = "run.lock";

// "WHRN": lets file(1) and a reader tell a run from any other SQLite file.
inline constexpr int kApplicationId = 0x5748524e;

// 64-bit values that need not fit SQLite's signed integers (seed, hash) are text.
inline constexpr char kSchema[] = R"(
CREATE TABLE run (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  tool_version TEXT NOT NULL, jdk_path TEXT NOT NULL, vm_version TEXT NOT NULL,
  vm_gc TEXT NOT NULL, libjvm_build_id TEXT NOT NULL, jvm_flags TEXT NOT NULL,
  walker TEXT NOT NULL, provider TEXT NOT NULL, engine TEXT NOT NULL, seed TEXT NOT NULL,
  cpu_model TEXT NOT NULL, kernel TEXT NOT NULL, started_at TEXT NOT NULL,
  aslr INTEGER NOT NULL, command_line TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'running', reason TEXT NOT NULL DEFAULT '',
  time_ms INTEGER NOT NULL DEFAULT 0, walks INTEGER NOT NULL DEFAULT 0,
  successful INTEGER NOT NULL DEFAULT 0, pristine_walks INTEGER NOT NULL DEFAULT 0,
  pristine_true INTEGER NOT NULL DEFAULT 0, contained_crashes INTEGER NOT NULL DEFAULT 0,
  request_hash TEXT NOT NULL DEFAULT '', children_started INTEGER NOT NULL DEFAULT 0,
  children_retired INTEGER NOT NULL DEFAULT 0, children_died INTEGER NOT NULL DEFAULT 0,
  workers INTEGER NOT NULL, blocks INTEGER NOT NULL DEFAULT 0,
  coverage_file TEXT NOT NULL DEFAULT '', coverage_build_id TEXT NOT NULL DEFAULT '',
  coverage_reason TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE TABLE bucket (
  id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, title TEXT NOT NULL, oracle TEXT NOT NULL,
  expect TEXT NOT NULL, folder TEXT NOT NULL, seen INTEGER NOT NULL DEFAULT 0,
  confirmed INTEGER NOT NULL DEFAULT 0, tries INTEGER NOT NULL DEFAULT 0,
  minimized_edits INTEGER, minimized_confirmed INTEGER NOT NULL DEFAULT 0,
  minimized_tries INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE finding (
  id INTEGER PRIMARY KEY, bucket INTEGER NOT NULL REFERENCES bucket (id),
  sequence INTEGER NOT NULL, time_ms INTEGER NOT NULL, oracle TEXT NOT NULL,
  outcome TEXT NOT NULL, grade TEXT NOT NULL, realism TEXT NOT NULL, detail TEXT NOT NULL,
  request TEXT NOT NULL, frames TEXT NOT NULL, native TEXT NOT NULL, fault TEXT NOT NULL,
  cell INTEGER
) STRICT;
CREATE INDEX finding_of_bucket ON finding (bucket, sequence);
CREATE TABLE count (
  walker TEXT NOT NULL, scene TEXT NOT NULL, state TEXT NOT NULL, region TEXT NOT NULL,
  code TEXT NOT NULL, count INTEGER NOT NULL,
  PRIMARY KEY (walker, scene, state, region, code)
) STRICT, WITHOUT ROWID;
CREATE TABLE scene (
  position INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, available INTEGER NOT NULL,
  pristine_true INTEGER NOT NULL, tried INTEGER NOT NULL, truth_frames INTEGER NOT NULL,
  reason TEXT NOT NULL
) STRICT;
CREATE TABLE progress (
  time_ms INTEGER PRIMARY KEY, walks INTEGER NOT NULL, buckets INTEGER NOT NULL,
  blocks INTEGER NOT NULL
) STRICT;
CREATE TABLE coverage_function (
  position INTEGER PRIMARY KEY, name TEXT NOT NULL, address INTEGER NOT NULL,
  size INTEGER NOT NULL, reach TEXT NOT NULL, first_block INTEGER NOT NULL,
  blocks INTEGER NOT NULL
) STRICT;
CREATE TABLE coverage_block (
  position INTEGER PRIMARY KEY, address INTEGER NOT NULL, size INTEGER NOT NULL,
  function INTEGER NOT NULL REFERENCES coverage_function (position), first_ms INTEGER
) STRICT;
CREATE TABLE coverage_left_out (name TEXT NOT NULL, reason TEXT NOT NULL) STRICT;
CREATE TABLE churn (
  id INTEGER PRIMARY KEY CHECK (id = 1), collections INTEGER NOT NULL, rounds INTEGER NOT NULL,
  unloaded INTEGER NOT NULL
) STRICT;
CREATE TABLE settle (
  id INTEGER PRIMARY KEY CHECK (id = 1), most_ms INTEGER NOT NULL, took_ms INTEGER NOT NULL,
  unconfirmed INTEGER NOT NULL, unminimized INTEGER NOT NULL
) STRICT;
CREATE TABLE cell (
  position INTEGER PRIMARY KEY, label TEXT NOT NULL UNIQUE, workload TEXT NOT NULL,
  jdk_path TEXT NOT NULL, vm_version TEXT NOT NULL, vm_gc TEXT NOT NULL, profile TEXT NOT NULL,
  jvm_flags TEXT NOT NULL, walker TEXT NOT NULL, mode TEXT NOT NULL, sampler TEXT NOT NULL,
  sampler_reason TEXT NOT NULL, clock TEXT NOT NULL, interval_min_ns INTEGER NOT NULL,
  interval_max_ns INTEGER NOT NULL, status TEXT NOT NULL, reason TEXT NOT NULL,
  time_ms INTEGER NOT NULL, starts INTEGER NOT NULL, requested INTEGER NOT NULL,
  delivered INTEGER NOT NULL, coalesced INTEGER NOT NULL, missed INTEGER NOT NULL,
  walks INTEGER NOT NULL, successful INTEGER NOT NULL, contained_crashes INTEGER NOT NULL,
  agent_kib INTEGER NOT NULL, output_bytes INTEGER NOT NULL
) STRICT;
CREATE TABLE cell_thread (
  cell INTEGER NOT NULL REFERENCES cell (position), tid INTEGER NOT NULL, name TEXT NOT NULL,
  java INTEGER NOT NULL, cpu_ms INTEGER NOT NULL, requested INTEGER NOT NULL,
  delivered INTEGER NOT NULL, coalesced INTEGER NOT NULL, missed INTEGER NOT NULL,
  walks INTEGER NOT NULL, successful INTEGER NOT NULL
) STRICT;
CREATE INDEX cell_thread_of_cell ON cell_thread (cell);
CREATE TABLE stack (
  cell INTEGER NOT NULL REFERENCES cell (position), frames TEXT NOT NULL, count INTEGER NOT NULL
) STRICT;
CREATE INDEX stack_of_cell ON stack (cell);
CREATE TABLE agreement (
  cell INTEGER REFERENCES cell (position), walker TEXT NOT NULL, other TEXT NOT NULL,
  realism TEXT NOT NULL, region TEXT NOT NULL, kind TEXT NOT NULL, samples INTEGER NOT NULL
) STRICT;
CREATE INDEX agreement_of_cell ON agreement (cell);
CREATE TABLE evidence (
  cell INTEGER NOT NULL REFERENCES cell (position), walker TEXT NOT NULL, other TEXT NOT NULL,
  region TEXT NOT NULL, kind TEXT NOT NULL, witness TEXT NOT NULL, against TEXT NOT NULL,
  samples INTEGER NOT NULL
) STRICT;
CREATE INDEX evidence_of_cell ON evidence (cell);
CREATE TABLE step_region (
  cell INTEGER NOT NULL REFERENCES cell (position), kind TEXT NOT NULL, name TEXT NOT NULL,
  level INTEGER NOT NULL, pcs INTEGER NOT NULL, steps INTEGER NOT NULL,
  answered INTEGER NOT NULL, failed INTEGER NOT NULL, wrong INTEGER NOT NULL
) STRICT;
CREATE INDEX step_region_of_cell ON step_region (cell);
CREATE TABLE step_range (
  cell INTEGER NOT NULL REFERENCES cell (position), kind TEXT NOT NULL, name TEXT NOT NULL,
  level INTEGER NOT NULL, answer TEXT NOT NULL, first_byte INTEGER NOT NULL,
  end_byte INTEGER NOT NULL, steps INTEGER NOT NULL, disassembly TEXT NOT NULL
) STRICT;
CREATE INDEX step_range_of_cell ON step_range (cell);
)";

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_STORE_RUN_SCHEMA_H_
