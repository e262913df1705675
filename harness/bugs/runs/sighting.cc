// SPDX-License-Identifier: Apache-2.0
#include "harness/bugs/runs/sighting.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "harness/base/files.h"
#include "harness/base/numbers.h"
#include "harness/base/text.h"
#include "harness/findings/crash_folder.h"
#include "harness/request/symbol_table.h"
#include "harness/request/text_form.h"
#include "harness/request/walker_table.h"

namespace walkhammer {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostWalk = 1 << 20;  // bytes of a request's text
constexpr size_t kMostVersion = 300;   // bytes of a JVM's version

// JDK 8's HotSpot has versions of its own: "25.504-b08" is that of 8u504-b08.
std::optional<std::string> VersionOfJdk8(std::string_view hotspot) {
  const size_t minus = hotspot.find("-b");
  if (!hotspot.starts_with("25.") || minus == hotspot.npos) return std::nullopt;
  const std::string_view update = hotspot.substr(3, minus - 3);
  if (update.empty() || update.find_first_not_of("0123456789") != update.npos) return std::nullopt;
  return fmt::format("8u{}{}", update, hotspot.substr(minus));
}

bool IsWord(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  });
}

// "512m", "8"
bool IsAmount(std::string_view text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view unit = text.substr(digits);
  return digits > 0 &&
         (unit.empty() || (unit.size() == 1 && std::string_view("kKmMgG").find(unit) != unit.npos));
}

bool IsSafeFlag(std::string_view flag) {
  for (const char* mode : {"-Xint", "-Xcomp", "-Xmixed"})
    if (flag == mode) return true;
  for (const std::string_view size : {"-Xmx", "-Xms", "-Xmn", "-Xss"})
    if (flag.starts_with(size)) return IsAmount(flag.substr(size.size()));
  if (!flag.starts_with("-XX:")) return false;
  flag.remove_prefix(4);
  if (flag.starts_with('+') || flag.starts_with('-')) return IsWord(flag.substr(1));
  const size_t equals = flag.find('=');
  return equals != flag.npos && IsWord(flag.substr(0, equals)) && IsAmount(flag.substr(equals + 1));
}

// A request that was parsed.
struct ParsedWalk {
  std::string text;  // canonical: without untrusted comments
  std::string walker, against;
  bool replaceable = false;  // WalkerInfo::replaceable
};

// Empty if `text` is not a request, as an untrusted one may be.
std::optional<ParsedWalk> ParseWalk(const std::string& text) {
  if (text.empty() || text.size() > kMostWalk) return std::nullopt;
  const auto symbols = std::make_unique<SymbolTable>();
  symbols->Init();
  WalkFile file;
  if (!ParseText(text, "", *symbols, file).empty()) return std::nullopt;
  const WalkerInfo& walker = AllWalkers()[file.request.walker];
  ParsedWalk walk{ToText(file, *symbols), walker.name, "", walker.replaceable};
  if (file.request.against > 0) walk.against = AllWalkers()[file.request.against - 1U].name;
  return walk;
}

// Where a bucket was seen.
struct Place {
  std::string build, build_id, flags, walkers;
};

// Reads the sightings of one run.
class SightingReader {
 public:
  SightingReader(const RunReader& run, const std::string& build, Grade least)
      : db_(run), build_(build), least_(least) {}

  Result<std::vector<Sighting>> Read() {
    ASSIGN_OR_RETURN(const RunRow run, db_.Run());
    run_ = run.identity;
    if (IsTimeText(run_.started_at)) date_ = run_.started_at;
    RETURN_IF_ERROR(ReadPlaces());
    ASSIGN_OR_RETURN(const auto buckets, db_.Buckets());
    for (const BucketRow& bucket : buckets)
      if (bucket.grade >= least_) RETURN_IF_ERROR(AddBucket(bucket));
    std::vector<Sighting> sightings;
    for (auto& [key, sighting] : found_) sightings.push_back(std::move(sighting));
    return sightings;
  }

