// SPDX-License-Identifier: Apache-2.0
// A libFuzzer target for what reads run folders, built with sanitizers: somebody else may have made
// the folder. An input is a script that puts rows of arbitrary values into a database with a run's
// tables, then changes bytes of the file; or it is the file itself. Besides passing the sanitizers,
// a reader must refuse with one sentence and the exit code of bad input, or make reports.
//   build/asan/run_folder_fuzzer [-runs=N] [CORPUS]
#include <sqlite3.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "harness/process/scratch.h"
#include "harness/store/run_tables.h"
#include "harness/store/run_writer.h"
#include "reports/coverage_report.h"
#include "reports/flame_graph.h"
#include "reports/report_output.h"
#include "reports/run_summary.h"

namespace walkhammer {
namespace {

[[noreturn]] void Fail(const std::string& why) {
  std::fprintf(stderr, "run_folder_fuzzer: %s\n", why.c_str());
  std::abort();
}

// Reads numbers and bytes from an input; zeros after its end.
class Input {
 public:
  Input(const uint8_t* data, size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}
  bool empty() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }
  uint64_t Take(int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes && !rest_.empty(); i++, rest_.remove_prefix(1))
      value |= static_cast<uint64_t>(static_cast<uint8_t>(rest_[0])) << (8 * i);
    return value;
  }
  std::string_view TakeText(size_t most) {
    const std::string_view text = rest_.substr(0, most);
    rest_.remove_prefix(text.size());
    return text;
  }

 private:
  std::string_view rest_;
};

struct Table {
  std::string name;
  std::vector<std::string> columns;
};

// What a text column may hold that readers know, and what they must not trip over.
constexpr const char* kWords[] = {"forbidden",
                                  "interesting",
                                  "acceptable",
                                  "genuine",
                                  "plausible",
                                  "hostile",
                                  "running",
                                  "clean-end",
                                  "interrupted",
                                  "failed",
                                  "vacuous",
                                  "passed",
                                  "died",
                                  "hung",
                                  "unavailable",
                                  "not-hotspot",
                                  "agct",
                                  "asgst",
                                  "in_Java",
                                  "frames",
                                  "-5",
                                  "crash",
                                  "fault",
                                  "truth",
                                  "0",
                                  "",
                                  "root",
                                  "vtable",
                                  "in-force",
                                  "not-in-force",
                                  "dropped",
                                  "incident",
                                  "wrong",
                                  "stub",
                                  "a.B.c()V\na.B.d(I)I\n",
                                  "a;b(Lx;[[I)V;c(",
                                  "[agct -5 unknown_Java]",
                                  "{\"signal\":11}",
                                  "[[[[[[[[[[[[",
                                  "</script>",
                                  "\xff\xfe\x1b[2J",
                                  "99999999999999999999",
                                  "ffffffffffffffffff",
                                  "../../..",
                                  "/proc/self/exe",
                                  "cpu",
                                  "perf",
                                  "ref+jdk"};

