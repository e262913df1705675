// SPDX-License-Identifier: Apache-2.0
// Periods: how the counts of a run, or of one of its cells, grew over time. Walks that follow each
// other are alike, so only counts by stretch of time tell how far a share or a rate varies: see
// docs/explanation/gate-statistics.md. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_STORE_PERIODS_H_
#define WALKHAMMER_HARNESS_STORE_PERIODS_H_

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace walkhammer {

struct CountRow {
  std::string walker, scene, state, region;
  std::string code;  // "frames", "crash", "hang", "other", or the walker's return code
  uint64_t count = 0;
  bool operator==(const CountRow&) const = default;
};

// How many walks that returned frames took a time of one TimeSlotOf.
struct WalkTimeRow {
  std::string walker, scene;
  int64_t least_frames = 0;  // of a stress run's walks: LeastFrames; 0: of any number of frames
  uint64_t from_ns = 0;      // the slot's least time
  uint64_t count = 0;
};

// What is counted, from a run's start up to some moment.
struct CountsSoFar {
  uint64_t walks = 0;
  std::vector<CountRow> counts;
  std::vector<WalkTimeRow> times;
  std::map<int64_t, uint64_t> seen;  // by BucketRow::id
};

// --- rows. `counts` has a number for each period, in order; those that lack at its end are 0. ----

struct PeriodRow {
  int64_t cell = 0;                   // CellRow::position, or kNoCell for the run as a whole
  int64_t position = 0;               // from 0
  uint64_t begin_ms = 0, end_ms = 0;  // since the run's start
  int64_t part = 0;                   // index into RunReader::Parts
};

struct PeriodCountRow {
  std::string walker, scene, state, region, code;  // as in CountRow
  std::vector<uint64_t> counts;
  int64_t part = 0;
};

struct PeriodTimeRow {
  std::string walker, scene;  // as in WalkTimeRow, with the next two
  int64_t least_frames = 0;
  uint64_t from_ns = 0;
  std::vector<uint64_t> counts;
  int64_t part = 0;
};

struct PeriodBucketRow {
  int64_t bucket = 0;            // BucketRow::id
  std::vector<uint64_t> counts;  // times seen
  int64_t part = 0;
};

class Periods {
 public:
  // At most this many: then neighbours are joined, and periods are twice as long from there on.
  static constexpr size_t kMost = 64;
  static constexpr uint64_t kFirstLengthMs = 1000;

  // True if the period has its length, so that End would end it.
  bool IsDue(uint64_t now_ms) const { return now_ms >= begin_ms_ + length_ms_; }
  // Ends the period, unless nothing was walked yet: the first period begins with the first walks.
  // `now_ms`: since the run's start.
  void End(uint64_t now_ms, const CountsSoFar& now);
  // The same at the end of all; what is less than half a period is added to the one before.
  void EndLast(uint64_t now_ms, const CountsSoFar& now);

  std::vector<PeriodRow> Rows(int64_t cell) const;
  std::vector<PeriodCountRow> Counts() const;
  std::vector<PeriodTimeRow> Times() const;
  std::vector<PeriodBucketRow> Buckets() const;

 private:
  struct Series {
    uint64_t before = 0;  // the total at the last period's end
    uint64_t now = 0;     // the total, while a period is taken
    std::vector<uint64_t> counts;
    void Add(size_t period, uint64_t total);
    void Join();
  };
  // Series by key, which are found without a search as long as they come in the order of the last
  // time: a second's thousands of rows do.
  template <typename... Parts>
  struct Table {
    using Key = std::tuple<Parts...>;
    std::vector<std::pair<Key, Series>> rows;  // in the order of their first appearance
    std::map<Key, size_t> places;              // in `rows`
    size_t next = 0;                           // behind the row that was found last
    Series& Of(const std::tuple<const Parts&...>& key);
    // Calls `visit` with each key, in order, and its series.
    template <typename Visit>
    void Each(Visit visit) const {
      for (const auto& [key, place] : places) visit(key, rows[place].second);
    }
  };
  template <typename Visit>
  void EachSeries(Visit visit);
  void Take(size_t period, const CountsSoFar& now);
  void Join();

  uint64_t length_ms_ = kFirstLengthMs;
  uint64_t first_ms_ = 0, begin_ms_ = 0;  // of the first period, of the one that goes on
  std::vector<uint64_t> ends_ms_;
  uint64_t walks_ = 0;  // at the last period's end
  // walker, scene, state, region, code; walker, scene, least_frames, from_ns; bucket
  Table<std::string, std::string, std::string, std::string, std::string> counts_;
  Table<std::string, std::string, int64_t, uint64_t> times_;
  std::map<int64_t, Series> buckets_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_STORE_PERIODS_H_
