// SPDX-License-Identifier: Apache-2.0
#include "harness/store/periods.h"

#include <algorithm>

namespace walkhammer {

void Periods::Series::Add(size_t period, uint64_t total) {
  // A count that was overwritten by a dying process may be smaller than before.
  const uint64_t more = total - std::min(before, total);
  before = total;
  if (more == 0) return;
  if (counts.size() <= period) counts.resize(period + 1);
  counts[period] += more;
}

void Periods::Series::Join() {
  std::vector<uint64_t> joined((counts.size() + 1) / 2);
  for (size_t i = 0; i < counts.size(); i++) joined[i / 2] += counts[i];
  counts = std::move(joined);
}

template <typename... Parts>
Periods::Series& Periods::Table<Parts...>::Of(const std::tuple<const Parts&...>& key) {
  if (next >= rows.size() || rows[next].first != key) {
    const auto [place, is_new] = places.try_emplace(Key(key), rows.size());
    if (is_new) rows.emplace_back(Key(key), Series());
    next = place->second;
  }
  return rows[next++].second;
}

template <typename Visit>
void Periods::EachSeries(Visit visit) {
  for (auto& [key, series] : counts_.rows) visit(series);
  for (auto& [key, series] : times_.rows) visit(series);
  for (auto& [key, series] : buckets_) visit(series);
}

void Periods::Join() {
  EachSeries([](Series& series) { series.Join(); });
  std::vector<uint64_t> ends;
  for (size_t i = 1; i < ends_ms_.size(); i += 2) ends.push_back(ends_ms_[i]);
  ends_ms_ = std::move(ends);
  length_ms_ *= 2;
}

void Periods::Take(size_t period, const CountsSoFar& now) {
  for (const CountRow& row : now.counts)
    counts_.Of({row.walker, row.scene, row.state, row.region, row.code}).Add(period, row.count);
  const auto of = [&](const WalkTimeRow& row) -> Series& {
    return times_.Of({row.walker, row.scene, row.least_frames, row.from_ns});
  };
  // A job may name a walker twice.
  for (const WalkTimeRow& row : now.times) of(row).now = 0;
  for (const WalkTimeRow& row : now.times) of(row).now += row.count;
  for (const WalkTimeRow& row : now.times) {
    Series& series = of(row);
    series.Add(period, series.now);
  }
  for (const auto& [bucket, count] : now.seen) buckets_[bucket].Add(period, count);
  walks_ = now.walks;
}

void Periods::End(uint64_t now_ms, const CountsSoFar& now) {
  if (now.walks == 0) {
    first_ms_ = begin_ms_ = now_ms;
    return;
  }
  if (ends_ms_.size() == kMost) Join();
  Take(ends_ms_.size(), now);
  ends_ms_.push_back(now_ms);
  begin_ms_ = now_ms;
}

// May be called again: the last period ends where the last walks were counted, and not later.
void Periods::EndLast(uint64_t now_ms, const CountsSoFar& now) {
  const bool walked = now.walks != walks_;
  if (ends_ms_.empty() || (walked && now_ms >= begin_ms_ + length_ms_ / 2)) return End(now_ms, now);
  Take(ends_ms_.size() - 1, now);
  if (!walked) return;
  ends_ms_.back() = std::max(ends_ms_.back(), now_ms);
  begin_ms_ = ends_ms_.back();
}

std::vector<PeriodRow> Periods::Rows(int64_t cell) const {
  std::vector<PeriodRow> rows;
  uint64_t begin = first_ms_;
  for (size_t i = 0; i < ends_ms_.size(); i++) {
    rows.push_back({cell, static_cast<int64_t>(i), begin, ends_ms_[i]});
    begin = ends_ms_[i];
  }
  return rows;
}

std::vector<PeriodCountRow> Periods::Counts() const {
  std::vector<PeriodCountRow> rows;
  counts_.Each([&](const auto& key, const Series& series) {
    const auto& [walker, scene, state, region, code] = key;
    rows.push_back({walker, scene, state, region, code, series.counts});
  });
  return rows;
}

std::vector<PeriodTimeRow> Periods::Times() const {
  std::vector<PeriodTimeRow> rows;
  times_.Each([&](const auto& key, const Series& series) {
    const auto& [walker, scene, least_frames, from_ns] = key;
    rows.push_back({walker, scene, least_frames, from_ns, series.counts});
  });
  return rows;
}

std::vector<PeriodBucketRow> Periods::Buckets() const {
  std::vector<PeriodBucketRow> rows;
  for (const auto& [bucket, series] : buckets_) rows.push_back({bucket, series.counts});
  return rows;
}

}  // namespace walkhammer