 private:
  Status ReadPlaces() {
    whole_ = {VersionText(run_.vm_version), Tame(run_.libjvm_build_id), SafeFlags(run_.jvm_flags),
              run_.walker};
    ASSIGN_OR_RETURN(const auto cells, db_.Rows<CellRow>());
    for (const CellRow& cell : cells)
      cells_[cell.position] = {VersionText(cell.vm_version),
                               cell.jdk_path == run_.jdk_path ? whole_.build_id : "",
                               SafeFlags(cell.jvm_flags), cell.walker};
    ASSIGN_OR_RETURN(const auto of_buckets, db_.BucketCells());
    for (const auto& [bucket, cell] : of_buckets) bucket_cells_[bucket].push_back(cell);
    return Ok();
  }

  std::string VersionText(const std::string& vm_version) const {
    return build_.empty() ? VersionOfVm(vm_version) : build_;
  }

  const Place& PlaceOf(int64_t cell) const {
    const auto at = cells_.find(cell);
    return at == cells_.end() ? whole_ : at->second;
  }

  // The request of a bucket, and how replays went.
  struct Shown {
    std::optional<ParsedWalk> walk;
    int shown = 0, of = 0;
    std::optional<int64_t> cell;
  };

  // A bucket's minimised request, if that was replayed.
  std::optional<ParsedWalk> Minimized(const BucketRow& bucket) const {
    const fs::path folder(bucket.folder);
    // Nothing outside of an untrusted folder is read.
    if (bucket.minimized_confirmed == 0 || folder.is_absolute() ||
        folder.lexically_normal() != folder || folder.begin()->string() != "crashes")
      return std::nullopt;
    const fs::path path = fs::path(db_.dir()) / folder / kMinimizedName;
    std::error_code error;
    if (fs::symlink_status(path, error).type() != fs::file_type::regular) return std::nullopt;
    return ParseWalk(ReadFile(path, kMostWalk + 1));
  }

  Result<Shown> ShownOf(const BucketRow& bucket) const {
    Shown best{std::nullopt, bucket.confirmed, bucket.tries, std::nullopt};
    ASSIGN_OR_RETURN(const auto findings, db_.Findings(bucket.id));
    const FindingRecord* finding = nullptr;
    for (const FindingRecord& one : findings) {
      const auto rank = [](const FindingRecord& of) {
        return std::pair(of.realism, of.request.size());
      };
      if (!one.request.empty() && (finding == nullptr || rank(one) < rank(*finding)))
        finding = &one;
    }
    if (finding != nullptr) best.walk = ParseWalk(finding->request);
    if (finding != nullptr) best.cell = finding->cell;
    if (auto minimized = Minimized(bucket)) {
      best.walk = std::move(minimized);
      best.shown = bucket.minimized_confirmed;
      best.of = bucket.minimized_tries;
    }
    best.of = std::max(best.of, 0);
    best.shown = std::clamp(best.shown, 0, best.of);
    return best;
  }

  // File name of the library that a walker came from; "" if it was none.
  std::string Provider(bool replaceable) const {
    const size_t slash = run_.provider.rfind('/');
    return slash == std::string::npos || !replaceable ? "" : Tame(run_.provider.substr(slash + 1));
  }

  // The walker that a finding about a whole program names: "OUTCOME: WALKER has ..". Null if none.
  static const WalkerInfo* Named(std::string_view title, const std::string& walkers) {
    for (const std::string& name : Split(walkers, ','))
      if (const auto walker = FindWalker(name);
          walker && title.find(": " + name + " ") != title.npos)
        return &AllWalkers()[*walker];
    return nullptr;
  }

