// SPDX-License-Identifier: Apache-2.0
#include "reports/coverage_report.h"

#include <fmt/format.h>

#include "harness/base/numbers.h"
#include "harness/findings/crash_folder.h"
#include "reports/code_listing.h"
#include "reports/coverage_text.h"

namespace walkhammer {
namespace {

constexpr char kLegend[] =
    "Not reached: + and - are instructions of blocks that were and were not reached; addresses are "
    "those of the file.\n";

Result<CoverageRows> ReadCoverage(const RunReader& db, std::string_view part) {
  auto code = db.Coverage();
  if (!code.ok()) return code;
  if (!code.value().reason.empty())
    return Unable(fmt::format("{}: there is no coverage: {}", db.dir(), code.value().reason));
  if (ByUnreached(code.value(), part).empty())
    return BadInput(
        fmt::format("{}: no function of the walker's code has \"{}\" in its name (--coverage "
                    "alone names all)",
                    db.dir(), part));
  return code;
}

std::string Heading(const CoverageRows& code) {
  return fmt::format("{}, build id {}\n{}\n\n", OnOneLine(code.file),
                     code.build_id.empty() ? "-" : OnOneLine(code.build_id),
                     CoverageSentence(code));
}

Result<std::string> Listings(const CoverageRows& code, std::string_view part) {
  ASSIGN_OR_RETURN(auto listing, CodeListing::Open(code));
  std::string text;
  for (const size_t function : ByUnreached(code, part))
    if (ReachedOf(code, function) < code.functions[function].blocks)
      text += "\n" + listing.Unreached(function);
  if (!text.empty()) return kLegend + text;
  return std::string(part.empty() ? "Every block was reached.\n"
                                  : "Every block of these functions was reached.\n");
}

}  // namespace

Result<std::string> FunctionReport(const RunReader& db, std::string_view part) {
  ASSIGN_OR_RETURN(const auto code, ReadCoverage(db, part));
  return Heading(code) + FunctionTable(code, part);
}

Result<std::string> UnreachedReport(const RunReader& db, std::string_view part) {
  ASSIGN_OR_RETURN(const auto code, ReadCoverage(db, part));
  ASSIGN_OR_RETURN(auto listings, Listings(code, part));
  return Heading(code) + listings;
}

Status WriteCoverageFile(const RunReader& db) {
  ASSIGN_OR_RETURN(const auto code, db.Coverage());
  if (!code.reason.empty()) return Ok();
  ASSIGN_OR_RETURN(auto listings, Listings(code, ""));
  return WriteFileAtomically(db.dir() + "/" + kCoverageFileName,
                             Heading(code) + FunctionTable(code, "") + "\n" + listings);
}

}  // namespace walkhammer