constexpr int64_t kNumbers[] = {
    0,   1,      2,         3,         5,          100,       -1,        -2,
    255, 65'536, INT32_MAX, INT32_MIN, UINT32_MAX, INT64_MAX, INT64_MIN, int64_t{1} << 32};

void Must(int status, sqlite3* db) {
  if (status != SQLITE_OK) Fail(sqlite3_errmsg(db));
}

class Database {
 public:
  Database() { Must(sqlite3_open(":memory:", &handle_), handle_); }
  ~Database() { sqlite3_close(handle_); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  sqlite3* handle() const { return handle_; }

  // Inputs may violate remaining constraints; such statements do nothing.
  void Try(const std::string& sql) {
    (void)sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  }
  std::string Image() const {
    sqlite3_int64 size = 0;
    unsigned char* bytes = sqlite3_serialize(handle_, "main", &size, 0);
    std::string image(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
    sqlite3_free(bytes);
    return image;
  }
  void Load(const std::string& image) {
    auto* bytes = static_cast<unsigned char*>(sqlite3_malloc64(image.size()));
    std::copy(image.begin(), image.end(), bytes);
    const auto size = static_cast<sqlite3_int64>(image.size());
    Must(sqlite3_deserialize(handle_, "main", bytes, size, size,
                             SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE),
         handle_);
  }

 private:
  sqlite3* handle_ = nullptr;
};

// A folder with a run, its image, and its tables without the constraints that SQLite would enforce:
// an untrusted file need not have them.
class World {
 public:
  World() {
    RunIdentity identity;
    identity.walker = "agct";
    Result<RunWriter> run = RunWriter::Create(dir(), identity);
    if (!run.ok()) Fail(run.failure().message);
    if (!run.value().Finish(RunStatus::kCleanEnd, {}).ok()) Fail("Finish");
    sqlite3* made = nullptr;
    Must(sqlite3_open((dir() + "/run.db").c_str(), &made), made);
    Database loose;
    loose.Try("PRAGMA page_size = 512");
    sqlite3_exec(
        made, "SELECT name, sql FROM sqlite_master WHERE type = 'table'",
        [](void* to, int, char** row, char**) {
          static_cast<World*>(to)->tables_.push_back({row[0], {row[1]}});
          return 0;
        },
        this, nullptr);
    sqlite3_close(made);
    for (Table& table : tables_) {
      const std::string sql = Loose(std::move(table.columns[0]));
      Must(sqlite3_exec(loose.handle(), sql.c_str(), nullptr, nullptr, nullptr), loose.handle());
      table.columns.clear();
      sqlite3_exec(
          loose.handle(), ("SELECT name FROM pragma_table_info('" + table.name + "')").c_str(),
          [](void* to, int, char** row, char**) {
            static_cast<Table*>(to)->columns.emplace_back(row[0]);
            return 0;
          },
          &table, nullptr);
    }
    // A run has one row of table run.
    loose.Try("PRAGMA application_id = " + std::to_string(kApplicationId) +
              "; PRAGMA user_version = " + std::to_string(kSchemaVersion) +
              "; INSERT INTO run (id) VALUES (1)");
    image_ = loose.Image();
  }
  std::string dir() const { return scratch_.path() + "/run"; }
  const std::string& image() const { return image_; }
  const std::vector<Table>& tables() const { return tables_; }

 private:
  static std::string Loose(std::string sql) {
    for (const std::string_view rule :
         {"STRICT, WITHOUT ROWID", "STRICT", "NOT NULL", "UNIQUE", "CHECK (id = 1)"})
      for (size_t at; (at = sql.find(rule)) != std::string::npos;) sql.erase(at, rule.size());
    return sql;
  }

  ScratchFolder scratch_;
  std::string image_;
  std::vector<Table> tables_;
};

void BindAny(sqlite3_stmt* statement, int place, Input& input) {
  const uint64_t kind = input.Take(1);
  switch (kind % 8) {
    case 0:
    case 1:
      sqlite3_bind_int64(statement, place, kNumbers[kind / 8 % std::size(kNumbers)]);
      break;
    case 2:
      sqlite3_bind_int64(statement, place, static_cast<int64_t>(kind / 8));
      break;
    case 3: {
      const std::string_view text = input.TakeText(kind / 8);
      sqlite3_bind_text(statement, place, text.data(), static_cast<int>(text.size()),
                        SQLITE_TRANSIENT);
      break;
    }
    case 4: {  // 2 to 32 Ki bytes, of one byte or of a word
      const std::string word = kWords[input.Take(1) % std::size(kWords)];
      const size_t size = size_t{2} << (kind / 8 % 15);
      std::string text = word.empty() ? "[" : word;
      const size_t whole = (size + text.size() - 1) / text.size() * text.size();
      while (text.size() < size) text += text;
      text.resize(whole);
      sqlite3_bind_text(statement, place, text.data(), static_cast<int>(text.size()),
                        SQLITE_TRANSIENT);
      break;
    }
    case 5:
      if (kind / 8 % 4 == 0)
        sqlite3_bind_null(statement, place);
      else
        sqlite3_bind_double(statement, place, 1e300 * static_cast<double>(kind));
      break;
    default:
      sqlite3_bind_text(statement, place, kWords[input.Take(1) % std::size(kWords)], -1,
                        SQLITE_STATIC);
  }
}

void Step(Database& db, const std::string& sql, size_t places, Input& input) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(db.handle(), sql.c_str(), -1, &statement, nullptr) != SQLITE_OK)
    Fail(sql + ": " + sqlite3_errmsg(db.handle()));
  for (size_t i = 0; i < places; i++) BindAny(statement, static_cast<int>(i + 1), input);
  (void)sqlite3_step(statement);
  sqlite3_finalize(statement);
}

// One line of the script.
void ChangeRows(Database& db, const World& world, Input& input) {
  const uint64_t what = input.Take(1);
  const Table& table = world.tables()[input.Take(1) % world.tables().size()];
  const std::string& column = table.columns[input.Take(1) % table.columns.size()];
  switch (what % 8) {
    case 0:
      db.Try("PRAGMA user_version = " + std::to_string(what / 8));
      break;
    case 1:  // each row twice
      db.Try("INSERT INTO " + table.name + " SELECT * FROM " + table.name + " LIMIT 500");
      break;
    case 2:
    case 3:
      Step(db, "UPDATE " + table.name + " SET " + column + " = ?", 1, input);
      break;
    default: {
      std::string sql = "INSERT OR REPLACE INTO " + table.name + " VALUES (";
      for (size_t i = 0; i < table.columns.size(); i++) sql += i == 0 ? "?" : ", ?";
      Step(db, sql + ")", table.columns.size(), input);
    }
  }
}

std::string FileOf(const World& world, Input& input) {
  const uint64_t mode = input.Take(1);
  if (mode % 16 == 15) return std::string(input.rest());
  Database db;
  db.Load(world.image());
  const uint64_t lines = input.Take(1) % 32;
  for (uint64_t i = 0; i < lines && !input.empty(); i++) ChangeRows(db, world, input);
  std::string image = db.Image();
  for (uint64_t bytes = mode / 16; bytes > 0 && !input.empty() && mode % 2 != 0; bytes--) {
    const size_t at = input.Take(3) % image.size();
    image[at] = static_cast<char>(input.Take(1));
  }
  return image;
}

// A refusal is one sentence about the user's input.
void CheckRefusal(const Failure& failure) {
  if (failure.code != ExitCode::kBadInput && failure.code != ExitCode::kUnable)
    Fail("refused by another exit code: " + failure.message);
  if (failure.message.empty()) Fail("refused without a word");
}

template <typename T>
bool Read(const Result<T>& result) {
  if (!result.ok()) CheckRefusal(result.failure());
  return result.ok();
}

void Report(const std::string& dir) {
  const Result<RunReader> db = RunReader::Open(dir);
  if (!Read(db)) return;
  Result<RunSummary> summary = ReadRun(db.value());
  if (Read(summary)) {
    HoldToGoal(summary.value(), 50);
    if (TextReport(summary.value()).empty()) Fail("an empty report");
    const auto json = JsonReport(db.value(), summary.value());
    if (Read(json) && !nlohmann::json::accept(json.value())) Fail("a report that is not JSON");
  }
  (void)Read(FunctionReport(db.value(), ""));
  if (const auto groups = FlameGroups(db.value(), ""); Read(groups)) {
    (void)FlameGraphHtml(groups.value(), "title");
    (void)CollapsedText(groups.value());
  }
}

}  // namespace
}  // namespace walkhammer

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace walkhammer;  // NOLINT(google-build-using-namespace)
  static const World world;
  Input input(data, size);
  const std::string image = FileOf(world, input);
  std::ofstream(world.dir() + "/run.db", std::ios::binary | std::ios::trunc) << image;
  Report(world.dir());
  return 0;
}
