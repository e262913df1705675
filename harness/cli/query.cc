// SPDX-License-Identifier: Apache-2.0
// query: asks many run folders at once, by the name of a question or in SQL.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "harness/base/duration.h"
#include "harness/base/nearest.h"
#include "harness/base/numbers.h"
#include "harness/base/print.h"
#include "harness/cli/options.h"
#include "harness/cli/print_json.h"
#include "harness/process/interrupt.h"
#include "harness/store/run_query.h"

namespace walkhammer {
namespace {

constexpr size_t kMostWidth = 120;  // of a column as text

struct Options {
  std::vector<std::string> words;  // the name of a question, unless there is SQL; run folders
  std::string sql, time = "60s";
  uint64_t rows = QueryLimits().rows;
  bool list = false, json = false;
};

int ListQuestions(bool as_json) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  size_t width = 0;
  for (const RunQuestion& question : RunQuestions()) {
    rows.push_back({{"name", question.name}, {"what", question.what}, {"sql", question.sql}});
    width = std::max(width, question.name.size());
  }
  if (as_json) {
    PrintOrderedJson(rows);
  } else {
    for (const RunQuestion& question : RunQuestions())
      Print(stdout, "{:<{}}  {}\n", question.name, width, question.what);
  }
  return static_cast<int>(ExitCode::kClean);
}

// Takes the question's name, if there is no SQL, from the words before the run folders.
Result<std::string> TakeSql(Options& options) {
  if (!options.sql.empty()) return options.sql;
  if (options.words.empty())
    return BadInput("query wants the name of a question, or --sql (see walkhammer query --list)");
  const std::string name = options.words.front();
  options.words.erase(options.words.begin());
  std::vector<std::string_view> names;
  for (const RunQuestion& question : RunQuestions()) {
    if (question.name == name) return std::string(question.sql);
    names.push_back(question.name);
  }
  return BadInput(fmt::format("there is no question \"{}\"; nearest: {} (walkhammer query --list)",
                              name, fmt::join(NearestNames(name, names, 3), ", ")));
}

// --- text ----------------------------------------------------------------------------------------

// Characters, as far as UTF-8 tells them.
size_t WidthOf(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string Shortened(std::string text) {
  if (WidthOf(text) <= kMostWidth) return text;
  size_t end = 0;
  for (size_t width = 0; end < text.size(); end++)
    if ((text[end] & 0xc0) != 0x80 && ++width > kMostWidth - 3) break;
  return text.substr(0, end) + "...";
}

std::string CellText(const QueryValue& value) {
  if (const auto* text = std::get_if<std::string>(&value))
    return Shortened(OnOneLine(Printable(*text)));
  if (const auto* number = std::get_if<int64_t>(&value)) return std::to_string(*number);
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
  return "-";
}

bool IsText(const QueryValue& value) { return std::holds_alternative<std::string>(value); }

std::string TableText(const QueryAnswer& answer) {
  std::vector<std::vector<std::string>> lines(1);
  for (const std::string& name : answer.columns) lines[0].push_back(CellText(name));
  for (const auto& row : answer.rows) {
    auto& line = lines.emplace_back();
    for (const QueryValue& value : row) line.push_back(CellText(value));
  }
  std::string text;
  std::vector<size_t> widths(answer.columns.size());
  std::vector<bool> numbers(answer.columns.size());
  for (size_t i = 0; i < answer.columns.size(); i++) {
    for (const auto& line : lines) widths[i] = std::max(widths[i], WidthOf(line[i]));
    numbers[i] = std::none_of(answer.rows.begin(), answer.rows.end(),
                              [i](const auto& row) { return IsText(row[i]); });
  }
  for (const auto& line : lines) {
    std::string shown;
    for (size_t i = 0; i < line.size(); i++) {
      const std::string gap(widths[i] - WidthOf(line[i]), ' ');
      shown += (i == 0 ? "" : "  ") + (numbers[i] ? gap + line[i] : line[i] + gap);
    }
    shown.erase(shown.find_last_not_of(' ') + 1);
    text += shown + "\n";
  }
  return text;
}

// An answer without rows says as much of the runs as of the question.
std::string NoRowsText(const QueryAnswer& answer, size_t runs) {
  if (answer.empty.empty()) return "no rows\n";
  return fmt::format(
      "no rows: {} in {}\n",
      runs == 1 ? "the run has nothing" : fmt::format("none of the {} runs has anything", runs),
      fmt::join(answer.empty, ", "));
}

// --- JSON ----------------------------------------------------------------------------------------

// Rows as objects, which have room for one column of a name.
Result<nlohmann::ordered_json> AnswerJson(const QueryAnswer& answer) {
  std::set<std::string> names;
  for (const std::string& name : answer.columns)
    if (!names.insert(name).second)
      return BadInput(fmt::format(
          "two columns have the name \"{}\"; for --json, give each a name of its own (AS)", name));
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const auto& row : answer.rows) {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (size_t i = 0; i < row.size(); i++)
      std::visit(
          [&](const auto& value) {
            if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>)
              object[answer.columns[i]] = nullptr;
            else
              object[answer.columns[i]] = value;
          },
          row[i]);
    rows.push_back(std::move(object));
  }
  return nlohmann::ordered_json{
      {"rows", std::move(rows)}, {"more", answer.more}, {"empty_tables", answer.empty}};
}

int RunQueryVerb(Options options) {
  if (options.list) return ListQuestions(options.json);
  const Result<std::string> sql = TakeSql(options);
  if (!sql.ok()) return PrintFailure(sql.failure());
  QueryLimits limits;
  const auto time = ParseDuration(options.time, "--time");
  if (!time.ok()) return PrintFailure(time.failure());
  limits.time = time.value();
  limits.rows = options.rows;
  limits.interrupted = [] { return Interrupted().load(); };
  const Result<QueryAnswer> answer = QueryRuns(options.words, sql.value(), limits);
  if (!answer.ok()) return PrintFailure(answer.failure());
  const QueryAnswer& given = answer.value();
  if (options.json) {
    const auto json = AnswerJson(given);
    if (!json.ok()) return PrintFailure(json.failure());
    PrintOrderedJson(json.value());
    return static_cast<int>(ExitCode::kClean);
  }
  if (given.rows.empty()) {
    Print(stdout, "{}", NoRowsText(given, options.words.size()));
  } else {
    Print(stdout, "{}", TableText(given));
  }
  if (given.more)
    Print(stdout, "... and more: --rows N shows more than {}\n", Grouped(given.rows.size()));
  return static_cast<int>(ExitCode::kClean);
}

}  // namespace

void AddQuery(CLI::App& app, Invocation& chosen) {
  Verb verb(app, "query", "Asks run folders, many at once: by a question's name, or in SQL");
  auto o = std::make_shared<Options>();
  verb.Arguments("NAME|RUN", o->words, "Name of a question, unless --sql is given; run folders");
  verb.Text("--sql", o->sql, "One SELECT over the tables of all runs (docs/run-folder.md)");
  verb.Flag("--list", o->list, "Show the questions that have a name; --json: with their SQL");
  verb.Text("--time", o->time, "Give up after this time (default: 60s)", "TIME");
  verb.Count("--rows", o->rows, "Show at most this many rows (default: 1000)", 1, 1'000'000);
  verb.Json(o->json);
  verb.Runs(chosen, [o] { return RunQueryVerb(*o); });
}

}  // namespace walkhammer