  std::string SignatureText(const BucketRow& bucket, const Shown& shown, const Place& place) const {
    std::string title = bucket.signature.title, walker = place.walkers;
    bool replaceable = false;
    if (shown.walk) {
      replaceable = shown.walk->replaceable;
      walker = shown.walk->walker;
      std::string end = ", by " + walker;
      if (!shown.walk->against.empty()) {
        walker += " against " + shown.walk->against;
        end = ": " + walker;
      }
      if (title.ends_with(end)) title.resize(title.size() - end.size());
    } else if (const WalkerInfo* named = Named(title, place.walkers)) {
      walker = named->name;
      replaceable = named->replaceable;
    }
    if (const std::string library = Provider(replaceable); !library.empty())
      walker += "@" + library;
    return Tame(walker + ": " + title);
  }

  Status AddBucket(const BucketRow& bucket) {
    ASSIGN_OR_RETURN(const Shown shown, ShownOf(bucket));
    std::vector<int64_t> cells = bucket_cells_[bucket.id];
    if (cells.empty()) cells.push_back(shown.cell.value_or(kNoCell));
    std::map<std::string, Place> builds;  // cells of one build count once
    for (const int64_t cell : cells) builds.emplace(PlaceOf(cell).build, PlaceOf(cell));
    const Place& replayed = PlaceOf(shown.cell.value_or(cells.front()));
    for (const auto& [build, place] : builds) {
      const std::string signature = SignatureText(bucket, shown, place);
      const auto [at, is_new] = found_.try_emplace({signature, build});
      Sighting& sighting = at->second;
      sighting.signature = signature;
      sighting.buckets.push_back(bucket.id);
      sighting.titles.push_back(bucket.signature.title);
      sighting.seen = {build, place.build_id, RunName(), date_};
      sighting.realism = is_new ? bucket.realism : std::min(sighting.realism, bucket.realism);
      sighting.count += bucket.count;
      // Replays were made on one build alone.
      const bool here = build == replayed.build;
      Take(shown, here, here ? replayed : place, sighting);
    }
    return Ok();
  }

  void Take(const Shown& shown, bool replayed_here, const Place& place, Sighting& sighting) const {
    const int hits = replayed_here ? shown.shown : 0, of = replayed_here ? shown.of : 0;
    const auto share = [](int part, int whole) { return whole == 0 ? 0.0 : 1.0 * part / whole; };
    if (!shown.walk ||
        (!sighting.walk.empty() && share(hits, of) <= share(sighting.shown, sighting.of)))
      return;
    sighting.walk = shown.walk->text;
    sighting.shown = hits;
    sighting.of = of;
    sighting.flags = place.flags;
    sighting.provider = Provider(shown.walk->replaceable);
  }

  std::string RunName() const {
    std::error_code error;
    fs::path path = fs::absolute(db_.dir(), error).lexically_normal();
    if (path.filename().empty()) path = path.parent_path();
    return Tame(path.filename().string());
  }

  const RunReader& db_;
  const std::string& build_;
  const Grade least_;
  RunIdentity run_;
  std::string date_;
  Place whole_;
  std::map<int64_t, Place> cells_;
  std::map<int64_t, std::vector<int64_t>> bucket_cells_;
  std::map<std::pair<std::string, std::string>, Sighting> found_;  // by signature, build
};

}  // namespace

std::string VersionOfVm(std::string_view vm_version) {
  const std::vector<std::string> words = Words(vm_version.substr(0, kMostVersion));
  if (words.empty()) return "";
  const std::string version = OnOneLine(Printable(words.back()));
  return VersionOfJdk8(version).value_or(version);
}

Result<std::vector<Sighting>> ReadSightings(const RunReader& run, const std::string& build,
                                            Grade least) {
  return SightingReader(run, build, least).Read();
}

std::string SafeFlags(std::string_view flags) {
  std::string safe;
  for (const std::string& flag : Words(flags))
    if (IsSafeFlag(flag) && safe.size() + flag.size() < 4 * kMostText)
      safe += (safe.empty() ? "" : " ") + flag;
  return safe;
}

}  // namespace walkhammer
