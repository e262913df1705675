// SPDX-License-Identifier: Apache-2.0
// Helpers that tests of findings, runs and reports share: findings, rows, the modules of the test
// itself. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_STORE_RECORD_TESTING_H_
#define WALKHAMMER_HARNESS_STORE_RECORD_TESTING_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/testing/fails_with.h"
#include "harness/base/testing/temporary_folder.h"
#include "harness/elf/modules.h"
#include "harness/findings/finding_record.h"
#include "harness/oracles/oracle.h"
#include "harness/store/run_reader.h"
#include "harness/store/run_writer.h"
#include "harness/store/shared_rows.h"

namespace walkhammer {

template <size_t kSize>
void SetField(char (&field)[kSize], std::string_view text) {
  std::memset(field, 0, kSize);
  text.substr(0, kSize - 1).copy(field, kSize - 1);
}

// The modules of this process.
inline std::vector<Module> OwnModules() {
  std::vector<Module> modules(kMaxModules);
  modules.resize(ListModules(modules));
  return modules;
}

// Index of an oracle in the oracle table, and of an outcome in its oracle; 255 if there is none.
inline uint8_t OracleIndex(std::string_view name) {
  for (size_t i = 0; i < AllOracles().size(); i++)
    if (name == AllOracles()[i].name) return static_cast<uint8_t>(i);
  return 255;
}
inline uint8_t OutcomeIndex(std::string_view oracle, std::string_view outcome) {
  const Oracle* known = FindOracle(oracle);
  if (known == nullptr) return 255;
  for (size_t i = 0; i < known->outcomes.size(); i++)
    if (outcome == known->outcomes[i].name) return static_cast<uint8_t>(i);
  return 255;
}

inline std::unique_ptr<RawFinding> NewFinding(std::string_view oracle, std::string_view outcome) {
  auto finding = std::make_unique<RawFinding>();
  finding->oracle = OracleIndex(oracle);
  finding->outcome = OutcomeIndex(oracle, outcome);
  if (oracle == "crash") {
    finding->ending = Ending::kCrashed;
    finding->fault.signal = 11;
    finding->fault.code = 1;
  }
  if (oracle == "hang") finding->ending = Ending::kHung;
  return finding;
}

inline void SetChain(RawFinding& finding, const std::vector<uint64_t>& pcs) {
  finding.fault.registers.pc = pcs[0];
  finding.fault.native_count = static_cast<int32_t>(pcs.size());
  for (size_t i = 0; i < pcs.size(); i++) finding.fault.native[i] = pcs[i];
}

#define ASSERT_OK(expression)                                   \
  do {                                                          \
    const auto& ok_result = (expression);                       \
    ASSERT_TRUE(ok_result.ok()) << ok_result.failure().message; \
  } while (false)

inline RunIdentity TestIdentity() {
  RunIdentity identity;
  identity.tool_version = "1.0";
  identity.jdk_path = "jdk";
  identity.vm_version = "Vendor VM 25";
  identity.vm_gc = "G1";
  identity.libjvm_build_id = "00ff";
  identity.jvm_flags = "-Xint";
  identity.walker = "agct";
  identity.provider = "jdk";
  identity.engine = "random";
  identity.seed = 0xfedcba9876543210;
  identity.cpu_model = "cpu";
  identity.kernel = "6.1";
  identity.started_at = "2026-01-02T03:04:05Z";
  identity.aslr = false;
  identity.command_line = "walkhammer fuzz --seed 'x'";
  return identity;
}

inline RunWriter NewRun(const std::string& dir, const RunIdentity& identity = TestIdentity()) {
  return Must(RunWriter::Create(dir, identity));
}

// What a reader sees of a run that is being written.
inline RunReader Read(const RunWriter& run) { return Must(RunReader::Open(run.dir())); }

// The database in a run's folder, behind the run's back.
inline Database OpenDb(const std::string& dir) {
  const std::string file = dir + "/" + kDbName;
  return Must(Database::Open(file, file, SQLITE_OPEN_READWRITE));
}
inline void ExecSql(const std::string& dir, const std::string& sql) {
  ASSERT_OK(OpenDb(dir).Exec(sql.c_str()));
}

// A run that is being written, in a folder of its own.
class NewRunTest : public testing::Test {
 protected:
  TemporaryFolder folder_;
  RunWriter run_ = NewRun(folder_.Under("run"));
};

inline RunTotals TestTotals() {
  RunTotals totals;
  totals.time_ms = 2000;
  totals.walking_cpu_ms = 1800;
  totals.walks = 1234567;
  totals.successful = 1000000;
  totals.pristine_walks = 12;
  totals.pristine_true = 11;
  totals.contained_crashes = 3;
  totals.request_hash = 0xffffffffffffffff;
  totals.children_started = 2;
  totals.children_retired = 1;
  return totals;
}

// Three functions of 3, 2 and 1 blocks; none entered.
inline CoverageRows TestCoverage() {
  CoverageRows code;
  code.file = "/no/such/libjvm.so";
  code.build_id = "00ff";
  code.functions = {{"Walk(int)", 0x1000, 48, "root", 0, 3},
                    {"frame::sender() const", 0x2000, 32, "direct", 3, 2},
                    {"nmethod::is_alive() const", 0x3000, 8, "vtable", 5, 1}};
  code.blocks = {{0x1000, 16, 0, {}}, {0x1010, 16, 0, {}}, {0x1020, 16, 0, {}},
                 {0x2000, 16, 1, {}}, {0x2010, 16, 1, {}}, {0x3000, 8, 2, {}}};
  code.left_out = {{"frame::sender() const", "an indirect call at +0x12"}};
  return code;
}

// A record as the parent would make it of a child's finding.
inline FindingRecord TestRecord(std::string_view oracle, std::string_view outcome,
                                std::string_view title, Realism realism) {
  FindingRecord record;
  record.signature.key = std::string(title) + " key";
  record.signature.title = title;
  record.signature.oracle = oracle;
  record.signature.expect = "crash f()+0x1";
  record.oracle = oracle;
  record.outcome = outcome;
  record.grade = GradeOf(oracle, outcome, Grade::kForbidden);
  record.realism = realism;
  record.detail = "a detail";
  record.request = "walk 1\n";
  record.frames = "a.B.c()V @ 3\n";
  record.native = "libx.so f()+0x1\n";
  record.fault = "{\"signal\":11}";
  record.sequence = 42;
  record.time_ms = 1500;
  return record;
}

// A cell that passed, with distinct values in its fields. Cells at different positions have
// different labels.
inline CellRow TestCell(int64_t position) {
  CellRow cell;
  cell.position = position;
  cell.label = "torture:recursion jdk17 zgc";
  if (position > 0) cell.label += "-" + std::to_string(position);
  cell.workload = "torture:recursion";
  cell.jdk_path = "/jdks/java-17-openjdk";
  cell.vm_version = "Vendor VM 17";
  cell.vm_gc = "Z";
  cell.profile = "zgc";
  cell.jvm_flags = "-XX:+UseZGC -Xmx64m";
  cell.walker = "agct";
  cell.mode = "handler";
  cell.sampler = "perf";
  cell.sampler_reason = "the kernel allows it";
  cell.clock = "cpu";
  cell.interval_min_ns = 5'000'000;
  cell.interval_max_ns = 10'000'000;
  cell.status = CellStatus::kPassed;
  cell.time_ms = 60'000;
  cell.starts = 2;
  cell.delivery = {12'000, 11'784, 120, 96, 11'700, 10'900};
  cell.contained_crashes = 3;
  cell.agent_kib = 2'048;
  cell.output_bytes = 4'096;
  return cell;
}

inline std::vector<CellThreadRow> TestThreads() {
  return {{0, 101, "main", true, 2'000, {210, 200, 6, 4, 198, 190}},
          {0, 102, "C2 CompilerThread0", false, 500, {100, 40, 30, 30, 40, 0}},
          {0, 103, "odd\nname", true, 90, {10, 9, 1, 0, 9, 9}}};
}

inline std::vector<StepRegionRow> TestRegions() {
  return {{0, "body", "a.B.c(I)V", 4, 200, 90'000, 89'000, 1'000, 0},
          {0, "prologue", "a.B.c(I)V", 1, 10, 1'000, 600, 100, 300},
          {0, "stub", "call_stub", -1, 40, 9'000, 0, 9'000, 0}};
}

inline std::vector<StepRangeRow> TestRanges() {
  return {{0, "stub", "call_stub", -1, "-5 unknown_Java", 0x10, 0x3a, 8'000, "push rbp\nret\n"},
          {0, "prologue", "a.B.c(I)V", 1, "wrong", 0, 4, 300, "sub rsp, 0x20"}};
}

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_STORE_RECORD_TESTING_H_
